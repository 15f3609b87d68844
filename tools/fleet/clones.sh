# shellcheck shell=bash
#
# The tests of this folder share one model, and clones of a workspace that compiles it. To be sourced, after which
# LOGS has the logs of builds and servers: test.sh FOLDER_OF_SCRIPTS COMPILER MODEL.onnx
#
# Bazel runs in Bazel here, with servers, ports and folders of its own.

SCRIPTS="$(realpath --no-symlinks "$1")"
COMPILER="$(realpath "$2")"
WORK="${TEST_TMPDIR}/fleet"
LOGS="${WORK}/logs"
readonly SCRIPTS WORK LOGS
mkdir -p "${LOGS}" "${WORK}/models/softmax"
cp "$3" "${WORK}/models/softmax/model.onnx"

# Ingot's rules as another workspace has them: what this test declares as its data, in a folder of its own.
mkdir "${WORK}/ingot"
cp --recursive --dereference tools third_party "${WORK}/ingot"
touch "${WORK}/ingot/WORKSPACE"

# shellcheck source=tools/fleet/servers.sh
source "${SCRIPTS}/servers.sh"

# clone NAME: makes a workspace that shares nothing with the others.
clone() {
  "${SCRIPTS}/make_workspace.py" "${WORK}/models" "${WORK}/$1" --compiler="${COMPILER}" --ingot="${WORK}/ingot"
}

# try_build NAME FLAG...: compiles the model for its three targets in a clone, if that is possible.
try_build() {
  local name="$1"
  shift
  # --batch leaves no server, and one so short need not compile itself twice.
  (cd "${WORK}/${name}" && exec bazel --batch --nohome_rc --output_base="${WORK}/${name}_output" \
    --host_jvm_args=-Xmx512m --host_jvm_args=-XX:TieredStopAtLevel=1 \
    build --color=no --curses=no --noshow_progress "$@" //:sets) > "${LOGS}/${name}.log" 2>&1
}

build() {
  try_build "$@" || die "$1 does not build: $(cat "${LOGS}/$1.log")"
}

# count NAME WORDS: how many actions of a build ended as WORDS say.
count() {
  grep -oE "[0-9]+ $2" "${LOGS}/$1.log" | grep -oE '^[0-9]+' || echo 0
}

# The sets of two clones are the same bytes.
expect_same_sets() {
  local compared=0
  for set in "${WORK}/$1/bazel-bin/softmax"/*.ingot; do
    cmp "${set}" "${WORK}/$2/bazel-bin/softmax/$(basename "${set}")"
    compared=$((compared + 1))
  done
  [[ ${compared} -eq 3 ]] || die "${compared} sets were compared, not 3"
}
