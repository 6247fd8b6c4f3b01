#!/usr/bin/env bash
# The names of the registered algorithms, a line each: scripts/algorithms.sh tuners|assessors
set -euo pipefail
cd "$(dirname "$0")/.."

build/release/bin/attuned --list --json |
  python3 -c 'import json, sys; print("\n".join(e["name"] for e in json.load(sys.stdin)[sys.argv[1]]))' "$1"
