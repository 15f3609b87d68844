#!/bin/bash
#
# Usage: run_test.sh RUN MODEL.so

set -euo pipefail

for threads in 1 2; do
  output="$("$1" "$2" "${threads}")"
  echo "${output}"
  [[ "${output}" == *"3: f32[2, 4, 5, 4], 160 elements"* ]]
done
# What is no model is told.
output="$("$1" "$0" 2>&1)" && exit 1
echo "${output}"
[[ "${output}" == "run: "* ]]
