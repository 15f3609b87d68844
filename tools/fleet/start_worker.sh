#!/bin/bash
#
# Runs a machine that builds for others: the reference worker of Bazel's remote execution protocol, with a cache of its
# own on disk, until it is stopped. The first call compiles it, from the source that Debian has of it, for the Bazel that
# is installed.
#
# Usage: tools/fleet/start_worker.sh FOLDER [PORT [JOBS]]
#   FOLDER  where it keeps its program, what was built and what is being built; workers may share one
#   PORT    8980 otherwise
#   JOBS    how many actions it runs at once; as many as there are processors otherwise
#
# Then: bazel build --remote_executor=grpc://127.0.0.1:PORT ...
# It runs whatever it is asked to, by anyone who reaches the port: keep it in a network of your own.

set -euo pipefail

readonly PACKAGE=bazel-bootstrap-source
readonly SERVER=/usr/share/bazel/A-server.jar
readonly SOURCE=usr/src/bazel-bootstrap/src/tools/remote/src/main/java

die() {
  echo "start_worker: $*" >&2
  exit 1
}

# Prints the folder of the worker's source: the installed one, or that of a package fetched into the folder $1.
find_source() {
  if [[ -d "/${SOURCE}" ]]; then
    echo "/${SOURCE}"
    return
  fi
  (cd "$1" && apt-get download --quiet "${PACKAGE}" > fetch.log 2>&1) ||
    die "cannot fetch ${PACKAGE}: $(tail -n 1 "$1/fetch.log"). 'apt-get install ${PACKAGE}' is as good"
  dpkg-deb --extract "$1/${PACKAGE}"_*.deb "$1/package"
  echo "$1/package/${SOURCE}"
}

# Compiles the worker into the folder $1.
compile_worker() {
  local work
  work="$(mktemp -d)"
  # shellcheck disable=SC2064  # The folder is known now.
  trap "rm -rf '${work}'" EXIT
  chmod 755 "${work}" # apt-get fetches as another user
  local source
  source="$(find_source "${work}")"
  find "${source}" -name '*.java' > "${work}/files"
  mkdir "${work}/classes"
  javac -nowarn -proc:none -cp "${CLASS_PATH}" -d "${work}/classes" "@${work}/files" > "${work}/javac.log" 2>&1 || {
    cat "${work}/javac.log" >&2
    die "the worker does not compile against ${SERVER}: are ${PACKAGE} and bazel-bootstrap of one version?"
  }
  rm -rf "$1"
  mv "${work}/classes" "$1"
  rm -rf "${work}"
  trap - EXIT
}

[[ $# -ge 1 && $# -le 3 ]] || {
  echo "usage: start_worker.sh FOLDER [PORT [JOBS]]" >&2
  exit 2
}
readonly PORT="${2:-8980}" JOBS="${3:-auto}"
[[ "${PORT}" =~ ^[0-9]+$ ]] || die "the port '${PORT}' is no number"
[[ "${JOBS}" =~ ^([1-9][0-9]*|auto)$ ]] || die "'${JOBS}' is no number of jobs"
[[ -f "${SERVER}" ]] || die "${SERVER} is missing: tools/setup.sh installs bazel-bootstrap"
command -v javac > /dev/null || die "javac is missing: apt-get install default-jdk-headless"
mkdir -p "$1" || die "cannot make $1"
FOLDER="$(realpath "$1")"
CLASS_PATH="${SERVER}:$(printf '%s:' /usr/share/java/*.jar)"
readonly FOLDER CLASS_PATH

# It belongs to one version of Bazel.
WORKER="${FOLDER}/worker-$(dpkg-query --show --showformat='${Version}' bazel-bootstrap)"
readonly WORKER
[[ -d "${WORKER}" ]] || compile_worker "${WORKER}"
mkdir -p "${FOLDER}/cas" "${FOLDER}/work-${PORT}"
exec java -cp "${WORKER}:${CLASS_PATH}" com.google.devtools.build.remote.worker.RemoteWorker \
  --listen_port="${PORT}" --work_path="${FOLDER}/work-${PORT}" --cas_path="${FOLDER}/cas" --jobs="${JOBS}"
