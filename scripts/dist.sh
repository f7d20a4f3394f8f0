#!/usr/bin/env bash
# `make dist`: makes the files to deploy, fully optimised, in one folder that may be copied to a
# machine with the same or a newer release of Debian or Ubuntu: the two programs, the built-in model
# and ONNX Runtime, which the programs find beside themselves.
# usage: dist.sh FOLDER [programs]     with `programs` the two programs alone, for container images that bring the rest
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:?the folder to fill}
[ "${2:-}" = programs ] || scripts/install.sh run

# AVIF in half the time, with the same bytes. On x86-64 its assembler code needs nasm.
features=()
if [ "$(uname -m)" != x86_64 ] || command -v nasm >/dev/null; then
    features=(--features cyclorama-core/avif-assembler)
else
    echo "dist: nasm is not installed: AVIF pictures will take twice as long to make"
fi
cargo build --release --locked -p cyclorama -p cyclorama-node "${features[@]}"
target=${CARGO_TARGET_DIR:-target}
install -D -t "$folder" "$target/release/cyclorama" "$target/release/cyclorama-node"
[ "${2:-}" != programs ] || exit 0

rm -rf "$folder/models"
mkdir -p "$folder/models"
cp -r models/builtin "$folder/models/"
library=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
install -t "$folder" "$(dirname "$library")"/libonnxruntime*.so
for licence in "$(dirname "$library")"/{LICENSE,ThirdPartyNotices.txt}; do
    # A library of your own may be in a folder without them.
    [ ! -f "$licence" ] || install -m 644 -D -t "$folder/licences/onnxruntime" "$licence"
done
# Both tables are linked into the control plane; each has a notice of the same name.
install -m 644 -D -t "$folder/licences/cyclorama/catalog" catalog/data/NOTICE.md
install -m 644 -D -t "$folder/licences/cyclorama/vin" vin/data/NOTICE.md
echo "dist: $folder is complete; docs/operations/one-machine.md says how to install it"
