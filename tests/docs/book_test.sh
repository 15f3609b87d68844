#!/bin/bash
#
# Runs the test in Debian's Python: book_test.sh BOOK_TEST.py

set -euo pipefail

PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$1"
