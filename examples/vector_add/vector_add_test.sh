#!/bin/bash
#
# Checks that the program prints what the page about it shows: its blocks of text, one after the other.
#
# Usage: vector_add_test.sh VECTOR_ADD PAGE.md

set -euo pipefail

export XDG_CACHE_HOME="${TEST_TMPDIR}"

diff --unified \
  <(awk '/^```text$/ { shown = 1; next } /^```$/ { shown = 0 } shown' "$2") \
  <("$1" | grep -v '^$')
