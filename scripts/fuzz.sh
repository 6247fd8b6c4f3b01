#!/usr/bin/env bash
# Fuzzes each target for some seconds (clang, libFuzzer): scripts/fuzz.sh [SECONDS] [target...]
# New inputs gather in build/fuzz/corpus; a finding is left in build/fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls tests/data/fuzz)

scripts/install_deps.sh build katib test lint
scripts/build.sh fuzz
mkdir -p build/fuzz/findings
for target in "${targets[@]}"; do
  mkdir -p "build/fuzz/corpus/$target"
  log=build/fuzz/$target.log
  if ! "build/fuzz/bin/${target}_fuzz" -max_total_time="$seconds" -timeout=10 -max_len=4096 \
    -artifact_prefix="build/fuzz/findings/$target-" "build/fuzz/corpus/$target" \
    "tests/data/fuzz/$target" </dev/null >"$log" 2>&1; then
    tail -n 40 "$log"
    exit 1
  fi
  echo "fuzz $target: $(grep -o 'Done.*' "$log")"
done
