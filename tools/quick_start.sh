#!/bin/bash
#
# From nothing to a running model: installs what is missing, builds the ingot command, fetches a face
# detector, and compiles, lists, dumps, links, checks and measures it.
#
# Usage: tools/quick_start.sh [DIR]
#   DIR  where to put the results; $TMPDIR/ingot_quick_start otherwise

set -euo pipefail

out="$(realpath --canonicalize-missing "${1:-${TMPDIR:-/tmp}/ingot_quick_start}")"
readonly out
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh < /dev/null
exec bazel run --ui_event_filters=-info,-stdout,-stderr //examples/quick_start -- "${out}"
