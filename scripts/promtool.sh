#!/usr/bin/env bash
# Prints the path of Prometheus's own checker. It is extracted from Debian's package without
# installing it: before Debian 13 it is part of the package prometheus, which would start a
# Prometheus on the port of our operator address. usage: promtool.sh
set -euo pipefail
command -v promtool && exit 0

folder=${CYCLORAMA_CACHE:-$HOME/.cache/cyclorama}/promtool
if [ ! -x "$folder/promtool" ]; then
    mkdir -p "${folder%/*}"
    partial=$(mktemp -d "$folder.XXXXXX")
    trap 'rm -rf "$partial"' EXIT
    # As a user other than root, apt cannot drop its privileges there. It prints a warning, which
    # does not matter.
    download() { (cd "$partial" && apt-get download -o APT::Sandbox::User=root "$1" >"$partial/log" 2>&1); }
    fetch() { download promtool || download prometheus; }
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    fetch || { "${as_root[@]}" apt-get update >/dev/null 2>&1 && fetch; } || {
        echo "promtool: apt-get could fetch neither the package promtool nor prometheus:" \
            "$(grep -m1 '^E:' "$partial/log" || tail -n 1 "$partial/log")" >&2
        exit 1
    }
    dpkg-deb -x "$partial"/prom*_*.deb "$partial/package"
    mkdir "$partial/ready"
    mv "$partial/package/usr/bin/promtool" "$partial/ready/promtool"
    mv -T "$partial/ready" "$folder" 2>/dev/null || [ -x "$folder/promtool" ]
fi
echo "$folder/promtool"
