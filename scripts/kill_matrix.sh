#!/usr/bin/env bash
# kill -9 of the real attuned in the middle of sessions, for every registered tuner and assessor;
# what the resumed daemon answers is compared byte for byte. With a tuner that judges reports the
# manager pauses trials and saves checkpoints. Some minutes for each algorithm.
#   scripts/kill_matrix.sh [TUNER...]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh release attuned kill_matrix
matrix=build/release/bin/kill_matrix
mapfile -t tuners < <(scripts/algorithms.sh tuners)
mapfile -t assessors < <(scripts/algorithms.sh assessors)
[ $# -eq 0 ] || tuners=("$@")

kill_sessions() {
  "$matrix" "$@" --commands 200
  "$matrix" "$@" --commands 200 --every 5 --kills 4 --daemon-option=--snapshot-bytes \
    --daemon-option=1
  "$matrix" "$@" --commands 5000 --every 250 --concurrency 20
}

for tuner in "${tuners[@]}"; do
  options=(--tuner "$tuner")
  case $tuner in
    Batch)
      options+=(--space '{"combine_params": {"_type": "choice", "_value": [{"x": 1}, {"x": 2},
        {"x": 3}, {"x": 4}, {"x": 5}, {"x": 6}, {"x": 7}, {"x": 8}, {"x": 9}, {"x": 10},
        {"x": 11}]}}') ;;
    PPO)
      options+=(--space '{"x": {"_type": "choice", "_value": [1, 2, 3, 4, 5, 6, 7, 8]},
        "y": {"_type": "choice", "_value": ["a", "b", "c"]}}') ;;
    # What these decide by themselves comes after more trials, or reports, than a session has.
    PopulationBasedTraining | PB2)
      options+=(--tuner-args '{"seed": 3, "perturbation_interval": 2, "population_size": 16}') ;;
    OneEpoch) options+=(--tuner-args '{"seed": 3, "trials": 12}') ;;
    PBTReplay)
      options+=(--space '{"x": {"_type": "uniform", "_value": [0, 1]}}' --tuner-args '{"seed": 3,
        "policy": "[\"0\", \"1\", 1, 1, {\"x\": 0.5}, {\"x\": 0.25}]\n"}') ;;
    auto) kill_sessions --tuner auto --max-t 0 ;;  # learns what a full training is
  esac
  kill_sessions "${options[@]}"
done
for assessor in "${assessors[@]}"; do
  options=(--assessor "$assessor")
  case $assessor in
    # What these stop by default comes after more reports than a session has, or never.
    MedianStoppingRule) options+=(--assessor-args '{"grace_period": 1}') ;;
    Threshold) options+=(--assessor-args '{"upper": 0.5}') ;;
    Patient) options+=(--assessor-args '{"patience": 1}') ;;
    Plateau) options+=(--assessor-args '{"std": 0.2, "grace_period": 2, "num_results": 2}') ;;
    Wilcoxon) options+=(--assessor-args '{"p_threshold": 0.4}') ;;
  esac
  "$matrix" --tuner Random "${options[@]}" --commands 200
  "$matrix" --tuner TPE "${options[@]}" --commands 200 --include-intermediate \
    --daemon-option=--snapshot-bytes --daemon-option=3000
  "$matrix" --tuner TPE "${options[@]}" --commands 200 --every 20 \
    --daemon-option=--durability --daemon-option=always
  "$matrix" --tuner TPE "${options[@]}" --commands 5000 --every 250 --concurrency 20
done
