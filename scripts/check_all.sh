#!/usr/bin/env bash
# Everything, also what takes long: all presets, all tests, clang-tidy on every file, fuzzing.
#   scripts/check_all.sh [SECONDS of fuzzing for each target]
set -euo pipefail
cd "$(dirname "$0")/.."
export CI=true

scripts/install_deps.sh build katib test lint bench
for preset in dev asan tsan release; do
  echo "== $preset"
  scripts/build.sh "$preset"
  scripts/run_tests.sh "$preset"
done
echo "== what Slurm takes minutes to notice"
scripts/run_tests.sh release -C long -R "slurm: slow faults"
echo "== thread sanitizer, other schedules: one processor for all threads, many tests at a time"
taskset -c 0 scripts/run_tests.sh tsan -L threaded
scripts/run_tests.sh tsan -L threaded -j 8
echo "== kill -9 of attuned after every command of 200, and after some of 5,000, for every algorithm"
scripts/kill_matrix.sh
echo "== soak: two million commands, 10^5 trials with 100 metrics each, 5,000 at once"
python3 -B tests/system/soak.py build/release/bin/attuned
echo "== kill -9 of the manager, 20 times, with 40 trials that run"
kill_manager() { python3 -B tests/system/kill_manager_test.py build/release/bin/attune "$@"; }
for seed in 1 2 3; do
  kill_manager --seed "$seed"
  kill_manager --seed "$seed" --assessor Medianstop
done
for seed in 1 2 3; do
  kill_manager --pool --seed "$seed"
done
for tuner in $(scripts/algorithms.sh tuners); do
  kill_manager --tuner "$tuner" --running 1 --trials 40 --kills 30
done
echo "== kill -9 of managers, daemons and machines with pausing trials, for every tuner that has them"
pausing() { python3 -B tests/system/pausing_test.py build/release/bin/attune "$@"; }
for seed in 1 2 3; do
  for running in 1 2; do
    pausing --kill manager --calls 100 --preload "$(find build/release -name 'libkilled_at_call.so')" \
      --seed "$seed" --running "$running"
    pausing --kill daemon --seed "$seed" --running "$running"
    pausing --kill machine --seed "$seed" --running "$running"
  done
  pausing --where pool --kill machine --seed "$seed" --running 2
done
pausing --where slurm --kill machine --kills 2 --running 2 || [ $? = 77 ]
echo "== bench: that it builds"
scripts/build.sh bench
echo "== packages, each installed in an empty Debian"
scripts/package.sh
scripts/check_packages.sh
echo "== lint"
scripts/lint.sh --all
echo "== fuzz"
scripts/fuzz.sh "${1:-60}"
