#!/bin/bash
#
# Runs a test in Debian's Python: call_test.sh TEST.py NAME=FILE...

set -euo pipefail

TEST="$(realpath "$1")"
shift
for file in "$@"; do
  export "${file%%=*}=$(realpath "${file#*=}")"
done
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "${TEST}"
