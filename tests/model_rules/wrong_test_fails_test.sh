#!/bin/bash
#
# The test of a model with other outputs than it has must fail, and say which output is off: TEST

set -uo pipefail

printed="$("$1" 2>&1)" && { echo "it passed: ${printed}"; exit 1; }
grep -q "WRONG: " <<< "${printed}" || { echo "${printed}"; exit 1; }
