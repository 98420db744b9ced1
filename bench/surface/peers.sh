#!/bin/bash
# Makes a virtual environment for peers.py where it is told, and runs peers.py there:
#   bash bench/surface/peers.sh FOLDER [arguments of peers.py]
set -e
venv=${1:?where the virtual environment lies}
shift
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet optuna==5.0.0 scipy
  # Samples of the Gaussian process need it; a build for processors alone is enough.
  "$venv/bin/pip" install --quiet torch
fi
[ $# = 0 ] || exec "$venv/bin/python" "$(dirname "$0")/peers.py" "$@"
