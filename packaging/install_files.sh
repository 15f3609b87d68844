#!/bin/bash
#
# Copies files of the build to where they are installed.
#
# Usage: install_files.sh PREFIX PATH=FILE... PATH->TARGET...
#   PATH=FILE     copies FILE to PREFIX/PATH; what lies in bin/ is a program. PATH/=FILE... copies all of them there.
#   PATH->TARGET  makes PREFIX/PATH a link to TARGET

set -euo pipefail

prefix="$1"
shift
for item in "$@"; do
  if [[ "${item}" == *"->"* ]]; then
    path="${prefix}/${item%%->*}"
    mkdir -p "$(dirname "${path}")"
    ln -sfn "${item#*->}" "${path}"
  else
    mode=644
    [[ "${item}" != bin/* ]] || mode=755
    read -ra files <<< "${item#*=}"
    for file in "${files[@]}"; do
      path="${prefix}/${item%%=*}"
      [[ "${path}" != */ ]] || path+="$(basename "${file}")"
      install -D --mode="${mode}" "${file}" "${path}"
    done
  fi
done
