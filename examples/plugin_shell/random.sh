#!/bin/sh
# Random search as a plug-in, in sh, sed and awk, for search spaces of uniform parameters.
# A proposal depends only on the seed and the id, so there is nothing to save.

while read -r request; do
  case $request in
    '{"op":"describe"'*)
      echo '{"protocol":1,"algorithms":[{"kind":"tuner","name":"ShellRandom","summary":"Random search in sh"}]}'
      ;;
    '{"op":"init"'*)
      seed=${request#*'"seed":'}
      seed=${seed%%[!0-9]*}
      # One parameter a line: its name, low, high.
      space=$(echo "${request#*'"space":'}" | sed 's/}/\n/g' |
        sed -n 's/.*"\([A-Za-z0-9_]*\)":{"_type":"uniform","_value":\[\(.*\),\(.*\)\]$/\1 \2 \3/p')
      types=$(echo "$request" | grep -o '"_type"' | wc -l)
      if [ -n "$space" ] && [ "$(echo "$space" | wc -l)" -eq "$types" ]; then
        echo '{}'
      else
        echo '{"error":"only uniform parameters can be searched"}'
      fi
      ;;
    '{"op":"ask"'*)
      ids=${request#*'['}
      echo "${ids%%']'*}" | tr , '\n' | while read -r id; do
        echo "$space" | awk -v seed="$seed" -v id="$id" '
          BEGIN { srand(seed % 999983 * 1009 + id); rand() }
          { printf "%s\"%s\":%.17g", NR == 1 ? "{\"parameters\":{" : ",", $1, $2 + ($3 - $2) * rand() }
          END { print "}}" }'
      done | paste -s -d , | sed 's/.*/{"answers":[&]}/'
      ;;
    '{"op":"exit"'*) exit 0 ;;
    *) echo '{}' ;; # results, and whatever else attuned tells
  esac
done
