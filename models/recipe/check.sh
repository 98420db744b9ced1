#!/bin/sh
# The figures of the model card again, on this machine and without a GPU: sh models/recipe/check.sh WHAT, from the repository's root.
#   tasks      LoRA on tasks that are not in the recipe, from the bundled and from untrained weights
#   turns      whether 200 held-out prompts are answered to the end of the turn
#   logits     against transformers; $PYTHON (python3 unless told) must have torch and transformers
#   bits       bits per byte of the model on the held-out text
#   ngrams     bits per byte of the modified Kneser-Ney 5-gram on the same text
# What a check needs of the text is made first, where $WORK (.tmp/model unless told) does not have it; see prepare.sh.
set -eu
WORK=${WORK:-.tmp/model}
JITI="node --max-old-space-size=12000 node_modules/jiti/lib/jiti-cli.mjs"
prepared() {
  [ -f "$WORK/tokenizer/4096.json" ] || sh models/recipe/prepare.sh "$WORK"
}
case ${1:-} in
tasks) $JITI models/recipe/check-tasks.ts ;;
turns)
  prepared
  $JITI models/recipe/check-turns.ts "$WORK"
  ;;
logits)
  prepared
  $JITI models/recipe/check-logits.ts evsys/tiny "$WORK/text/heldout.jsonl" "$WORK/logits.json"
  "${PYTHON:-python3}" models/recipe/torch/check_logits.py "$WORK/logits.json"
  ;;
bits)
  prepared
  $JITI models/recipe/score-model.ts "$WORK"
  ;;
ngrams)
  prepared
  $JITI models/recipe/score-kneser-ney.ts "$WORK" 4096 5
  ;;
*)
  echo "usage: sh models/recipe/check.sh tasks|turns|logits|bits|ngrams" >&2
  exit 2
  ;;
esac
