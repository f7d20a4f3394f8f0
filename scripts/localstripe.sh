#!/usr/bin/env bash
# Installs localstripe (a stand-in for Stripe, GPL-3.0: a program that tests run, linked by nothing) from PyPI, outside the checkout, and
# prints the folder it is in.
set -euo pipefail
version=1.15.10
folder=${CYCLORAMA_CACHE:-$HOME/.cache/cyclorama}/localstripe-$version
if [ ! -d "$folder" ]; then
    partial=$(mktemp -d "$folder.XXXXXX" 2>/dev/null || { mkdir -p "${folder%/*}"; mktemp -d "$folder.XXXXXX"; })
    python3 -m pip install --quiet --disable-pip-version-check --target "$partial" "localstripe==$version" >&2 \
        || { rm -rf "$partial"; echo "pip could not install localstripe==$version" >&2; exit 1; }
    mv -T "$partial" "$folder" 2>/dev/null || rm -rf "$partial"
fi
echo "$folder"
