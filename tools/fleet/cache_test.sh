#!/bin/bash
#
# Two clones of a workspace share what they compile through the cache, byte for byte, and one that compiles with other
# libraries takes nothing of it: cache_test.sh FOLDER_OF_SCRIPTS COMPILER MODEL.onnx

set -euo pipefail

# shellcheck source=tools/fleet/clones.sh
source "$1/clones.sh"

port="$(free_port)"
start cache "${port}" "${SCRIPTS}/start_cache.sh" "${WORK}/cache" "${port}"

build_with_cache() {
  build "$1" --jobs=2 --remote_cache="http://127.0.0.1:${port}"
}

clone first
build_with_cache first
[[ "$(count first 'remote cache hit')" -eq 0 ]] || die "an empty cache had results"

clone second
build_with_cache second
hits="$(count second 'remote cache hit')"
[[ "${hits}" -eq 3 ]] || die "the second clone had ${hits} of 3 results from the cache: $(cat "${LOGS}/second.log")"
expect_same_sets first second

# The cache has nothing that another LLVM would make.
clone updated
sed -i 's/ingot-libraries=[0-9a-f]*$/ingot-libraries=others/' "${WORK}/updated/.bazelrc"
grep -q 'ingot-libraries=others' "${WORK}/updated/.bazelrc"
build_with_cache updated
hits="$(count updated 'remote cache hit')"
[[ "${hits}" -eq 0 ]] || die "${hits} results of other libraries were taken from the cache"

# A file that somebody deleted is made again.
rm -r "${WORK}/cache/files/cas"
clone third
build_with_cache third
hits="$(count third 'remote cache hit')"
[[ "${hits}" -eq 0 ]] || die "${hits} results without files were taken from the cache"
expect_same_sets first third
