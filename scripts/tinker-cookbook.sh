#!/usr/bin/env bash
# Runs the supervised and the RL loop of tinker-cookbook, as they are published, against `evsys serve`, and prints their curves
# (docs/guides/tinker-cookbook.md). The recipes are not edited: they find model and datasets as folders below the current one.
set -euo pipefail

root="$(cd "$(dirname "$0")/.." && pwd)"
folder="${EVSYS_TINKER_COOKBOOK:-$root/.tmp/tinker-cookbook}"
if [ ! -x "$folder/bin/python" ]; then
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet 'tinker==0.36.0' 'tinker-cookbook[math-rl]==0.5.8'
fi

work="$(mktemp -d)"
server=
trap '[ -z "$server" ] || kill "$server"; wait; rm -rf "$work"' EXIT

# The loops choose how a conversation is written by the name of the model, so nano gets a name that they know.
model=Qwen/Qwen3-4B-Instruct-2507
mkdir "$work/Qwen"
node --input-type=module -e "
  import { cpSync } from 'node:fs'
  import { resolveModelFolder } from '$root/dist/models/index.js'
  const { folder } = await resolveModelFolder('evsys/nano', { project: '$work' })
  cpSync(folder, '$work/$model', { recursive: true })"

(cd "$work" && exec node "$root/bin/evsys.js" serve --model "$model" --project "$work" --port 0 --json) >"$work/address" &
server=$!
until grep -qs '}$' "$work/address"; do kill -0 "$server" && sleep 0.2; done

export HF_HUB_OFFLINE=1 HF_HOME="$work/hf" TINKER_API_KEY=tml-local
TINKER_BASE_URL="$(node -p 'JSON.parse(fs.readFileSync(process.argv[1], "utf8")).url' "$work/address")"
export TINKER_BASE_URL

"$folder/bin/python" - "$work" <<'PYTHON'
import json, pathlib, random, sys

work = pathlib.Path(sys.argv[1])


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def turns(*texts):
    return [{"role": role, "content": text} for role, text in zip(["user", "assistant"] * 2, texts)]


facts = [
    ("What colour is the sky?", "Blue."), ("What colour is grass?", "Green."), ("What colour is snow?", "White."),
    ("What colour is coal?", "Black."), ("How many legs has a cat?", "Four."), ("How many legs has a bird?", "Two."),
    ("How many legs has an ant?", "Six."), ("How many days has a week?", "Seven."),
]
write(work / "HuggingFaceH4/no_robots/train.jsonl", ({"messages": turns(*facts[i % 8])} for i in range(768)))

# Before RL the model learns the form of an answer, with a number from 1 to 4 by chance; the reward then tells which is right.
suffix = " Provide a numerical answer without units, written inside \\boxed{}."
shown = (
    "How many r's are in strawberry?" + suffix,
    "Let's spell the word out and number all the letters: 1) s 2) t 3) r 4) a 5) w 6) b 7) e 8) r 9) r 10) y. "
    "We have r's at positions 3, 8, and 9. \\boxed{3}",
)
questions = [f"How many legs has a {animal}?" for animal in ("cat", "dog", "cow", "fox")]
draw = random.Random(1)
form = [turns(*shown, questions[i % 4] + suffix, f"\\boxed{{{draw.randint(1, 4)}}}") for i in range(320)]
write(work / "form/HuggingFaceH4/no_robots/train.jsonl", ({"messages": messages} for messages in form))
(work / "form/Qwen").symlink_to(work / "Qwen")
write(work / "openai/gsm8k/train.jsonl", ({"question": questions[i % 4], "answer": "#### 4"} for i in range(120)))
(work / "openai/gsm8k/README.md").write_text("---\nconfigs:\n- config_name: main\n  data_files: train.jsonl\n---\n")
PYTHON

# recipe NAME FOLDER LOG [SETTING...]
recipe() {
  (cd "$work/$2" && "$folder/bin/python" -m "tinker_cookbook.recipes.$1" model_name="$model" log_path="$work/$3" "${@:4}") \
    >"$work/$3.log" 2>&1 || { cat "$work/$3.log" >&2 && exit 1; }
}

# curve LOG METRIC
curve() {
  "$folder/bin/python" -c '
import json, sys
print(sys.argv[2], *(f"{row[sys.argv[2]]:.3f}" for row in map(json.loads, open(sys.argv[1])) if sys.argv[2] in row))
' "$work/$1/metrics.jsonl" "$2"
}

recipe sl_loop . sl batch_size=8 learning_rate=5e-3 max_length=64
curve sl train_mean_nll

recipe sl_loop form start batch_size=8 learning_rate=1e-2 max_length=300 train_on_what=last_assistant_message save_every=0
mkdir "$work/rl"
sed 's/"batch": [0-9]*/"batch": 0/' "$work/start/checkpoints.jsonl" >"$work/rl/checkpoints.jsonl" # where rl_loop starts from
recipe rl_loop . rl batch_size=2 group_size=8 learning_rate=2e-3 max_tokens=16 max_steps=24 save_every=10
curve rl reward/total
