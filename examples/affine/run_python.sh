#!/bin/bash
#
# Runs a program with the package of a wheel: run_python.sh WHEEL PROGRAM.py WORD...

set -euo pipefail

package="$(mktemp -d)"
trap 'rm -rf "${package}"' EXIT
/usr/bin/python3 -m zipfile -e "$1" "${package}"
chmod +x "${package}"/ingot/bin/* # zipfile forgets it; pip does not
PYTHONPATH="${package}" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "${@:2}"
