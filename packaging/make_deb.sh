#!/bin/bash
#
# Makes one Debian package, with the same bytes for the same files.
#
# Usage: make_deb.sh OUT.deb PACKAGE CONTROL CHANGELOG COPYRIGHT LIBRARY INSTALL_FILES PATH=FILE... PATH->TARGET...
#   CONTROL .. COPYRIGHT  as Debian's source packages have them
#   LIBRARY               libingot.so.0, which other packages may need
#   the rest              install_files.sh and its words, for /usr

set -euo pipefail

out="$(realpath "$1")"
package="$2"
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT
root="${work}/root"
mkdir -p "${work}/debian" "${root}/DEBIAN"
cp "$3" "${work}/debian/control"
cp "$4" "${work}/debian/changelog"

documents="${root}/usr/share/doc/${package}"
install -D --mode=644 "$5" "${documents}/copyright"
gzip -9n < "$4" > "${documents}/changelog.gz"
library_dir="$(dirname "$(realpath "$6")")"
install_files="$7"
shift 7
"${install_files}" "${root}/usr" "$@"
find "${root}" -type d -exec chmod 755 {} +

cd "${work}"
# dpkg-shlibdeps finds the packages with the libraries that ours need. libingot's own is said by its package.
echo "libingot 0 libingot (= $(dpkg-parsechangelog --show-field Version))" > debian/shlibs.local
mapfile -t native < <(find "${root}/usr/bin" "${root}/usr/lib" -type f \( -path '*/bin/*' -o -name '*.so*' \) 2> /dev/null)
if [[ ${#native[@]} -gt 0 ]]; then
  dpkg-shlibdeps -l"${library_dir}" -O "${native[@]}" > substvars
fi
if [[ "${package}" == libingot ]]; then
  echo "activate-noawait ldconfig" > "${root}/DEBIAN/triggers"
  cp debian/shlibs.local "${root}/DEBIAN/shlibs"
fi
touch substvars
dpkg-gencontrol -p"${package}" -P"${root}" -Tsubstvars -n"${package}.deb" -fdebian/files > /dev/null
(cd "${root}" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum > DEBIAN/md5sums)
chmod 644 "${root}"/DEBIAN/*
SOURCE_DATE_EPOCH="$(dpkg-parsechangelog --show-field Timestamp)" \
  dpkg-deb --root-owner-group -Zxz --build "${root}" "${out}" > /dev/null
