#!/usr/bin/env bash
# Installs what is missing, builds, measures, and writes the tables of docs/performance.md.
#   scripts/bench.sh [PYTHON]     a Python with NNI (1.6 to 2.7), which is measured too; default: python3
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_deps.sh build bench
scripts/build.sh bench attune attuned attune-shim bench_process bench_micro

bin=build/bench/bin
out=build/bench/results
python=$(command -v "${1:-python3}")
mkdir -p "$out"
rm -f "$out/nni.json"

echo "== attuned"
"$bin/bench_process" --json -- "$PWD/$bin/attuned" >"$out/attuned.json"
# On machines whose processors take long to wake, most of a latency is that.
taskset -c 0 "$bin/bench_process" --json --metrics 10000 -- "$PWD/$bin/attuned" >"$out/pinned.json"
if "$python" -c 'import nni' 2>/dev/null; then
  echo "== NNI's dispatcher"
  "$bin/bench_process" --json --repetitions 3 --observations 0,100,1000 --metrics 10000 \
    -- "$python" -m nni >"$out/nni.json" || rm "$out/nni.json"
fi
echo "== the manager"
python3 -B bench/runner/measure_runner.py "$bin" | tee "$out/runner.md"
echo "== parts"
"$bin/bench_micro" --benchmark_min_time=0.2 --benchmark_repetitions=5 \
  --benchmark_report_aggregates_only=true --benchmark_out_format=json \
  --benchmark_out="$out/micro.json" >"$out/micro.txt"
python3 -B scripts/performance_tables.py "$out" docs/performance.md
