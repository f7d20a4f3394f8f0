#!/usr/bin/env bash
# `make abuse`: tests a service against floods that try to make it slow or full. It runs on this
# machine alone, for some minutes, and leaves nothing behind.
# usage: abuse.sh [--minutes N] [--postgres]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh run
if [[ " $* " == *" --postgres "* ]] && [ -z "${CYCLORAMA_TEST_POSTGRES_URL:-}" ]; then
    folder=$(mktemp -d)
    trap 'scripts/postgres.sh stop "$folder"; rm -rf "$folder" "$folder.initdb.log"' EXIT
    CYCLORAMA_TEST_POSTGRES_URL=$(scripts/postgres.sh start "$folder")
    export CYCLORAMA_TEST_POSTGRES_URL
fi
cargo build --release --locked --quiet -p cyclorama -p cyclorama-tests
# From the package's folder, as tests run.
(cd tests && "$CARGO_TARGET_DIR/release/cyclorama-abuse" "$@")
