#!/usr/bin/env bash
# Writes vin/data/vpic.bin from vPIC's tables, which the `ultravin` package carries. Each version of
# the package has the tables of one month. For another month, change the version here and in
# Cargo.toml, then write the fixture again (vin/tests/make_reference.py).
set -euo pipefail
cd "$(dirname "$0")"
version=3.0.2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --no-deps --only-binary :all: --platform manylinux2014_x86_64 --python-version 3.11 \
    --dest "$work" "ultravin==$version"
python3 -m zipfile -e "$work"/ultravin-*.whl "$work/wheel"
cargo fetch --locked --quiet
manifest=$(ls -d "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"ultravin-$version"/data/manifest.json | head -1)
cargo run --locked --quiet -- "$work/wheel/ultravin/_ultravin.abi3.so" "$manifest" ../data/vpic.bin
