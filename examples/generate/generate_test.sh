#!/bin/bash
#
# Compiles small models with random weights, and continues texts with them.
#
# Usage: generate_test.sh GENERATE INGOT MODEL.onnx...

set -euo pipefail

readonly GENERATE="$1"
readonly INGOT="$2"
shift 2

files="$(mktemp -d)"
trap 'rm -rf "${files}"' EXIT

die() {
  echo "FAILED: $*" >&2
  exit 1
}

# The text of 20 tokens after "Hello" by the model $1; other arguments are the example's.
continue_text() {
  local model="$1"
  shift
  "${GENERATE}" "${model}" Hello 20 "$@" 2> "${files}/speed"
  grep -Eq '^prefill: [0-9.]+ tokens/s, decode: [0-9.]+ tokens/s$' "${files}/speed" ||
    die "no speed was told: $(cat "${files}/speed")"
}

for model in "$@"; do
  library="${files}/$(basename "${model}" .onnx).so"
  "${INGOT}" compile "${model}" -o "${files}/model.ingot" --quiet \
    --state='past_key_values.*:present.*:64'
  "${INGOT}" link "${files}/model.ingot" -o "${library}" > /dev/null

  # The best word each time: the same text whoever asks, by any number of threads.
  continue_text "${library}" 0 > "${files}/best"
  continue_text "${library}" 0 40 7 2 > "${files}/again"
  cmp "${files}/best" "${files}/again" || die "two texts of the best words differ"
  (($(wc -c < "${files}/best") == 21)) || die "not 20 bytes and the end of a line"

  # Drawn words: the same by the same seed, others by another.
  continue_text "${library}" 1 256 3 > "${files}/drawn"
  continue_text "${library}" 1 256 3 | cmp - "${files}/drawn" || die "a seed draws other words"
  if continue_text "${library}" 1 256 4 | cmp -s - "${files}/drawn"; then
    die "two seeds draw the same words"
  fi

  # 5 words and 60 more are one too many for the last run but one.
  "${GENERATE}" "${library}" Hello 59 > /dev/null 2>&1 || die "64 words do not fit"
  if "${GENERATE}" "${library}" Hello 60 > /dev/null 2> "${files}/error"; then
    die "65 words fit into a state for 64"
  fi
  grep -q '^generate: ' "${files}/error" || die "no error was told"
done
cat "${files}/error"

if "${GENERATE}" /dev/null Hello 2> /dev/null; then
  die "an empty file was taken for a model"
fi
