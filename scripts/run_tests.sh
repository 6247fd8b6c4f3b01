#!/usr/bin/env bash
# Runs the tests of a built preset and ends with ctest's summary line:
#   scripts/run_tests.sh PRESET [ctest options, such as -L fast]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
log=build/$preset/tests.log
status=0
# A test that hangs is killed: none needs more than seconds, sanitizers make that some more.
ctest --preset "$preset" --parallel "$(nproc)" --timeout 300 --no-tests=error "$@" </dev/null \
  >"$log" 2>&1 || status=$?
# Of a failure the reader sees what the tests printed, without the lines of thousands that passed.
[ $status -eq 0 ] ||
  grep -avE '^ +Start +[0-9]+: |^ *[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed +[0-9.]+ sec' "$log"
grep -a 'tests passed' "$log" || tail -n 20 "$log"
exit $status
