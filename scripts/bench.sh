#!/usr/bin/env bash
# `make bench`: cold render by stage, paint job, cached delivery, and imaging beside sharp from npm in
# the same run; the model by provider and batch, and the network alone in Python; then cached delivery beside nginx, and catalog search beside a linear scan.
# Prints a table; nothing is asserted.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh run
scripts/install.sh bench
ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
export ORT_DYLIB_PATH

# Pinned by the folder's name; kept outside the checkout.
sharp=$CYCLORAMA_CACHE/sharp-0.35.5
if [ ! -d "$sharp/node_modules/sharp" ]; then
    mkdir -p "$sharp"
    npm install --silent --no-audit --no-fund --prefix "$sharp" sharp@0.35.5 \
        || { echo "bench: npm could not install sharp@0.35.5" >&2; exit 1; }
fi
cargo build --release --locked --quiet -p cyclorama -p cyclorama-node -p cyclorama-tests
# From the package's folder, as tests run.
(cd tests && "$CARGO_TARGET_DIR/release/cyclorama-bench" --sharp "$sharp")
# The built-in model on each execution provider that there is a pinned build with.
for library in "$ORT_DYLIB_PATH" "$([ "$(uname -m)" != x86_64 ] || scripts/onnxruntime.sh openvino)"; do
    [ -z "$library" ] || ORT_DYLIB_PATH=$library CYCLORAMA_NODE_MODELS=models/builtin \
        "$CARGO_TARGET_DIR/release/cyclorama-node" bench --turns 9 2>/dev/null
done
onnxruntime=$(scripts/python_package.sh onnxruntime 1.31.1)
PYTHONPATH=$onnxruntime python3 models/time_model.py
(cd tests && "$CARGO_TARGET_DIR/release/cyclorama-bench-delivery")
cargo bench --locked --quiet -p cyclorama --bench search
