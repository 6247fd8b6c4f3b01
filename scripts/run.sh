#!/usr/bin/env bash
# Installs what is missing, builds, and tunes a real model: examples/digits, by TPE + Medianstop.
# Prints its best configuration, and its accuracy beside random search and the default.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_deps.sh build
scripts/build.sh release attune attuned attune-shim digits_trial

bin=build/release/bin
out=build/runs/$(date +%Y%m%d-%H%M%S)
mkdir -p "$out"
echo "== default configuration"
"$bin/digits_trial" --data examples/digits/data/digits.csv | tee "$out/default.txt" | tail -n 1
echo "== random search"
"$bin/attune" run examples/digits/experiment-random.yaml --dir "$out/random" </dev/null
echo "== TPE + Medianstop"
"$bin/attune" run examples/digits/experiment.yaml --dir "$out/tuned" </dev/null
for run in random tuned; do
  "$bin/attune" export --dir "$out/$run" --format jsonl --output "$out/$run/trials.jsonl"
done
echo
python3 -B scripts/compare_digits.py --default "$out/default.txt" --random "$out/random" \
  --tuned "$out/tuned"
