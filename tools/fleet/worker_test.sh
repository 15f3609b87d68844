#!/bin/bash
#
# A worker that is killed in the middle of an action: the build goes on with another one; with none it fails, or goes on
# here. The sets are those of a build without workers: worker_test.sh FOLDER_OF_SCRIPTS COMPILER MODEL.onnx

set -euo pipefail

# shellcheck source=tools/fleet/clones.sh
source "$1/clones.sh"

# A compiler that says where it runs, and waits until it may go on. Local builds need not wait.
readonly HELD="${WORK}/held"
mkdir "${HELD}"
cat > "${WORK}/waiting-compiler" << PROGRAM
#!/bin/bash
pwd > "${HELD}/\$\$.new"
mv "${HELD}/\$\$.new" "${HELD}/\$\$.at"
until [[ -e "${HELD}/go" || "\$(pwd)" != */work-* ]]; do
  sleep 0.1
done
exec "${COMPILER}" "\$@"
PROGRAM
chmod +x "${WORK}/waiting-compiler"
COMPILER="${WORK}/waiting-compiler"

# start_worker NAME PORT: with a place for one action.
start_worker() {
  start "$1" "$2" "${SCRIPTS}/start_worker.sh" "${WORK}/workers" "$2" 1
}

# Waits until an action runs on the worker at a port, kills it, and lets other actions go on.
kill_while_it_works() {
  for ((i = 0; i < 600; ++i)); do
    if cat "${HELD}"/*.at 2> /dev/null | grep -q "/work-$1/"; then
      kill -KILL "$2"
      touch "${HELD}/go"
      return
    fi
    sleep 0.1
  done
  touch "${HELD}/go"
  return 1
}

clone alone
build alone

one="$(free_port)" two="$(free_port)" front="$(free_port)"
start_worker one "${one}"
worker_one="${servers[-1]}"
start_worker two "${two}"
start balancer "${front}" "${SCRIPTS}/start_balancer.sh" "${WORK}/balancer" "${front}" "${one}" "${two}"

clone remote
kill_while_it_works "${one}" "${worker_one}" &
killer=$!
build remote --remote_executor="grpc://127.0.0.1:${front}" --jobs=3
wait "${killer}" || die "no action ran on worker one"
ran="$(count remote 'remote[,.]')"
[[ "${ran}" -eq 3 ]] || die "${ran} of 3 actions ran on workers: $(cat "${LOGS}/remote.log")"
expect_same_sets alone remote

# lose_all NAME BUILD FLAG...: runs a build whose only worker is killed, in a clone with nothing that others made.
lose_all() {
  local name="$1" how="$2" port
  shift 2
  port="$(free_port)"
  rm -rf "${HELD:?}"/* "${WORK}/workers/cas"
  start_worker "${name}_worker" "${port}"
  clone "${name}"
  kill_while_it_works "${port}" "${servers[-1]}" &
  killer=$!
  local status=0
  "${how}" "${name}" --remote_executor="grpc://127.0.0.1:${port}" --jobs=3 --remote_retries=1 "$@" || status=$?
  wait "${killer}" || die "no action ran on the worker of ${name}"
  [[ "$(count "${name}" 'remote[,.]')" -eq 0 ]] || die "a killed worker gave results: $(cat "${LOGS}/${name}.log")"
  return "${status}"
}

# The last worker dies. The build fails, and says why.
if lose_all failed try_build; then
  die "it was built without a worker: $(cat "${LOGS}/failed.log")"
fi
grep -q UNAVAILABLE "${LOGS}/failed.log" || die "it does not say that the worker is gone: $(cat "${LOGS}/failed.log")"
# Once there is a worker, it goes on.
build failed --remote_executor="grpc://127.0.0.1:${two}"
expect_same_sets alone failed

# It is done here, if it may.
lose_all local build --remote_local_fallback
expect_same_sets alone local
