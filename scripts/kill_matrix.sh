#!/usr/bin/env bash
# kill -9 of the real attuned in the middle of sessions, for every registered tuner and assessor;
# what the resumed daemon answers is compared byte for byte. Some minutes for each algorithm.
#   scripts/kill_matrix.sh [TUNER...]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh release attuned kill_matrix
matrix=build/release/bin/kill_matrix
mapfile -t tuners < <(scripts/algorithms.sh tuners)
mapfile -t assessors < <(scripts/algorithms.sh assessors)
[ $# -eq 0 ] || tuners=("$@")

for tuner in "${tuners[@]}"; do
  options=(--tuner "$tuner")
  if [ "$tuner" = Batch ]; then
    options+=(--space '{"combine_params": {"_type": "choice", "_value": [{"x": 1}, {"x": 2}, {"x": 3},
      {"x": 4}, {"x": 5}, {"x": 6}, {"x": 7}, {"x": 8}, {"x": 9}, {"x": 10}, {"x": 11}]}}')
  elif [ "$tuner" = PPO ]; then
    options+=(--space '{"x": {"_type": "choice", "_value": [1, 2, 3, 4, 5, 6, 7, 8]},
      "y": {"_type": "choice", "_value": ["a", "b", "c"]}}')
  fi
  "$matrix" "${options[@]}" --commands 200
  "$matrix" "${options[@]}" --commands 200 --every 5 --kills 4 --daemon-option=--snapshot-bytes \
    --daemon-option=1
  "$matrix" "${options[@]}" --commands 5000 --every 250 --concurrency 20
done
for assessor in "${assessors[@]}"; do
  "$matrix" --tuner Random --assessor "$assessor" --commands 200
  "$matrix" --tuner TPE --assessor "$assessor" --commands 200 --include-intermediate \
    --daemon-option=--snapshot-bytes --daemon-option=3000
  "$matrix" --tuner TPE --assessor "$assessor" --commands 200 --every 20 \
    --daemon-option=--durability --daemon-option=always
  "$matrix" --tuner TPE --assessor "$assessor" --commands 5000 --every 250 --concurrency 20
done
