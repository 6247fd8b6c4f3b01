#!/usr/bin/env bash
# Layers, format, clang-tidy.
#   scripts/lint.sh            clang-tidy on what changed since the merge base (else the last commit)
#   scripts/lint.sh --all      clang-tidy on every source
set -euo pipefail
cd "$(dirname "$0")/.."

max_files=40  # of a change; minutes, not hours
mapfile -t rooms < <(sed -n 's/^\(room\|free\) \(\w*\).*/\2/p' scripts/layers.txt | sort -u)
mapfile -t files < <(find "${rooms[@]}" -name '*.h' -o -name '*.cpp' | sort)

changed_files() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null) || base=
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base=$(git rev-parse --verify --quiet HEAD~1) || return 1
  fi
  git diff --name-only --diff-filter=d "$base" -- '*.h' '*.cpp'
}

# The sources through which clang-tidy sees the given files: a header by one that includes it.
sources_of() {
  local file
  for file in "$@"; do
    case $file in
      *.cpp) echo "$file" ;;
      *.h) { grep -rlF --include='*.cpp' "#include \"$file\"" "${rooms[@]}" || true; } | sort | sed -n 1p ;;
    esac
  done | sort -u
}

python3 -B scripts/check_layers.py
python3 -B scripts/check_names.py
if grep -rnE 'TEST_CASE\("[^"]*[];[]' tests; then
  echo "error: CMake would split or join tests with such names, and ctest would not run them" >&2
  exit 1
fi
clang-format-19 --dry-run --Werror "${files[@]}"
echo "format: ok, ${#files[@]} files"

# clang-tidy wants one compile command for each source: the other presets compile many as one.
cmake --preset dev --log-level=WARNING >/dev/null
cmake --build --preset dev --target generated_sources >/dev/null
if [ "${1:-}" = --all ]; then
  mapfile -t sources < <(sources_of "${files[@]}")
elif list=$(changed_files); then
  mapfile -t changed < <(printf '%s' "$list")
  mapfile -t sources < <(sources_of "${changed[@]}" | head -n "$max_files")
else
  echo "clang-tidy: no commit to compare with, the first $max_files files"
  mapfile -t sources < <(sources_of "${files[@]}" | head -n "$max_files")
fi
# What this configuration does not compile (a fuzz target's other half) has no compile command.
mapfile -t sources < <(for source in "${sources[@]}"; do
  grep -qF "/$source\"" build/dev/compile_commands.json && echo "$source"
done)
if [ "${1:-}" = --all ] && [ ${#sources[@]} -eq 0 ]; then
  echo "error: no source has a compile command in build/dev" >&2
  exit 1
fi
if [ ${#sources[@]} -gt 0 ]; then
  printf '%s\n' "${sources[@]}" |
    xargs -P "$(nproc)" -n 1 clang-tidy-19 --quiet -p build/dev 2>/dev/null
fi
echo "clang-tidy: ok, ${#sources[@]} files"
