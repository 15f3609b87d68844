#!/bin/bash
#
# Holds what a program costs: its size, stripped, the shared libraries that the system must have for it,
# and how long a call of it takes from start to end, the best of twenty, or of two hundred where other
# programs take the processor's time.
#
# Usage: program_cost_test.sh MAX_BYTES MAX_LIBRARIES MAX_MICROSECONDS PROGRAM [ARGUMENT]...

set -euo pipefail

readonly MAX_BYTES="$1"
readonly MAX_LIBRARIES="$2"
readonly MAX_MICROSECONDS="$3"
shift 3

if nm "$1" | grep __asan_init > /dev/null; then
  echo "not measured: sanitizers add code and libraries of their own"
  exit 0
fi

stripped="$(mktemp)"
trap 'rm -f "${stripped}"' EXIT
strip -o "${stripped}" "$1"
bytes="$(stat --format=%s "${stripped}")"
libraries="$(ldd "${stripped}" | wc -l)"

best=""
for i in {1..200}; do
  begin="${EPOCHREALTIME/./}"
  "$@" > /dev/null
  microseconds=$((${EPOCHREALTIME/./} - begin))
  if [[ -z "${best}" || "${microseconds}" -lt "${best}" ]]; then
    best="${microseconds}"
  fi
  if [[ "${i}" -ge 20 && "${best}" -le "${MAX_MICROSECONDS}" ]]; then
    break
  fi
done

echo "${bytes} bytes (at most ${MAX_BYTES}), ${libraries} shared libraries (at most ${MAX_LIBRARIES}), ${best} us (at most ${MAX_MICROSECONDS})"
if ldd "${stripped}" | grep LLVM; then
  echo "FAILED: it links LLVM" >&2
  exit 1
fi
[[ "${bytes}" -le "${MAX_BYTES}" && "${libraries}" -le "${MAX_LIBRARIES}" && "${best}" -le "${MAX_MICROSECONDS}" ]]
