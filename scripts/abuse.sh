#!/usr/bin/env bash
# `make abuse`: how a service stands up to everybody who wants to make it slow or full. On this machine alone, for some minutes; leaves nothing.
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
