#!/bin/sh
# Runs the digits_trial of whatever build there is: an experiment file cannot know the preset.
# DIGITS_TRIAL names another program. exec: signals of the manager must reach the trial itself.
here=$(cd "$(dirname "$0")" && pwd)
for program in "$DIGITS_TRIAL" "$here"/../../build/release/bin/digits_trial \
               "$here"/../../build/bin/digits_trial "$here"/../../build/*/bin/digits_trial; do
  if [ -n "$program" ] && [ -x "$program" ]; then
    exec "$program" --data "$here/data/digits.csv" "$@"
  fi
done
echo "trial.sh: no digits_trial below build/; build the project first, or set DIGITS_TRIAL" >&2
exit 127
