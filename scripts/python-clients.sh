#!/usr/bin/env bash
# Installs the official Python client of the training protocol, one environment per version, for the integration tests; with the
# newest also tinker-cookbook, whose loops are run. PyTorch, which custom losses need, is installed once and seen by all. And
# TuFT, a server of the protocol by others, without the packages that only its GPU backends load.
set -euo pipefail

folder="${EVSYS_PYTHON_CLIENTS:-$(cd "$(dirname "$0")/.." && pwd)/.tmp/python-clients}"
# Python then keeps what it compiled of a module, which is done when one is loaded: most of what is installed never is.
unset PYTHONDONTWRITEBYTECODE

packages_of() {
  "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}

# Installs into an environment by the pip of the first one.
install() {
  local name=$1
  shift
  "$folder/torch/bin/pip" --python "$folder/$name/bin/python" install --no-compile --quiet --disable-pip-version-check "$@"
}

# Makes an environment: its name, one to begin with or `none`, what its tests load, what to install.
environment() {
  local name=$1 from=$2 loads=$3
  shift 3
  [ -e "$folder/$name/installed" ] && return
  rm -rf "${folder:?}/$name"
  python3 -m venv $([ "$name" = torch ] || echo --without-pip) "$folder/$name"
  # Links to the same files: pip replaces files and changes none.
  [ "$from" = none ] || cp -al "$(packages_of "$folder/$from")/." "$(packages_of "$folder/$name")"
  [ "$name" = torch ] || packages_of "$folder/torch" >"$(packages_of "$folder/$name")/torch.pth"
  install "$name" "$@"
  "$folder/$name/bin/python" -c "import $loads"
  touch "$folder/$name/installed" # last: an environment that was cut short is made again
}

environment torch none torch torch==2.13.0 numpy
environment 0.16.1 none torch,tinker tinker==0.16.1
environment 0.24.1 0.16.1 torch,tinker tinker==0.24.1
environment 0.25.0 0.24.1 torch,tinker tinker==0.25.0
environment 0.36.0 none torch,tinker,tinker_cookbook.recipes.rl_loop tinker==0.36.0 'tinker-cookbook[math-rl]'
environment tuft 0.25.0 tinker 'fastapi==0.136.3' uvicorn httpx omegaconf opentelemetry-sdk \
  opentelemetry-instrumentation-fastapi opentelemetry-instrumentation-logging opentelemetry-exporter-otlp typer psutil \
  nvidia-ml-py orjson 'protobuf>=4.21' 'transformers>=5.5.3,<6' 'tinker==0.25.0'
"$folder/tuft/bin/python" -c 'import tuft' 2>/dev/null ||
  install tuft --no-deps tuft==0.2.2 peft==0.20.0 accelerate==1.15.0
