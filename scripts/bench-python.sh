#!/usr/bin/env bash
# Makes the Python environment that bench/engine compares the CPU engine with.
set -euo pipefail

folder="$(cd "$(dirname "$0")/.." && pwd)/.tmp/bench-python"

[ -e "$folder/installed" ] && exit
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check torch==2.13.0 transformers==5.22.2 peft==0.21.2 safetensors
touch "$folder/installed" # last: an environment that was cut short is made again
