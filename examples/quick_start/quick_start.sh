#!/bin/bash
#
# Takes a model through every step of Ingot and shows what comes of it.
#
# Usage: quick_start.sh INGOT MODEL.onnx DIR

set -euo pipefail

readonly INGOT="$1"
readonly MODEL="$2"
readonly OUT="$3"

# Says what comes next, shows the command without this machine's paths, and runs it.
step() {
  local title="$1"
  shift
  printf '\n== %s\n' "${title}"
  printf '$ ingot'
  local arg
  for arg in "$@"; do
    arg="${arg//"${MODEL}"/$(basename "${MODEL}")}"
    if [[ "${arg}" == *" "* ]]; then printf " '%s'" "${arg}"; else printf ' %s' "${arg}"; fi
  done
  printf '\n'
  "${INGOT}" "$@"
}

mkdir -p "${OUT}"
step "Compile it for this machine" compile "${MODEL}" -o "${OUT}/model.ingot"
step "What the set is" inspect "${OUT}/model.ingot"
step "Its artifacts" list "${OUT}/model.ingot"
step "A directory to read and edit" dump "${OUT}/model.ingot" -o "${OUT}/dump"
step "A library that needs no other file" link "${OUT}/model.ingot" -o "${OUT}/model.so"
step "Is it right?" verify "${OUT}/model.so" "--reference=${MODEL}" --rtol-max=1e-4
step "How fast is it?" bench "${OUT}/model.so" --threads="$(nproc)"

cat <<END

All of it is in ${OUT}:
  model.ingot   the artifacts, in one file
  dump/         the same as a directory; edit a file and 'ingot pack --accept-edits' takes it
  model.so      the library; examples/run_model shows a program that runs it
END
