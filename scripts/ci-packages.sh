#!/usr/bin/env bash
# Installs the Debian packages that the integration tests need and that are missing: the shells whose completion is tested, a
# PostgreSQL server, whose programs are not on the PATH, Python with virtual environments, for TensorBoard's own reader, and the
# compilers of the kernels: the one that made the committed modules, and one for this machine; bubblewrap, a level of the sandbox;
# Chromium, which opens reports.
set -euo pipefail

missing=()
for program in bash git zsh fish; do
  command -v "$program" >/dev/null || missing+=("$program")
done
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || missing+=(postgresql)
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3 python3-venv)
command -v clang-16 >/dev/null || missing+=(clang-16)
command -v wasm-ld-16 >/dev/null || missing+=(lld-16)
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v bwrap >/dev/null || missing+=(bubblewrap)
command -v chromium >/dev/null || missing+=(chromium)
if [ "${#missing[@]}" -eq 0 ]; then
  echo 'nothing is missing'
  exit 0
fi

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install --yes -qq --no-install-recommends "${missing[@]}"
