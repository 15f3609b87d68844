#!/bin/bash
#
# Runs the program in Debian's Python: verify_cases.sh VERIFY_CASES.PY INGOT FOLDER [FLAG...]

set -euo pipefail

PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$@"
