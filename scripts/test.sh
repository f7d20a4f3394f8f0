#!/usr/bin/env bash
# `make test`: installs what tests need, then formatting, lints and every test of the workspace, the black-box suite on
# SQLite and on PostgreSQL, the SDKs, the pages in Chromium. Parts that do not need each other run side by side.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/side_by_side.sh

scripts/install.sh test
scripts/test_tools.sh all
ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
export ORT_DYLIB_PATH

work=$(mktemp -d /tmp/cyclorama-test.XXXXXX)
finish() {
    end_parts
    scripts/postgres.sh stop "$work/postgres"
    rm -rf "$work"
}
trap finish EXIT
CYCLORAMA_TEST_POSTGRES_URL=$(mkdir "$work/postgres" && chmod 755 "$work" && scripts/postgres.sh start "$work/postgres")
export CYCLORAMA_TEST_POSTGRES_URL

say "formatting, infrastructure, lints"
cargo fmt --all --check
# Rules, boards, container files, manifests: seconds, so before what takes minutes.
scripts/check_infrastructure.sh
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
# As `make run` builds it.
cargo check -p cyclorama -p cyclorama-node --no-default-features --locked --quiet
say "building"
# The black-box tests start the two programs. The whole workspace, so that dependencies are built once, with one set of features.
cargo build --workspace --locked --quiet
cargo test --workspace --locked --quiet --no-run

# Twice as many at a time as two cores have: some of them wait.
black_box() { cargo test --workspace --locked --test black_box -- --test-threads 4; }
units() {
    cargo test --workspace --locked --lib --bins --examples
    cargo test --workspace --locked --test node --test occupancy --test tidy --test vectors
    cargo test --workspace --locked --doc
}
# In a browser: what people do, every page light and dark, narrow and wide, for accessibility. Pictures of them stay in tests/browser/pictures.
clients_and_pages() {
    scripts/test_sdks.sh
    for file in tests/browser/*.test.mjs; do
        # One after the other: each starts a service with a render node.
        node --test "$file"
    done
}

# Beside the black-box tests, some of which wait.
units_then_clients() {
    units
    clients_and_pages
}
side_by_side "$work" black_box units_then_clients
say "all green"
