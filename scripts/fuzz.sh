#!/usr/bin/env bash
# `make fuzz`: runs libFuzzer on the parsers of free text, for FUZZ_SECONDS each (60). Inputs that
# break something are left in fuzz/artifacts. The corpus is stored outside the checkout, and the
# next run continues from it.
set -euo pipefail
cd "$(dirname "$0")/.."
rustup toolchain list | grep -q '^nightly' || rustup toolchain install nightly --profile minimal
command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz
export CARGO_TARGET_DIR=$CYCLORAMA_CACHE/target-fuzz
for target in search resolve; do
    corpus=$CYCLORAMA_CACHE/fuzz-corpus/$target
    mkdir -p "$corpus"
    # Starts from real queries.
    grep -v '^#' catalog/src/resolve/golden.tsv | cut -f1 | split -l 1 -a 4 - "$corpus/golden-"
    # No sanitizer: there is no unsafe code of ours to check, and it would halve the speed.
    cargo +nightly fuzz run --sanitizer none "$target" "$corpus" -- \
        -max_total_time="${FUZZ_SECONDS:-60}" -max_len=256 -timeout=5 -print_final_stats=1
done
