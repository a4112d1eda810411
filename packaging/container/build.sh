#!/bin/sh
# Builds the image with buildah or podman: `build.sh [EXECUTABLE] [TAG]`.
# No base image is pulled: everything comes from the executable and from Debian's packages.
set -eu
cd "$(dirname "$0")"

version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' ../../package.json)
platform=$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
executable=$(realpath "${1:-../../release/todoitems-linux-$platform}")
tag=${2:-todoitems:$version}
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

created=${SOURCE_DATE_EPOCH:-$(date +%s)}

mkdir "$context/root" "$context/data"
./make-root.sh "$executable" "$context/root"
# A tar file keeps owners and permissions, whoever runs this.
archive() { tar --sort=name --mtime="@$created" --numeric-owner --file "$context/root.tar" --directory "$context" "$@"; }
archive --create --owner=0 --group=0 --transform='s#^root#.#' root
archive --append --owner=65532 --group=65532 --mode=0700 data
cp Containerfile "$context/"

set -- --format docker --file "$context/Containerfile" --tag "$tag" \
  --build-arg VERSION="$version" \
  --build-arg REVISION="$(git rev-parse HEAD 2>/dev/null || echo unknown)" \
  --build-arg CREATED="$(date -u -d "@$created" +%Y-%m-%dT%H:%M:%SZ)" "$context"
if command -v buildah >/dev/null; then buildah build "$@"; else podman build "$@"; fi
