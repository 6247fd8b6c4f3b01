#!/usr/bin/env bash
# Brings the libraries of the dashboard's page into dashboard/page/vendor/, with their licences.
#   scripts/vendor_page.sh
# A developer runs it to change a version below; builds and users never do, as the files it writes are committed.
# The page has no build step, so the files are the packages' own builds for a classic <script>. Preact stays at 10,
# because Preact 11 has builds for ES modules alone.
set -euo pipefail
cd "$(dirname "$0")/.."

# npm package@version, its file, the name here
libraries=(
  'preact@10.29.8 dist/preact.min.umd.js preact.js'
  'preact@10.29.8 hooks/dist/hooks.umd.js hooks.js'
  '@preact/signals-core@1.14.5 dist/signals-core.min.js signals-core.js'
  '@preact/signals@2.11.4 dist/signals.min.js signals.js'
  'htm@3.1.1 dist/htm.umd.js htm.js'
)

out=dashboard/page/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out/licences"

for library in "${libraries[@]}"; do
  read -r package file name <<<"$library"
  folder=$work/${package//[@\/]/_}
  if [[ ! -d $folder ]]; then
    mkdir "$folder"
    archive=$(cd "$work" && npm pack --silent "$package")
    tar -xzf "$work/$archive" -C "$folder" --strip-components=1
    plain=${package#@}
    plain=${plain%@*}
    cp "$folder/LICENSE" "$out/licences/${plain//\//-}.txt"
  fi
  # A source map is not shipped, so a browser must not ask for one.
  sed 's,//# sourceMappingURL=.*,,' "$folder/$file" >"$out/$name"
done
