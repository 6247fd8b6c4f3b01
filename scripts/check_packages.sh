#!/usr/bin/env bash
# Installs each package of build/packages (scripts/package.sh) in an empty Debian and tunes there. The
# first result must come within ten seconds from the start of the installation. Needs root; leaves
# nothing behind.
#   scripts/check_packages.sh [--deb] [--wheel] [--tarball]     default: all
set -euo pipefail
cd "$(dirname "$0")/.."

kinds=("$@")
[ $# -gt 0 ] || kinds=(--deb --wheel --tarball)
for kind in "${kinds[@]}"; do
  case $kind in
    --deb) pattern='attune_*.deb' ;;
    --wheel) pattern='attune-*.whl' ;;
    --tarball) pattern='attune-*.tar.xz' ;;
    *) echo "check_packages.sh: unknown option $kind; known: --deb, --wheel, --tarball" >&2; exit 2 ;;
  esac
  if ! compgen -G "build/packages/$pattern" >/dev/null; then
    echo "check_packages.sh: no build/packages/$pattern; scripts/package.sh $kind makes it" >&2
    exit 2
  fi
done
scripts/install_deps.sh package
limit=10  # s
version=$(sed -n 's/^project(attune VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The Debian of this machine, from where its packages come, without anything but apt.
# shellcheck disable=SC1091
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
apt-cache policy libc6 base-files |
  awk '$2 ~ /^http/ {split($3, suite, "/"); print "deb", $2, suite[1], suite[2]}' | sort -u >"$work/sources.list"
mmdebstrap --quiet --variant=apt --skip=cleanup/apt "$suite" "$work/empty" "$work/sources.list" >&2

# new_root NAME: a copy of it, with what is tested in /packages.
new_root() {
  root=$work/$1
  cp -a "$work/empty" "$root"
  mkdir "$root/packages"
  cp build/packages/*.deb build/packages/*.whl build/packages/*.tar.xz "$root/packages" 2>/dev/null || true
  cp -r tests/packages "$root/packages/tests"
  cp tests/install/c_consumer/tune.c "$root/packages/tests"
  cp /etc/resolv.conf /etc/hosts "$root/etc"
}

# inside COMMAND: in the root, with namespaces of its own, which end with the command.
inside() {
  # shellcheck disable=SC2016  # the inner bash expands them
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev"
    exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c "$1"' "$root" "$1" ||
    { echo "error: in $root: $1" >&2; return 1; }
}

# first_result NAME INSTALLATION: installs, runs an experiment, and prints how long both took.
first_result() {
  local start middle end
  start=$(date +%s%N)
  inside "$2"
  middle=$(date +%s%N)
  inside "cd /packages/tests && $attune run first.yaml --dir /tmp/first --seed 1 --quiet" >"$work/result"
  end=$(date +%s%N)
  grep -q '^10 trials in .* 10 succeeded' "$work/result" || { cat "$work/result" >&2; return 1; }
  awk -v name="$1" -v a="$start" -v b="$middle" -v c="$end" -v limit=$limit 'BEGIN {
    printf "%s: installed in %.1f s, first result after %.1f s\n", name, (b - a) / 1e9, (c - a) / 1e9
    if (c - a > limit * 1e9) { print "error: that is more than " limit " s"; exit 1 } }'
}

check_deb() {
  new_root deb
  attune=attune
  first_result "attune.deb" "apt-get -qq install --yes --no-install-recommends \
    /packages/attune_${version}_*.deb >/dev/null 2>&1"
  inside "[ \"\$(attune --version)\" = 'attune $version' ] && [ -s /usr/share/man/man1/attune.1.gz ]"
  inside "apt-get -qq install --yes --no-install-recommends gcc libc6-dev pkg-config \
    /packages/*.deb >/dev/null 2>&1"
  inside "/usr/bin/python3 /packages/tests/first.py"
  inside "cc -std=c99 -o /tmp/tune /packages/tests/tune.c \$(pkg-config --cflags --libs attune-study-c) && /tmp/tune"
  inside "attune-katib --list | grep attune-tpe >/dev/null"
  # Nothing stays but what trials have written.
  inside "apt-get -qq purge --yes '*attune*' >/dev/null 2>&1 && \
    ! find / -xdev -path /packages -prune -o -path /tmp -prune -o -path /var/lib/apt -prune -o \
      -path /var/cache -prune -o -path /proc -prune -o -iname '*attune*' -print | grep ."
}

check_wheel() {
  new_root wheel
  inside "apt-get -qq install --yes --no-install-recommends python3-venv >/dev/null 2>&1 && python3 -m venv /venv"
  attune=/venv/bin/attune
  first_result "wheel" "/venv/bin/pip install --quiet --no-index --disable-pip-version-check /packages/*.whl"
  inside "[ \"\$($attune --version)\" = 'attune $version' ] && /venv/bin/attuned --list | grep TPE >/dev/null"
  inside "/venv/bin/python /packages/tests/first.py"
  inside "/venv/bin/pip uninstall --quiet --yes attune && ! find /venv -iname '*attune*' | grep ."
}

check_tarball() {
  new_root tarball
  inside "apt-get -qq install --yes --no-install-recommends xz-utils >/dev/null 2>&1"
  attune=/opt/attune-$version-linux-x86_64/bin/attune
  first_result "tarball" "tar xJf /packages/*.tar.xz -C /opt"
  inside "[ \"\$($attune --version)\" = 'attune $version' ]"
}

for kind in "${kinds[@]}"; do
  "check_${kind#--}"
  rm -rf "${work:?}/${kind#--}"
done
