#!/bin/bash
#
# Holds what a program costs: its size, stripped, the shared libraries that the system must have for it,
# and how long a call of it takes from start to end, the best of twenty, or of two hundred where other
# programs take the processor's time. A machine that takes more than a millisecond to start a program that
# does nothing gets as many times as long.
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

# The least time in microseconds that a call takes of up to so many, at least twenty; no more of them once
# one took at most the second argument.
least_time() {
  local calls="$1" enough="$2" least="" begin microseconds i
  shift 2
  for ((i = 1; i <= calls; ++i)); do
    begin="${EPOCHREALTIME/./}"
    "$@" > /dev/null
    microseconds=$((${EPOCHREALTIME/./} - begin))
    if [[ -z "${least}" || "${microseconds}" -lt "${least}" ]]; then
      least="${microseconds}"
    fi
    if [[ "${i}" -ge 20 && "${least}" -le "${enough}" ]]; then
      break
    fi
  done
  echo "${least}"
}

readonly USUAL_START=1000
nothing="$(least_time 20 "${USUAL_START}" "$(type -P true)")"
limit="${MAX_MICROSECONDS}"
if [[ "${nothing}" -gt "${USUAL_START}" ]]; then
  limit=$((MAX_MICROSECONDS * nothing / USUAL_START))
fi
best="$(least_time 200 "${limit}" "$@")"

echo "${bytes} bytes (at most ${MAX_BYTES}), ${libraries} shared libraries (at most ${MAX_LIBRARIES}), ${best} us (at most ${limit}; a program that does nothing takes ${nothing})"
if ldd "${stripped}" | grep LLVM; then
  echo "FAILED: it links LLVM" >&2
  exit 1
fi
[[ "${bytes}" -le "${MAX_BYTES}" && "${libraries}" -le "${MAX_LIBRARIES}" && "${best}" -le "${limit}" ]]
