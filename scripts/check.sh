#!/usr/bin/env bash
# `make check`: what to run while working: formatting, lints, unit tests, and the black-box tests that draw nothing, on SQLite and on a
# PostgreSQL that stays up. `make test` runs everything.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh test
CYCLORAMA_TEST_POSTGRES_URL=$(scripts/postgres.sh shared)
export CYCLORAMA_TEST_POSTGRES_URL

cargo fmt --all --check
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
# Always the whole workspace: a part of it would build dependencies again with other features.
cargo build --workspace --locked --quiet
cargo test --workspace --locked --lib --bins
cargo test --workspace --locked --test tidy
cargo test --workspace --locked --test black_box -- --skip rendering:: --test-threads 4
