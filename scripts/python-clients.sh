#!/usr/bin/env bash
# Installs the official Python client of the training protocol, one environment per version, for the integration tests. With
# `--torch` also PyTorch, which custom losses need; without it that part is left out.
set -euo pipefail

folder="${EVSYS_PYTHON_CLIENTS:-$(dirname "$0")/../.tmp/python-clients}"
more=()
[ "${1:-}" = '--torch' ] && more=(torch)
for version in 0.16.1 0.24.1 0.25.0 0.36.0; do
  [ -x "$folder/$version/bin/python" ] && continue
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install --quiet "tinker==$version" "${more[@]}"
done
