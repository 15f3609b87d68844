#!/bin/bash
#
# Runs every fuzz target of this folder, or those that are named, under libFuzzer with AddressSanitizer and
# UndefinedBehaviorSanitizer, one after the other, each for so many seconds, with 2 GiB of memory and 10 seconds an input:
#
#   tests/fuzz/readers/run_all.sh SECONDS [FOLDER [TARGET...]]
#
# Programs, what each found worth keeping, its log and the inputs that failed are in FOLDER (./fuzz unless said), so that a
# second run goes on from the first and needs no build. A line for each target, and status 1 if one failed.

set -uo pipefail

if [[ $# -lt 1 || ! $1 =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: run_all.sh SECONDS [FOLDER [TARGET...]]" >&2
  exit 2
fi
readonly SECONDS_EACH="$1"
folder="$(mkdir -p "${2:-fuzz}" && cd "${2:-fuzz}" && pwd)" || exit 1
readonly folder
shift $(($# < 2 ? $# : 2))
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1

readonly PACKAGE=tests/fuzz/readers
if [[ $# -gt 0 ]]; then
  targets=("$@")
else
  mapfile -t targets < <(bazel query "attr(tags, fuzz, //${PACKAGE}:all)" 2> /dev/null | sed 's/.*://')
fi

build() {
  bazel build --config=fuzz --noshow_progress "${targets[@]/#///${PACKAGE}:}" || return 1
  local bin
  bin="$(bazel info --config=fuzz bazel-bin 2> /dev/null)"
  mkdir -p "${folder}/bin"
  local target
  for target in "${targets[@]}"; do
    cp -fL "${bin}/${PACKAGE}/${target}" "${folder}/bin/" || return 1
  done
}

# Prints the number behind a name in libFuzzer's last lines.
statistic() {
  sed -n "s/^stat::$2: *//p" "${folder}/$1.log" | tail -1
}

# Debian's libraries are not instrumented (tools/ingot.bazelrc).
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:detect_odr_violation=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
export ASAN_SYMBOLIZER_PATH=/usr/lib/llvm-19/bin/llvm-symbolizer

failed=0
for target in "${targets[@]}"; do
  if [[ ! -x "${folder}/bin/${target}" ]]; then
    build || exit 1
  fi
done
printf '%-20s %10s %12s %8s %8s  %s\n' target seconds inputs kept MB result
for target in "${targets[@]}"; do
  corpus="${folder}/${target}"
  mkdir -p "${corpus}" "${corpus}.failed"
  cp -n "${PACKAGE}/corpus/${target%_fuzz}"/* "${corpus}/" 2> /dev/null
  dictionary="$(sed -n "/name = \"${target}\"/,/^)/s/.*dictionary = \"\(.*\)\".*/\1/p" "${PACKAGE}/BUILD.bazel")"
  start="${SECONDS}"
  result=clean
  INGOT_FUZZ_SEEDS="${corpus}" "${folder}/bin/${target}" "${corpus}" \
    ${dictionary:+"-dict=${PACKAGE}/${dictionary}"} -max_total_time="${SECONDS_EACH}" -rss_limit_mb=2048 -timeout=10 \
    -max_len=65536 -print_final_stats=1 -artifact_prefix="${corpus}.failed/" > "${folder}/${target}.log" 2>&1 || {
    result="failed: see ${folder}/${target}.log"
    failed=1
  }
  printf '%-20s %10d %12s %8s %8s  %s\n' "${target}" "$((SECONDS - start))" \
    "$(statistic "${target}" number_of_executed_units)" "$(find "${corpus}" -type f | wc -l)" \
    "$(statistic "${target}" peak_rss_mb)" "${result}"
done
exit "${failed}"
