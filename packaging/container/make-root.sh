#!/bin/sh
# Makes the root folder of the image from an executable and Debian's C library:
#   make-root.sh EXECUTABLE FOLDER
# It needs apt-get and dpkg-deb, and no rights of root.
set -eu

executable=$1
folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$work" && apt-get download -q -o APT::Sandbox::User="$(id -un)" libc6 >/dev/null)
dpkg-deb --extract "$work"/libc6_*.deb "$work/libc6"

mkdir -p "$folder/usr/bin" "$folder/etc" "$folder/tmp" "$folder/usr/share/doc/libc6" "$folder/var/lib/dpkg/status.d"
chmod 1777 "$folder/tmp"
cp "$executable" "$folder/usr/bin/todoitems"
chmod 755 "$folder/usr/bin/todoitems"
# The licences of what is inside, which the build of the executables writes beside them.
licences=$(dirname "$executable")/LICENCES.txt
if [ -e "$licences" ]; then install -D -m 0644 "$licences" "$folder/usr/share/doc/todoitems/copyright"; fi

# The libraries that the executable names, and those that find host names.
libraries=$(find "$work/libc6" -name 'ld-linux-*.so.*' -o -name libc.so.6 -o -name libm.so.6 -o -name libdl.so.2 \
  -o -name libpthread.so.0 -o -name librt.so.1 -o -name libresolv.so.2 -o -name libnss_dns.so.2 -o -name libnss_files.so.2)
for library in $libraries; do
  target=$folder${library#"$work/libc6"}
  mkdir -p "$(dirname "$target")"
  cp -a "$library" "$target"
done

# Scanners for vulnerabilities look here for the version of a package.
cp "$work/libc6/usr/share/doc/libc6/copyright" "$folder/usr/share/doc/libc6/"
dpkg-deb --field "$work"/libc6_*.deb >"$folder/var/lib/dpkg/status.d/libc6"

printf 'root:x:0:0:root:/:/sbin/nologin\ntodoitems:x:65532:65532:todoitems:/data:/sbin/nologin\n' >"$folder/etc/passwd"
printf 'root:x:0:\ntodoitems:x:65532:\n' >"$folder/etc/group"
printf 'hosts: files dns\n' >"$folder/etc/nsswitch.conf"
cp /usr/share/base-files/os-release "$folder/etc/os-release" 2>/dev/null || cp /etc/os-release "$folder/etc/os-release"
