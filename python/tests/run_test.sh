#!/bin/bash
#
# Runs a test of the package as it is in the wheel: run_test.sh WHEEL TEST.py [NAME=FILE]...

set -euo pipefail

WHEEL="$(realpath "$1")"
TEST="$(realpath "$2")"
shift 2
for file in "$@"; do
  export "${file%%=*}=$(realpath "${file#*=}")"
done
cd "${TEST_TMPDIR}"
python3 -m zipfile -e "${WHEEL}" package
chmod +x package/ingot/bin/*  # zipfile forgets it; pip does not
export XDG_CACHE_HOME="${TEST_TMPDIR}/cache"
PYTHONPATH="${TEST_TMPDIR}/package" PYTHONDONTWRITEBYTECODE=1 exec python3 "${TEST}"
