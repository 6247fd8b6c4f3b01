#!/usr/bin/env bash
# How long 64 trials of half a second take on 16 slots of a Slurm on this machine, in both modes of
# backend: slurm, and 16 at once without it: what this machine itself needs beyond the ideal 2.0 s.
#   scripts/bench_slurm.sh [BIN]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$(realpath "${1:-$here/build/release/bin}")
folder=$(mktemp -d /tmp/attune-bench-XXXXXX)
chmod 755 "$folder"
end() {
  "$here/tests/slurm/slurm_down.sh" "$folder/slurm"
  [ -n "${KEEP:-}" ] && cp -r "$folder" "$KEEP"; rm -rf "$folder"
}
trap end EXIT
"$here/tests/slurm/slurm_up.sh" "$folder/slurm"
export SLURM_CONF=$folder/slurm/slurm.conf

cd "$folder"
measure() { # NAME BACKEND [SLURM]
  cat >e.yaml <<EOF2
searchSpace: {x: {_type: uniform, _value: [0, 1]}}
trialCommand: 'echo "\$(date +%s.%N) start" >> times-$1; sleep 0.5; echo "value={x}"; echo "\$(date +%s.%N) end" >> times-$1'
report: {regex: 'value=(?<default>\S+)'}
trialConcurrency: 16
maxTrialNumber: 64
tuner: {name: Random}
seed: 1
capacity: {cpu: 16}
backend: $2
EOF2
  [ $# -lt 3 ] || echo "slurm: $3" >>e.yaml
  local began ended
  began=$(date +%s.%N)
  "$bin/attune" run e.yaml --dir "exp-$1" --quiet >/dev/null
  ended=$(date +%s.%N)
  sort -n "times-$1" | awk -v name="$1" -v all="$(echo "$ended - $began" | bc)" '
    NR == 1 { first = $1 } { last = $1 } $2 == "end" { trials++ }
    END { printf "%-7s %d trials: %.2f s from the first start to the last end, %.2f s in all\n", name, trials, last - first, all }'
}
measure local local
measure jobs slurm '{mode: jobs}'
measure pilots slurm '{mode: pilots}'
measure pilots4 slurm '{mode: pilots, pilot: {cpu: 4}}'
