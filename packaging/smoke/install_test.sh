#!/bin/bash
#
# Installs into a prefix and uses what is there.
#
# Usage: install_test.sh INGOT_INSTALL SMOKE_TEST MODEL.relay RUN.c CMakeLists.txt

set -euo pipefail

prefix="${TEST_TMPDIR}/ingot"
"$1" "${prefix}"
"$2" "${prefix}" "${@:3}"
status=0
"$1" 2> "${TEST_TMPDIR}/error" || status=$?
[[ "${status}" -eq 2 ]]
grep "say where to" "${TEST_TMPDIR}/error"
