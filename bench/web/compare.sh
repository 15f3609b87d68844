#!/bin/bash
#
# Lays npm's packages out as Node.js looks for them, and starts compare.mjs.
#
# Usage: compare.sh INGOT PACKAGE_FILE... -- [FLAG...] FOLDER...
#   PACKAGE_FILE  the package.json of onnxruntime-web and onnxruntime-common

set -euo pipefail

INGOT="$(realpath "$1")"
readonly INGOT
shift
WORK="$(mktemp -d)"
readonly WORK
trap 'rm -rf "${WORK}"' EXIT

mkdir "${WORK}/node_modules"
while [[ "$1" != "--" ]]; do
  folder="$(dirname "$(realpath "$1")")"
  name="$(node -p 'require(process.argv[1]).name' "${folder}/package.json")"
  ln -s "${folder}" "${WORK}/node_modules/${name}"
  shift
done
shift
for script in bench/web/*.mjs; do
  ln -s "$(realpath "${script}")" "${WORK}"
done

# Bazel starts programs elsewhere and says where the user is.
cd "${BUILD_WORKING_DIRECTORY:-.}"
node --preserve-symlinks --preserve-symlinks-main "${WORK}/compare.mjs" "${INGOT}" "$@"
