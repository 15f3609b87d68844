#!/bin/sh
# Writes what the text tests now print into their files; look at the diff.
set -eu
cd "$(dirname "$0")/.."
INGOT_REWRITE_EXPECTATIONS=1 exec bazel "$@" run //tests/filetests:runner
