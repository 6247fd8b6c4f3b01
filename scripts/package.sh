#!/usr/bin/env bash
# Makes the packages in build/packages: Debian's, the wheel and the tarball (docs/install.md).
#   scripts/package.sh [--deb] [--wheel] [--tarball]     default: all
set -euo pipefail
cd "$(dirname "$0")/.."

kinds=("$@")
[ $# -gt 0 ] || kinds=(--deb --wheel --tarball)
for kind in "${kinds[@]}"; do
  case $kind in
    --deb | --wheel | --tarball) ;;
    *) echo "package.sh: unknown option $kind; known: --deb, --wheel, --tarball" >&2; exit 2 ;;
  esac
done

source=$PWD
version=$(sed -n 's/^project(attune VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=attune-$version-linux-x86_64
out=$source/build/packages
# The same commit gives the same bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)
export SOURCE_DATE_EPOCH
mkdir -p "$out"
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

make_deb() {
  scripts/install_deps.sh build katib package
  mkdir -p "$work/attune"
  cp -r packaging/debian "$work/attune"
  {
    printf 'attune (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n' "$version"
    printf ' -- %s  %s\n' "$(sed -n 's/^Maintainer: //p' packaging/debian/control)" \
      "$(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")"
  } >"$work/attune/debian/changelog"
  (cd "$work/attune" && ATTUNE_SOURCE=$source dpkg-buildpackage --build=binary --no-sign >"$out/deb.log" 2>&1) ||
    { tail -n 40 "$out/deb.log" >&2; return 1; }
  lintian --allow-root --fail-on error,warning "$work"/*.changes
  rm -f "$out"/*.deb
  mv "$work"/*.deb "$out"
}

# What wheel and tarball are made of, once.
install_portable() {
  [ -d "$work/portable" ] && return
  scripts/install_deps.sh build package
  packaging/muparser.sh
  cmake --preset portable --log-level=WARNING >/dev/null
  cmake --build --preset portable --parallel "$(nproc)" --target attune attuned attune-shim shell_files \
    attune_trial_c attune_study_c
  cmake --install build/portable --component runtime --strip --prefix "$work/portable" >/dev/null
  # Licences of what is linked statically or lies beside.
  local package
  mkdir "$work/licenses"
  cp LICENSE "$work/licenses"
  cp dashboard/page/vendor/licences/*.txt "$work/licenses"
  cp /usr/share/common-licenses/LGPL-2.1 "$work/licenses/LGPL-2.1.txt"
  for package in libboost-dev nlohmann-json3-dev libspdlog-dev libfmt-dev libcli11-dev libyaml-cpp-dev \
    libeigen3-dev libnlopt0 libmuparser-dev libsqlitecpp-dev libsqlite3-dev libpcre2-dev libssl-dev \
    libcairo2-dev libpixman-1-dev libfontconfig-dev libfreetype-dev libpng-dev libexpat1-dev zlib1g-dev \
    libbrotli-dev uuid-dev libx11-dev libxext-dev libxrender-dev libxcb1-dev libxau-dev libxdmcp-dev \
    libstdc++-12-dev libgcc-12-dev; do
    cp -L "/usr/share/doc/$package/copyright" "$work/licenses/$package.txt"
  done
}

make_wheel() {
  install_portable
  rm -f "$out"/*.whl
  packaging/make_wheel.py "$work/portable" "$work/licenses" "$out" >/dev/null
}

make_tarball() {
  install_portable
  local top=$work/$name library header
  cp -r "$work/portable" "$top"
  cp -r LICENSE README.md CHANGELOG.md docs examples "$top"
  cp -r "$work/licenses" "$top/share/licenses"
  find "$top" -name __pycache__ -prune -exec rm -rf {} +
  # For C: headers, and libraries by the names that a linker looks for.
  for header in study/study_c.h trial/trial_c.h plugins/attune_plugin.h; do
    install -D -m 644 "$header" "$top/include/attune/$header"
  done
  for library in study trial; do
    ln -s "$(basename "$top"/lib/libattune_$library.so.?)" "$top/lib/libattune_$library.so"
  done
  tar --create --xz --file "$out/$name.tar.xz" --directory "$work" --sort=name --owner=0 --group=0 \
    --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$name"
}

for kind in "${kinds[@]}"; do
  "make_${kind#--}"
done
find "$out" -maxdepth 1 -name '*attune*' -printf '%s %f\n' | sort -k 2
