#!/usr/bin/env bash
# Runs a whole farm on this machine with simulated failures: see tests/src/bin/cyclorama-farm-trial.
# Needs root, for network namespaces. HAProxy and faketime (GPL-2.0) are programs that the trial
# runs; nothing of ours is linked with them.
# usage: farm-trial.sh [--pictures NUMBER]   (10,000 unless told otherwise; some twenty minutes on two cores)
set -euo pipefail
cd "$(dirname "$0")/.."
export CYCLORAMA_CACHE=${CYCLORAMA_CACHE:-$HOME/.cache/cyclorama}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$CYCLORAMA_CACHE/target}
scripts/install.sh trial
ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
export ORT_DYLIB_PATH
cargo build --locked --quiet --workspace
# From the package's folder, as tests run.
cd tests && exec "$CARGO_TARGET_DIR/debug/cyclorama-farm-trial" "$@"
