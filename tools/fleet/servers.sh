# shellcheck shell=bash
#
# Servers of a script, which ends when one of them does not start, and ends them when it ends. To be sourced; the script
# sets LOGS, a folder that is there.

servers=()

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

stop_servers() {
  [[ ${#servers[@]} -eq 0 ]] || kill "${servers[@]}" 2> /dev/null || true
}
trap stop_servers EXIT

# Prints a port that is free now.
free_port() {
  /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# start NAME PORT PROGRAM...: runs a server and waits until it listens. Its process becomes ${servers[-1]}.
start() {
  local log="${LOGS}/$1.log" port="$2"
  shift 2
  "$@" > "${log}" 2>&1 &
  servers+=($!)
  for ((i = 0; i < 300; ++i)); do
    kill -0 "${servers[-1]}" 2> /dev/null || die "$1 ended: $(tail -n 1 "${log}")"
    (exec 3<> "/dev/tcp/127.0.0.1/${port}") 2> /dev/null && return
    sleep 0.1
  done
  die "$1 does not listen after 30 s: see ${log}"
}
