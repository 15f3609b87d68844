#!/bin/bash
#
# Compiles and links models and runs each in both ways, by the executor and by its one function, on its
# test data, bit for bit. Fails if one differs; says which are not one function, and why.
#
# Usage: compare_models.sh INGOT COMPARE_MAIN [--target=TARGET] FOLDER...
#   FOLDER  has model.onnx and test_data_set_0

set -euo pipefail

INGOT="$(realpath "$1")"
COMPARE_MAIN="$(realpath "$2")"
readonly INGOT COMPARE_MAIN
shift 2
target=--target=llvm
if [[ "${1:-}" == --target=* ]]; then
  target="$1"
  shift
fi
# Bazel starts programs elsewhere and says where the user is.
cd "${BUILD_WORKING_DIRECTORY:-.}"
WORK="$(mktemp -d)"
readonly WORK
trap 'rm -rf "${WORK}"' EXIT

same=0 symbolic=0 no_main=0 wrong=0
for folder in "$@"; do
  "${INGOT}" compile "${folder}/model.onnx" "${target}" --symbol-prefix=model -o "${WORK}/model.ingot" --quiet 2> "${WORK}/errors" &&
    "${INGOT}" link "${WORK}/model.ingot" -o "${WORK}/model.so" --quiet 2>> "${WORK}/errors" || {
    echo "$(basename "${folder}"): $(tail -1 "${WORK}/errors")"
    wrong=$((wrong + 1))
    continue
  }
  answer="$("${COMPARE_MAIN}" "${WORK}/model.so" "${folder}/test_data_set_0" 2>&1)" || true
  echo "$(basename "${folder}"): ${answer}"
  case "${answer}" in
    same) same=$((same + 1)) ;;
    "same, "*) symbolic=$((symbolic + 1)) ;;
    "no main: "*) no_main=$((no_main + 1)) ;;
    *) wrong=$((wrong + 1)) ;;
  esac
done
echo "the same bits in both ways: ${same} models of fixed shapes, ${symbolic} with symbolic ones; ${no_main} are not one function; ${wrong} are wrong"
[[ "${wrong}" -eq 0 && $((same + symbolic)) -gt 0 ]]
