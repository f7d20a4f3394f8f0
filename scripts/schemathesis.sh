#!/usr/bin/env bash
# Installs Schemathesis from PyPI, outside the checkout, and prints the folder it is in.
set -euo pipefail
version=4.32.5
folder=${CYCLORAMA_CACHE:-$HOME/.cache/cyclorama}/schemathesis-$version
if [ ! -d "$folder" ]; then
    partial=$(mktemp -d "$folder.XXXXXX" 2>/dev/null || { mkdir -p "${folder%/*}"; mktemp -d "$folder.XXXXXX"; })
    python3 -m pip install --quiet --disable-pip-version-check --target "$partial" "schemathesis==$version" >&2 \
        || { rm -rf "$partial"; echo "pip could not install schemathesis==$version" >&2; exit 1; }
    mv -T "$partial" "$folder" 2>/dev/null || rm -rf "$partial"
fi
echo "$folder"
