#!/usr/bin/env bash
# Installs the official Python client of the training protocol, one environment per version, for the integration tests; with the
# newest also tinker-cookbook, whose loops are run, and PyTorch, which custom losses need.
set -euo pipefail

folder="${EVSYS_PYTHON_CLIENTS:-$(dirname "$0")/../.tmp/python-clients}"
for version in 0.16.1 0.24.1 0.25.0 0.36.0; do
  [ -x "$folder/$version/bin/python" ] && continue
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install --quiet "tinker==$version" torch
done
"$folder/0.36.0/bin/python" -c 'import tinker_cookbook.recipes.rl_loop' 2>/dev/null ||
  "$folder/0.36.0/bin/pip" install --quiet 'tinker==0.36.0' 'tinker-cookbook[math-rl]'
