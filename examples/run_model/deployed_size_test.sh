#!/bin/bash
#
# Holds the cost of deploying a model: the size of a stripped program that loads and runs one, and the
# shared libraries that the system must have for it.
#
# Usage: deployed_size_test.sh RUN_MODEL

set -euo pipefail

readonly MAX_BYTES=1048576
readonly MAX_LIBRARIES=8

stripped="$(mktemp)"
trap 'rm -f "${stripped}"' EXIT
strip -o "${stripped}" "$1"
bytes="$(stat --format=%s "${stripped}")"
libraries="$(ldd "${stripped}" | wc -l)"

echo "${bytes} bytes (at most ${MAX_BYTES}), ${libraries} shared libraries (at most ${MAX_LIBRARIES})"
[[ "${bytes}" -le "${MAX_BYTES}" && "${libraries}" -le "${MAX_LIBRARIES}" ]]
