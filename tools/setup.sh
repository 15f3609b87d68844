#!/bin/bash
#
# Installs what Ingot is built with: the packages of tools/packages.txt, and npm when there is none.
# Run it as often as you like: it leaves at once when nothing is missing.
#
# Usage: tools/setup.sh [--check]
#   --check  install nothing; list what is missing and exit 1 if anything is

set -euo pipefail

PACKAGES_FILE="$(dirname "${BASH_SOURCE[0]}")/packages.txt"
readonly PACKAGES_FILE

die() {
  echo "setup: $*" >&2
  exit 1
}

# Prints the wanted packages that are not installed, one a line.
missing_packages() {
  sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "${PACKAGES_FILE}" |
    sort -u > "${WORK_DIR}/wanted"
  # A package may stand for another one (pkg-config is pkgconf's), so what packages provide counts too.
  dpkg-query --show --showformat='${db:Status-Status}\t${Package}\t${Provides}\n' |
    awk -F'\t' '$1 == "installed" {
      print $2
      n = split($3, provided, ",")
      for (i = 1; i <= n; ++i) {
        sub(/^ +/, "", provided[i])
        sub(/ .*/, "", provided[i])
        if (provided[i] != "") print provided[i]
      }
    }' | sort -u > "${WORK_DIR}/installed"
  comm -23 "${WORK_DIR}/wanted" "${WORK_DIR}/installed"
  # Only when there is no npm at all: Debian's npm cannot be installed beside a Node.js from elsewhere,
  # which brings its own.
  if ! command -v npm > /dev/null; then
    echo npm
  fi
}

as_root() {
  if [[ "$(id -u)" -eq 0 ]]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    die "installing packages needs root or sudo. Missing: ${missing[*]}"
  fi
}

install_missing() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    "${missing[@]}" < /dev/null
}

main() {
  if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    die "Ingot is built with Debian 12's packages, and this machine has no apt-get." \
      "See ${PACKAGES_FILE} for what it needs."
  fi

  WORK_DIR="$(mktemp -d)"
  readonly WORK_DIR
  trap 'rm -rf "${WORK_DIR}"' EXIT

  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} -eq 0 ]]; then
    return
  fi
  if [[ "${1:-}" == "--check" ]]; then
    printf '%s\n' "${missing[@]}"
    exit 1
  fi

  echo "setup: installing ${missing[*]}"
  # A failed update is not fatal by itself: the lists that are there may be enough.
  as_root apt-get update < /dev/null || echo "setup: apt-get update failed; going on" >&2
  install_missing || die "apt-get could not install: ${missing[*]}"
}

case "${1:-}" in
  "" | --check) main "$@" ;;
  *) die "unknown argument '$1'; usage: tools/setup.sh [--check]" ;;
esac
