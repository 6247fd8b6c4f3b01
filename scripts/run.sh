#!/usr/bin/env bash
# Installs what is missing, builds, and tunes a real model: examples/digits, by the default tuner
# and by random search, three times each. Kills one of the experiments and resumes it. Prints what
# came out beside the default configuration. The results stay in build/runs.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_deps.sh build
# attune_study_c: with it Python and the examples of README work from here.
scripts/build.sh release attune attuned attune-shim digits_trial attune_study_c

bin=build/release/bin
out=build/runs/$(date +%Y%m%d-%H%M%S)
trials=40
seeds=(1 2 3)
mkdir -p "$out"

run_experiment() {  # FILE SEED DIRECTORY
  "$bin/attune" run "examples/digits/$1" --seed "$2" --dir "$3" --max-trials $trials --quiet \
    </dev/null >"$3.txt"
  sed -n 1,2p "$3.txt"
}

finished_trials() {  # DIRECTORY; 0 before there is an experiment
  { "$bin/attune" export --dir "$1" --format jsonl 2>/dev/null || true; } |
    grep -c '"ended":[0-9]' || true
}

echo
echo "== the default configuration, untuned"
"$bin/digits_trial" --data examples/digits/data/digits.csv | tee "$out/default.txt" | tail -n 1

for seed in "${seeds[@]}"; do
  echo "== seed $seed: random search, $trials trials"
  run_experiment experiment-random.yaml "$seed" "$out/random-$seed"
  echo "== seed $seed: attune, $trials trials, hopeless ones are stopped early"
  if [ "$seed" = 1 ]; then
    "$bin/attune" run examples/digits/experiment.yaml --seed 1 --dir "$out/attune-1" \
      --max-trials $trials --quiet </dev/null >"$out/attune-1.txt" &
    manager=$!
    until [ "$(finished_trials "$out/attune-1")" -ge 15 ] || ! kill -0 $manager 2>/dev/null; do
      sleep 0.5
    done
    kill -KILL $manager 2>/dev/null || true
    wait $manager 2>/dev/null || true
    echo "kill -9 of the manager after $(finished_trials "$out/attune-1") trials; attune resume:"
    "$bin/attune" resume --dir "$out/attune-1" --quiet </dev/null >"$out/attune-1.txt"
    sed -n 1,2p "$out/attune-1.txt"
  else
    run_experiment experiment.yaml "$seed" "$out/attune-$seed"
  fi
done

for run in "$out"/random-*/ "$out"/attune-*/; do
  "$bin/attune" export --dir "$run" --format jsonl --output "${run}trials.jsonl"
done
echo
python3 -B scripts/compare_digits.py --default "$out/default.txt" --random "$out"/random-*/ \
  --tuned "$out"/attune-*/
echo
echo "Look around: $bin/attune status --dir $out/attune-1    (also: best, show t0001, list, export)"
