#!/bin/sh
# Installs a package in a clean Debian, uses it, removes it, and compares the file system before and after:
#   try-deb.sh PACKAGE [FOLDER]
# It needs root, debootstrap and a Debian mirror. FOLDER is a clean tree from debootstrap, which is copied.
set -eu

package=$(realpath "$1")
clean=${2:-}
work=$(mktemp -d)
root=$work/root
service=
clean_up() {
  if [ -n "$service" ]; then kill "$service" 2>/dev/null || true; fi
  umount "$root/proc" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

if [ -n "$clean" ]; then
  cp -a "$clean" "$root"
else
  debootstrap --variant=minbase bookworm "$root" >/dev/null
fi
mount -t proc proc "$root/proc"
cp "$package" "$root/tmp/package.deb"
# Logs and caches of apt and dpkg change by themselves.
list() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./run -o -path ./tmp -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt -o -path ./var/lib/dpkg \) -prune -o -print | sort)
}
inside() {
  ${in_place:-} chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C "$@"
}

list >"$work/before"
inside apt-get update -q >/dev/null
inside apt-get install -y -q -o Dpkg::Use-Pty=0 --no-install-recommends /tmp/package.deb >/dev/null
echo "installed: $(inside todoitems --version), settings $(inside stat -c '%A %U:%G' /etc/todoitems/environment)"

# systemd does not run in here, so this makes the folder that StateDirectory= makes, and starts the program as the unit does.
inside install -d -o todoitems -g todoitems -m 0700 /var/lib/todoitems
as_service() {
  inside setpriv --reuid=todoitems --regid=todoitems --clear-groups --no-new-privs \
    env HOME=/var/lib/todoitems TODOITEMS_STORE=sqlite:/var/lib/todoitems/todoitems.db TODOITEMS_PORT=5999 "$@"
}
# With exec, the process in the background is the service itself.
(in_place="exec" && as_service todoitems serve) >"$work/log" 2>&1 &
service=$!
for _ in $(seq 100); do
  if as_service todoitems healthcheck >/dev/null 2>&1; then break; fi
  sleep 0.1
done
as_service todoitems healthcheck
as_service todoitems add Buy milk --server http://127.0.0.1:5999/
as_service todoitems list --server http://127.0.0.1:5999/
as_service todoitems doctor
# The package is updated while the service runs.
inside apt-get install -y -q -o Dpkg::Use-Pty=0 --reinstall --no-install-recommends /tmp/package.deb >/dev/null
kill -TERM "$service"
wait "$service"
service=
as_service todoitems check

inside apt-get remove -y -q -o Dpkg::Use-Pty=0 todoitems >/dev/null
test -e "$root/etc/todoitems/environment"
test -e "$root/var/lib/todoitems/todoitems.db"
test ! -e "$root/usr/bin/todoitems"
inside apt-get purge -y -q -o Dpkg::Use-Pty=0 todoitems
test -e "$root/var/lib/todoitems/todoitems.db"
inside rm -r /var/lib/todoitems
inside deluser --quiet --system todoitems
list >"$work/after"
# The lists of users have backups beside them.
if diff "$work/before" "$work/after" | grep '^[<>]' | grep -v '^> \./etc/[a-z]*-$'; then
  echo "error: the package left something behind" >&2
  exit 1
fi
echo "removed: nothing is left"
