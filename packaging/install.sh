#!/bin/bash
#
# Copies everything that the packages have to PREFIX, such as /opt/ingot.
#
# Usage: bazel run //packaging:ingot_install -- PREFIX

set -euo pipefail

if [[ $# -ne 1 ]]; then
  echo "ingot_install: say where to: bazel run //packaging:ingot_install -- PREFIX" >&2
  exit 2
fi
# From where the call was made, which is not where Bazel starts this program.
prefix="$(cd "${BUILD_WORKING_DIRECTORY:-${PWD}}" && realpath --canonicalize-missing "$1")"
cd "${RUNFILES_DIR:-$0.runfiles}/ingot"
mapfile -t words < packaging/ingot_install.words
packaging/install_files.sh "${prefix}" "${words[@]}"
echo "installed in ${prefix}"
