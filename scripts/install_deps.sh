#!/usr/bin/env bash
# Installs the Debian packages that are missing. Asks apt only when something is.
#   scripts/install_deps.sh [build] [katib] [test] [lint] [bench] [package] [browser]     default: build
set -euo pipefail

packages_of() {
  case $1 in
    build) echo g++ cmake ninja-build pkg-config ccache python3 brotli libboost-dev nlohmann-json3-dev \
                libspdlog-dev libfmt-dev libcli11-dev libyaml-cpp-dev libeigen3-dev \
                libnlopt-dev libmuparser-dev libsqlitecpp-dev libsqlite3-dev \
                libpcre2-dev libssl-dev libcairo2-dev ;;
    katib) echo libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc ;;
    test) echo catch2 python3 python3-optuna python3-sklearn python3-xgboost python3-omegaconf \
               python3-grpcio python3-protobuf iproute2 slurmctld slurmd slurm-client ;;
    package) echo debhelper dh-python dpkg-dev lintian mmdebstrap python3-setuptools python3-wheel ;;
    bench) echo libbenchmark-dev python3 ;;
    browser) echo chromium python3-websockets ;;  # for the tests of the dashboard's page
    lint) echo clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev ;;
    *) echo "install_deps.sh: unknown profile '$1'; known: build, katib, test, lint, bench, package, browser" >&2; return 2 ;;
  esac
}

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

wanted=()
for profile in "${@:-build}"; do
  packages=$(packages_of "$profile")
  read -r -a more <<<"$packages"
  wanted+=("${more[@]}")
done

if ! command -v dpkg-query >/dev/null; then
  echo "install_deps.sh: this is not Debian. Install what these packages hold, then build with" >&2
  echo "cmake --preset release && cmake --build --preset release: ${wanted[*]}" >&2
  exit 1
fi

missing=()
for package in "${wanted[@]}"; do
  is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=(env)
elif command -v sudo >/dev/null; then
  as_root=(sudo env)
else
  echo "install_deps.sh: neither root nor sudo here. As root: apt-get install ${missing[*]}" >&2
  exit 1
fi
echo "installing ${missing[*]}"
apt=("${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
"${apt[@]}" update </dev/null
"${apt[@]}" install --yes --no-install-recommends "${missing[@]}" </dev/null >/dev/null
