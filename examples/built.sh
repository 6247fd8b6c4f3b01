#!/bin/sh
# sh built.sh NAME ARGUMENTS...: runs the example of that name of whatever build there is; an
# experiment file cannot know the preset. EXAMPLES_BIN names another folder of programs.
# exec: signals of the manager must reach the trial itself.
here=$(cd "$(dirname "$0")" && pwd)
name=$1
shift
for folder in "$EXAMPLES_BIN" "$here"/../build/release/bin "$here"/../build/bin \
              "$here"/../build/*/bin; do
  if [ -n "$folder" ] && [ -x "$folder/$name" ]; then
    exec "$folder/$name" "$@"
  fi
done
echo "built.sh: no $name below build/; build the project first, or set EXAMPLES_BIN" >&2
exit 127
