#!/usr/bin/env bash
# `make dist`: the programs as they are deployed, optimised in full, and what they need beside them.
# usage: dist.sh FOLDER     FOLDER/bin has the programs, FOLDER/models the built-in model, FOLDER/onnxruntime the library
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:?the folder to fill}

cargo build --release --locked -p cyclorama -p cyclorama-node
target=${CARGO_TARGET_DIR:-target}
install -D -t "$folder/bin" "$target/release/cyclorama" "$target/release/cyclorama-node"
mkdir -p "$folder/models" "$folder/onnxruntime"
cp -r models/builtin "$folder/models/"
cp "$(dirname "$(scripts/onnxruntime.sh)")"/* "$folder/onnxruntime/"
echo "dist: $folder has bin, models and onnxruntime; the containers are built from them (docs/operations)"
