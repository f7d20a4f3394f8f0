#!/usr/bin/env bash
# `make bench`: measures cold render by stage, paint job, cached delivery, and imaging beside sharp
# from npm in the same run; the model by provider and batch, and the network alone in Python; a
# text-to-image pipeline beside Optimum's; then cached delivery beside nginx, catalog search beside
# a linear scan, and pages of a statement with a million entries. It prints a table and asserts
# nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh run
scripts/install.sh bench
ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
export ORT_DYLIB_PATH

# Pinned by the folder's name, and stored outside the checkout.
sharp=$CYCLORAMA_CACHE/sharp-0.35.5
if [ ! -d "$sharp/node_modules/sharp" ]; then
    mkdir -p "$sharp"
    npm install --silent --no-audit --no-fund --prefix "$sharp" sharp@0.35.5 \
        || { echo "bench: npm could not install sharp@0.35.5" >&2; exit 1; }
fi
cargo build --release --locked --quiet -p cyclorama -p cyclorama-node -p cyclorama-tests
# From the package's folder, as tests run.
(cd tests && "$CARGO_TARGET_DIR/release/cyclorama-bench" --sharp "$sharp")
# The built-in model on each execution provider for which there is a pinned build.
for library in "$ORT_DYLIB_PATH" "$([ "$(uname -m)" != x86_64 ] || scripts/onnxruntime.sh openvino)"; do
    [ -z "$library" ] || ORT_DYLIB_PATH=$library CYCLORAMA_NODE_MODELS=models/builtin \
        "$CARGO_TARGET_DIR/release/cyclorama-node" bench --turns 9 2>/dev/null
done
onnxruntime=$(scripts/python_package.sh onnxruntime 1.31.1)
PYTHONPATH=$onnxruntime python3 models/time_model.py
# A text-to-image pipeline with random weights, here and in Python. Torch makes it three gigabytes
# of packages, which are fetched once.
requirements=models/requirements-export.txt
tools=$CYCLORAMA_CACHE/export-tools-$(sha256sum "$requirements" | cut -c1-12)
if [ ! -d "$tools" ]; then
    rm -rf "$tools.partial"
    python3 -m pip install --quiet --disable-pip-version-check --target "$tools.partial" -r "$requirements" \
        || { echo "bench: pip could not install $requirements" >&2; exit 1; }
    mv "$tools.partial" "$tools"
fi
checkpoint=$CYCLORAMA_CACHE/random-checkpoint-1
if [ ! -d "$checkpoint" ]; then
    PYTHONPATH=$tools python3 models/random_checkpoint.py make "$checkpoint.partial"
    mv "$checkpoint.partial" "$checkpoint"
fi
PYTHONPATH=$tools CYCLORAMA_BENCH_CHECKPOINT=$checkpoint CYCLORAMA_BENCH_PYTHON=python3 \
    cargo bench --locked --quiet -p cyclorama-node --bench text_to_image
(cd tests && "$CARGO_TARGET_DIR/release/cyclorama-bench-delivery")
cargo bench --locked --quiet -p cyclorama-catalog --bench search
cargo bench --locked --quiet -p cyclorama --bench statement
