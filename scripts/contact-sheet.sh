#!/usr/bin/env bash
# `make contact-sheet`: views x body classes x colours, rendered by the real pipeline, in out/contact-sheet.png.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh run
ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
export ORT_DYLIB_PATH
mkdir -p out
# With the service, as `make run` does: the same features, so nothing is built twice.
cargo build --release --locked --quiet -p cyclorama -p cyclorama-node
"$CARGO_TARGET_DIR/release/cyclorama-node" contact-sheet --out out/contact-sheet.png
echo "out/contact-sheet.png"
