#!/bin/bash
#
# Runs a page with the package of a wheel and the program in it:
# run_page.sh RUN_PAGE.py WHEEL PAGE.md [NAME=FILE]...
# A file is there under that name when the page begins.

set -euo pipefail

/usr/bin/python3 -m zipfile -e "$2" "${TEST_TMPDIR}/package"
chmod +x "${TEST_TMPDIR}"/package/ingot/bin/* # zipfile forgets it; pip does not
install "$(dirname "$1")/bazel_stand_in.sh" "${TEST_TMPDIR}/package/ingot/bin/bazel"
export PATH="${TEST_TMPDIR}/package/ingot/bin:${PATH}" PYTHONPATH="${TEST_TMPDIR}/package"
export XDG_CACHE_HOME="${TEST_TMPDIR}/cache" PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 "$1" "${@:3}"
