#!/usr/bin/env bash
# `make test`: installs the packages that tests need, then runs formatting, lints and every test of
# the workspace, the black-box suite on SQLite and on PostgreSQL, the SDKs, and the pages in
# Chromium. Independent parts run side by side.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/side_by_side.sh

scripts/install.sh test
scripts/test_tools.sh all
ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
export ORT_DYLIB_PATH

work=$(mktemp -d "$(scripts/postgres.sh folder)/cyclorama-test.XXXXXX")
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
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
# Rules, dashboards, container files and manifests take seconds, so they come before parts that take
# minutes.
scripts/check_infrastructure.sh
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
# As `make run` builds it.
cargo check -p cyclorama -p cyclorama-node --no-default-features --locked --quiet
say "building"
# The black-box tests start the two programs. The whole workspace is built, so that dependencies are
# built once, with one set of features.
cargo build --workspace --locked --quiet
cargo test --workspace --locked --quiet --no-run

# More at a time than there are cores, here and below, because some of them wait.
black_box() { cargo test --workspace --locked --test black_box -- --test-threads 6; }
units() {
    cargo test --workspace --locked --lib --bins --examples -- --test-threads 6
    cargo test --workspace --locked --test node --test occupancy --test tidy --test vectors
    cargo test --workspace --locked --doc
}
# In a browser: user journeys, and every page light and dark, narrow and wide, for accessibility.
# Screenshots stay in tests/browser/pictures.
clients_and_pages() {
    scripts/test_sdks.sh
    for file in tests/browser/*.test.mjs; do
        # One after the other, because each starts a service with a render node.
        node --test "$file"
    done
}

side_by_side "$work" black_box units clients_and_pages
say "all green"
