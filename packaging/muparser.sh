#!/usr/bin/env bash
# Builds libmuparser.a of Debian's source package into build/muparser, without OpenMP. Debian's own
# package has only the shared library, which would bring libstdc++ and libgomp.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(dpkg-query --show --showformat='${source:Version}' libmuparser-dev)
prefix=$PWD/build/muparser
[ "$(cat "$prefix/version" 2>/dev/null)" = "$version" ] && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Its sources are where its packages are.
apt-cache policy libmuparser-dev |
  awk '$2 ~ /^http/ {split($3, suite, "/"); print "deb-src", $2, suite[1], suite[2]}' >"$work/sources.list"
mkdir "$work/lists"
apt=(apt-get -qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o "Dir::State::Lists=$work/lists" -o APT::Sandbox::User=root)
"${apt[@]}" update
(cd "$work" && "${apt[@]}" source --download-only "muparser=$version" &&
  dpkg-source --no-check --extract ./*.dsc source >/dev/null)  # apt has checked it
cmake -S "$work/source" -B "$work/build" -G Ninja --log-level=ERROR -DCMAKE_BUILD_TYPE=Release \
  -DBUILD_SHARED_LIBS=OFF -DENABLE_OPENMP=OFF -DENABLE_SAMPLES=OFF \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib >/dev/null
rm -rf "$prefix"
cmake --build "$work/build" --target install >/dev/null
install -D -m 644 "$work/source/LICENSE" -t "$prefix"
echo "$version" >"$prefix/version"
