#!/usr/bin/env bash
# Installs a program from PyPI that tests run, outside the checkout, and prints its folder. usage:
# python_package.sh NAME VERSION [EXTRAS]
set -euo pipefail
package="$1${3:-}==$2"
folder=${CYCLORAMA_CACHE:-$HOME/.cache/cyclorama}/$1-$2
if [ ! -d "$folder" ]; then
    partial=$(mktemp -d "$folder.XXXXXX" 2>/dev/null || { mkdir -p "${folder%/*}"; mktemp -d "$folder.XXXXXX"; })
    python3 -m pip install --quiet --disable-pip-version-check --target "$partial" "$package" >&2 \
        || { rm -rf "$partial"; echo "pip could not install $package" >&2; exit 1; }
    mv -T "$partial" "$folder" 2>/dev/null || rm -rf "$partial"
fi
echo "$folder"
