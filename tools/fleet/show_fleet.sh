#!/bin/bash
#
# Shows on one machine what a fleet does: compiles a folder of models for three targets with a cache, again in a second
# clone, and on two workers of which one is killed.
#
# Usage: tools/fleet/show_fleet.sh MODELS FOLDER COMPILER
#   MODELS    a folder with a folder for each model
#   FOLDER    new or empty: for workspaces, caches, Bazel's output and logs
#   COMPILER  bazel-bin/tools/ingot/ingot-compiler

set -euo pipefail

[[ $# -eq 3 ]] || {
  echo "usage: show_fleet.sh MODELS FOLDER COMPILER" >&2
  exit 2
}
HERE="$(dirname "$(realpath "${BASH_SOURCE[0]}")")"
readonly HERE MODELS="$1" COMPILER="$3"
mkdir -p "$2"
FOLDER="$(realpath "$2")"
readonly FOLDER
[[ -z "$(ls -A "${FOLDER}")" ]] || {
  echo "show_fleet: ${FOLDER} is not empty: what was built there before would be no cold build" >&2
  exit 1
}
LOGS="${FOLDER}/logs"
readonly LOGS
mkdir "${LOGS}"
# shellcheck source=tools/fleet/servers.sh
source "${HERE}/servers.sh"

clones=()
# shellcheck disable=SC2317  # The trap below calls it.
stop() {
  for name in "${clones[@]}"; do
    (cd "${FOLDER}/${name}" && bazel --output_base="${FOLDER}/${name}_output" shutdown > /dev/null 2>&1)
  done
  stop_servers
}
trap stop EXIT

# Makes the workspace NAME, a clone of its own.
clone() {
  "${HERE}/make_workspace.py" "${MODELS}" "${FOLDER}/$1" --compiler="${COMPILER}"
  clones+=("$1")
}

# build NAME FLAG...: builds all sets in a clone, and says what that took.
build() {
  local name="$1" status=0 start=${EPOCHREALTIME/./}
  shift
  (cd "${FOLDER}/${name}" && exec bazel --output_base="${FOLDER}/${name}_output" build --color=no --curses=no \
    --noshow_progress --show_result=0 --execution_log_json_file="${FOLDER}/${name}.json" \
    --profile="${FOLDER}/${name}.profile.gz" "$@" //:sets) > "${LOGS}/${name}.log" 2>&1 || status=$?
  grep -E 'processes:|^ERROR|^WARNING.*[Rr]emote' "${LOGS}/${name}.log" || true
  echo "${name}: exit status ${status}, $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
  [[ ${status} -ne 0 ]] ||
    "${HERE}/summarize.py" "${FOLDER}/${name}.json" "${FOLDER}/${name}.profile.gz" --table="${FOLDER}/${name}.tsv"
  return "${status}"
}

same_sets() {
  diff <(cd "${FOLDER}/$1/bazel-bin/" && find . -name '*.ingot' -exec sha256sum {} + | sort) \
    <(cd "${FOLDER}/$2/bazel-bin/" && find . -name '*.ingot' -exec sha256sum {} + | sort) > /dev/null ||
    die "$1 and $2 have other sets"
  echo "$2: the same bytes as $1"
}

show_cache() {
  local port
  port="$(free_port)"
  start cache "${port}" "${HERE}/start_cache.sh" "${FOLDER}/cache" "${port}"
  clone first
  build first --remote_cache="http://127.0.0.1:${port}"
  clone second
  build second --remote_cache="http://127.0.0.1:${port}"
  same_sets first second
  # A build that only fills the cache need not have them all here.
  clone third
  build third --remote_cache="http://127.0.0.1:${port}" --remote_download_minimal
}

# Counts the actions that the workers have done.
results() {
  find "${FOLDER}/workers/cas/ac" -type f 2> /dev/null | wc -l
}

# Two workers share one address, and one is killed after a third of the actions.
show_workers() {
  local one two front victim killer third
  one="$(free_port)" two="$(free_port)" front="$(free_port)"
  third=$((($(wc -l < "${FOLDER}/first.tsv") - 1) / 3))
  start worker_one "${one}" "${HERE}/start_worker.sh" "${FOLDER}/workers" "${one}" 1
  victim="${servers[-1]}"
  start worker_two "${two}" "${HERE}/start_worker.sh" "${FOLDER}/workers" "${two}" 1
  start balancer "${front}" "${HERE}/start_balancer.sh" "${FOLDER}/balancer" "${front}" "${one}" "${two}"
  clone remote
  (
    until [[ "$(results)" -ge ${third} ]]; do
      sleep 0.2
    done
    kill -KILL "${victim}"
    echo "worker_one is killed, with $(results) actions done"
  ) &
  killer=$!
  servers+=("${killer}")
  build remote --remote_executor="grpc://127.0.0.1:${front}" --jobs=8
  wait "${killer}"
  same_sets first remote
}

show_cache
show_workers
