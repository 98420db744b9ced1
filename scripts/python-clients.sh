#!/usr/bin/env bash
# Installs the official Python client of the training protocol, one environment per version, for the integration tests; with the
# newest also tinker-cookbook, whose loops are run. PyTorch, which custom losses need, is installed once and seen by all. And
# TuFT, a server of the protocol by others, without the packages that only its GPU backends load.
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
environment tuft 'fastapi==0.136.3' uvicorn httpx omegaconf opentelemetry-sdk opentelemetry-instrumentation-fastapi \
  opentelemetry-instrumentation-logging opentelemetry-exporter-otlp typer psutil nvidia-ml-py orjson 'protobuf>=4.21' \
  'transformers>=5.5.3,<6' 'tinker==0.25.0'
"$folder/tuft/bin/python" -c 'import tuft' 2>/dev/null ||
  "$folder/tuft/bin/pip" install --quiet --disable-pip-version-check --no-deps tuft==0.2.2 peft==0.20.0 accelerate==1.15.0
