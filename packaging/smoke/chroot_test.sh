#!/bin/bash
#
# Installs the packages in a fresh Debian and uses them there; holds lintian's opinion of them, too. Needs root, mmdebstrap
# and Debian's archive, so it is for people before a release; packaging:deb_test does the same without a chroot.
#
# Usage: bazel run //packaging/smoke:chroot_test

set -euo pipefail

if [[ "$(id -u)" -ne 0 ]] || ! command -v mmdebstrap > /dev/null; then
  echo "chroot_test: needs root and Debian's package mmdebstrap" >&2
  exit 2
fi
smoke_test="$1"
model="$2"
program="$3"
lists="$4"
shift 4

root="$(mktemp -d)"
trap 'umount "${root}/proc" 2> /dev/null || true; rm -rf --one-file-system "${root}"' EXIT
mmdebstrap --quiet --variant=apt --include=gcc,cmake,make,pkg-config,lintian bookworm "${root}"
mkdir "${root}/packages" "${root}/smoke"
cp -L "$@" "${root}/packages"
cp -L "${model}" "${program}" "${lists}" "${smoke_test}" "${root}/smoke"
cp /etc/resolv.conf "${root}/etc/resolv.conf"

inside() {
  chroot "${root}" env --ignore-environment PATH=/usr/bin:/usr/sbin HOME=/root LC_ALL=C.UTF-8 "$@"
}
mount -t proc proc "${root}/proc"  # ingot looks there for its own place
inside apt-get update --quiet --quiet
inside bash -c 'DEBIAN_FRONTEND=noninteractive apt-get install --quiet --quiet --yes --no-install-recommends /packages/*.deb'
inside bash -c 'lintian --allow-root --fail-on=error,warning /packages/*.deb'
inside bash -c "/smoke/smoke_test.sh /usr /smoke/$(basename "${model}") /smoke/$(basename "${program}") /smoke/CMakeLists.txt"
# The packages can be removed again.
inside bash -c 'DEBIAN_FRONTEND=noninteractive apt-get purge --quiet --quiet --yes ingot libingot libingot-dev python3-ingot'
# Python's cache belongs to no package.
[[ -z "$(find "${root}/usr" -path '*ingot*' -type f ! -name '*.pyc' -print -quit)" ]]
echo "The packages install, work and go away."
