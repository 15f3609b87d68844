#!/bin/bash
#
# Runs the test in Debian's Python: hostile_test.sh HOSTILE_TEST.PY INGOT

set -euo pipefail

PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$@"
