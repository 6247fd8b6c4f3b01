#!/usr/bin/env bash
# Configures and builds one preset: scripts/build.sh PRESET [target...]
# With CI=true warnings are errors.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
options=(--log-level=WARNING)
[ "${CI:-}" = true ] && options+=(-DATTUNE_WERROR=ON)
targets=()
[ $# -gt 0 ] && targets=(--target "$@")

cmake --preset "$preset" "${options[@]}"
cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}"
