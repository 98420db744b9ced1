#!/usr/bin/env bash
# Installs the official Python client of the training protocol, one environment per version, for the integration tests; with the
# newest also tinker-cookbook, whose loops are run. PyTorch, which custom losses need, is installed once and seen by all.
set -euo pipefail

folder="${EVSYS_PYTHON_CLIENTS:-$(cd "$(dirname "$0")/.." && pwd)/.tmp/python-clients}"

packages_of() {
  "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}

environment() {
  local name=$1
  shift
  [ -e "$folder/$name/installed" ] && return
  rm -rf "${folder:?}/$name"
  python3 -m venv "$folder/$name"
  [ "$name" = torch ] || packages_of "$folder/torch" >"$(packages_of "$folder/$name")/torch.pth"
  "$folder/$name/bin/pip" install --quiet --disable-pip-version-check "$@"
  touch "$folder/$name/installed" # last: an environment that was cut short is made again
}

environment torch torch==2.13.0 numpy
for version in 0.16.1 0.24.1 0.25.0; do environment "$version" "tinker==$version"; done
environment 0.36.0 tinker==0.36.0 'tinker-cookbook[math-rl]'
