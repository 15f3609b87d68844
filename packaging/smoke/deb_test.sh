#!/bin/bash
#
# Unpacks the packages into a folder and uses what is there; says whether they would install here.
#
# Usage: deb_test.sh SMOKE_TEST MODEL.relay RUN.c CMakeLists.txt PACKAGE.deb...

set -euo pipefail
export PATH="${PATH}:/usr/sbin:/sbin"  # dpkg asks for what lies there

smoke_test="$1"
used=("${@:2:3}")
shift 4
root="${TEST_TMPDIR}/root"
mkdir -p "${root}/var/lib/dpkg/"{info,updates}
[[ $# -eq 4 ]]

# The database of this machine knows the packages that ours depend on: dpkg checks that, without changing the machine.
cp /var/lib/dpkg/status "${root}/var/lib/dpkg/status"
touch "${root}/var/lib/dpkg/available"
fakeroot dpkg --root="${root}" --no-triggers --install "$@" > "${TEST_TMPDIR}/log" 2>&1 || {
  grep -v "files list file for package" "${TEST_TMPDIR}/log"
  exit 1
}
for package in ingot libingot libingot-dev python3-ingot; do
  [[ "$(dpkg-query --root="${root}" --show --showformat='${db:Status-Status} ${Version}' "${package}")" == "installed 0.1.0" ]]
done
dpkg --root="${root}" --verify ingot libingot libingot-dev python3-ingot
"${smoke_test}" "${root}/usr" "${used[@]}"
