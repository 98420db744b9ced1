#!/bin/sh
# Everything, in order: text, dialogues, tokenizers, the n-gram peer, settings side by side, pre-training, chat tuning, files.
# Needs Debian 12 with apt-get, Node, Python with torch, tokenizers and safetensors, and one GPU. Run from the repository's root.
set -eu
WORK=${1:-.tmp/model}
JITI="node --max-old-space-size=12000 node_modules/jiti/lib/jiti-cli.mjs"
TRAIN="python3 models/recipe/torch/train.py"
PLACES="--work $WORK --cache $WORK/encoded --out $WORK/out"
TUNING='{"lr": 0.006, "other_lr": 0.0024, "share": 0.5, "cool": 0.9}'

sh models/recipe/prepare.sh "$WORK"
$JITI models/recipe/score-kneser-ney.ts "$WORK" 4096 5
$TRAIN compare $PLACES --seconds 30 --name compare
$TRAIN pretrain $PLACES --shape tiny --steps 16030 --name base --options '{"lr": 0.02, "other_lr": 0.008}'
$TRAIN tune $PLACES --shape tiny --steps 2380 --name tiny --from "$WORK/encoded/base.full.safetensors" --options "$TUNING"
$TRAIN tune $PLACES --shape tiny --steps 2380 --name untrained-tuned --options "$TUNING"
$TRAIN pretrain $PLACES --shape nano --steps 3021 --name nano-base --options '{"lr": 0.02, "other_lr": 0.008, "rows": 256}'
$TRAIN tune $PLACES --shape nano --steps 1962 --name nano --from "$WORK/encoded/nano-base.full.safetensors" --options "${TUNING%\}}, \"rows\": 256}"
$JITI models/recipe/make-files.ts "$WORK"
