#!/usr/bin/env bash
# Installs what is missing, builds, runs every test. The last line is ctest's summary.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_deps.sh build katib test
scripts/build.sh release
scripts/run_tests.sh release
