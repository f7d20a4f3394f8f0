#!/usr/bin/env bash
# `make test`: installs what tests need, then formatting, lints and every test of the workspace, the black-box suite on
# SQLite and on PostgreSQL, the pages in Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh test
ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
export ORT_DYLIB_PATH
# Another build of it, which exists for x86-64 only.
if [ "$(uname -m)" = x86_64 ]; then
    CYCLORAMA_TEST_OPENVINO=${CYCLORAMA_TEST_OPENVINO:-$(scripts/onnxruntime.sh openvino)}
    export CYCLORAMA_TEST_OPENVINO
fi
CYCLORAMA_TEST_SCHEMATHESIS=${CYCLORAMA_TEST_SCHEMATHESIS:-$(scripts/python_package.sh schemathesis 4.32.5)}
export CYCLORAMA_TEST_SCHEMATHESIS
# A stand-in for Stripe (GPL-3.0: a program that tests run, linked by nothing).
CYCLORAMA_TEST_LOCALSTRIPE=${CYCLORAMA_TEST_LOCALSTRIPE:-$(scripts/python_package.sh localstripe 1.15.10)}
export CYCLORAMA_TEST_LOCALSTRIPE

# An S3 server that is not ours, as the in-process one is not either.
CYCLORAMA_TEST_MOTO=${CYCLORAMA_TEST_MOTO:-$(scripts/python_package.sh moto 5.2.5 '[server,s3]')}
export CYCLORAMA_TEST_MOTO

# The official Python client of the Model Context Protocol.
CYCLORAMA_TEST_MCP=${CYCLORAMA_TEST_MCP:-$(scripts/python_package.sh mcp 2.3.0)}
export CYCLORAMA_TEST_MCP

# An OpenID Connect provider to sign in with; the protocol's TypeScript clients and conformance suite, with a Node.js for them.
npm ci --prefix tests/oidc --no-audit --no-fund --silent
npm ci --prefix tests/mcp --no-audit --no-fund --silent

postgres=$(mktemp -d /tmp/cyclorama-postgres.XXXXXX)
trap 'scripts/postgres.sh stop "$postgres"; rm -rf "$postgres" "$postgres.initdb.log"' EXIT
CYCLORAMA_TEST_POSTGRES_URL=$(scripts/postgres.sh start "$postgres")
export CYCLORAMA_TEST_POSTGRES_URL

# Rules, boards, container files, manifests: seconds, so before what takes minutes.
scripts/check_infrastructure.sh

cargo fmt --all --check
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
# The black-box tests start the two programs. The whole workspace, so that dependencies are built once, with one set of features.
cargo build --workspace --locked --quiet
cargo test --workspace --locked

# The SDKs' shared scenarios against a real service.
scripts/test_sdks.sh

# In a browser: what people do, every page light and dark, narrow and wide, for accessibility. Pictures of them stay in tests/browser/pictures.
npm ci --prefix tests/browser --no-audit --no-fund --silent
for file in tests/browser/*.test.mjs; do
    # One after the other: each starts a service with a render node.
    node --test "$file"
done
