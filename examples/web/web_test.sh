#!/bin/bash
#
# Runs web_test.mjs by Node.js, which finds the files beside it where the build has put them.
#
# Usage: web_test.sh INGOT BYTES.onnx

set -euo pipefail

exec node --preserve-symlinks --preserve-symlinks-main examples/web/web_test.mjs "$@"
