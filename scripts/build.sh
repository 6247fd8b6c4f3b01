#!/usr/bin/env bash
# Configures and builds one preset: scripts/build.sh PRESET [target...]
# With CI=true warnings are errors, but not of what a sanitizer inserts: g++ warns of that, too.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
options=(--log-level=WARNING)
if [ "${CI:-}" = true ] && [ "$preset" != asan ] && [ "$preset" != tsan ]; then
  options+=(-DATTUNE_WERROR=ON)
fi
targets=()
[ $# -gt 0 ] && targets=(--target "$@")

cmake --preset "$preset" "${options[@]}"
cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}"
