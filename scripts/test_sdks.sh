#!/usr/bin/env bash
# Tests the SDKs against a real service: starts one with a render node, makes accounts and keys,
# runs the tests of each SDK, and stops it. On SQLite, and again on PostgreSQL if
# CYCLORAMA_TEST_POSTGRES_URL names a server.
# usage: test_sdks.sh [FOLDER OF WHAT `cargo build --workspace --bins --examples` MADE] (default: the debug build)
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
binaries=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/debug}")
python=${CYCLORAMA_TEST_PYTHON:-python3}

if [ -n "${CYCLORAMA_TEST_POSTGRES_URL:-}" ]; then
    server=$CYCLORAMA_TEST_POSTGRES_URL
    unset CYCLORAMA_TEST_POSTGRES_URL
    failed=0
    "$root/scripts/test_sdks.sh" "$binaries" || failed=1
    database=sdks_$(date +%s)_$$
    "$(scripts/postgres.sh bindir)/psql" --quiet "$server/postgres" --command "create database $database"
    CYCLORAMA_DATABASE_URL=$server/$database "$root/scripts/test_sdks.sh" "$binaries" || failed=1
    exit "$failed"
fi

folder=$(mktemp -d /tmp/cyclorama-sdks.XXXXXX)
service=
finish() {
    status=$?
    [ -z "$service" ] || { kill "$service" 2>/dev/null && wait "$service" || true; }
    [ "$status" -eq 0 ] || grep -E '"level":"(WARN|ERROR)"' "$folder/service.log" | tail -n 20 >&2
    rm -rf "$folder"
    exit "$status"
}
trap finish EXIT

free_port() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
CYCLORAMA_LISTEN=127.0.0.1:$(free_port)
CYCLORAMA_ADMIN_LISTEN=127.0.0.1:$(free_port)
export CYCLORAMA_LISTEN CYCLORAMA_ADMIN_LISTEN CYCLORAMA_DATA_DIR=$folder/data CYCLORAMA_MODELS=$root/models CYCLORAMA_PAYMENTS=local
ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
export ORT_DYLIB_PATH
unset CYCLORAMA_KEY CYCLORAMA_CONFIG
url=http://$CYCLORAMA_LISTEN

(cd "$folder" && exec "$binaries/cyclorama" serve >"$folder/service.log" 2>&1) &
service=$!
for _ in $(seq 300); do
    curl --silent --fail --output /dev/null "$url/readyz" && break
    kill -0 "$service" 2>/dev/null || { echo "test_sdks: the service stopped at its start" >&2; exit 1; }
    sleep 0.2
done
curl --silent --fail --output /dev/null "$url/readyz" || { echo "test_sdks: the service is not ready after a minute" >&2; exit 1; }

operator() { (cd "$folder" && "$binaries/cyclorama" "$@" --json); }
field() { "$python" -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
account() { operator account create --email "$1@example.com" --credits "$2" | field account_id; }
mint() {
    curl --silent --fail --header "Authorization: Bearer $1" --header "Content-Type: application/json" --data \
        "{\"images\": [{\"make\": \"honda\", \"model\": \"civic\", \"year\": 2018, \"color\": \"red\", \"width\": 256}], \"ttl_seconds\": $2}" \
        "$url/api/v1/image-urls" | "$python" -c 'import json, sys; print(json.load(sys.stdin)["data"][0]["url"])'
}

main=$(account main 1000)
broke=$(account broke 0)
made=$(operator key create --account "$main" --rate-limit 100000)
CYCLORAMA_TEST_MAIN_KEY=$(field key <<<"$made")
CYCLORAMA_TEST_PARTNER_SECRET=$(operator partner-secret create --key "$(field key_id <<<"$made")" | field secret)
CYCLORAMA_TEST_BROKE_KEY=$(operator key create --account "$broke" | field key)
CYCLORAMA_TEST_IMAGES_KEY=$(operator key create --account "$main" --scopes images:read | field key)
CYCLORAMA_TEST_ACCOUNT_KEY=$(operator key create --account "$main" --scopes account:read | field key)
CYCLORAMA_TEST_CAPPED_KEY=$(operator key create --account "$main" --monthly-cap 1 | field key)
CYCLORAMA_TEST_LIMITED_KEY=$(operator key create --account "$main" --rate-limit 1 | field key)
CYCLORAMA_TEST_WRONG_KEY=cyc_nobodys
revoked=$(operator key create --account "$main")
CYCLORAMA_TEST_REVOKED_KEY=$(field key <<<"$revoked")
CYCLORAMA_TEST_REVOKED_URL=$(mint "$CYCLORAMA_TEST_REVOKED_KEY" 3600)
operator key revoke "$(field key_id <<<"$revoked")" >"$folder/revoked.json"
CYCLORAMA_TEST_EXPIRING_URL=$(mint "$CYCLORAMA_TEST_MAIN_KEY" 60)
CYCLORAMA_TEST_EXPIRING_AT=$(($(date +%s) + 61))
export CYCLORAMA_TEST_MAIN_KEY CYCLORAMA_TEST_PARTNER_SECRET CYCLORAMA_TEST_BROKE_KEY CYCLORAMA_TEST_IMAGES_KEY \
    CYCLORAMA_TEST_ACCOUNT_KEY CYCLORAMA_TEST_CAPPED_KEY CYCLORAMA_TEST_LIMITED_KEY CYCLORAMA_TEST_WRONG_KEY CYCLORAMA_TEST_REVOKED_KEY \
    CYCLORAMA_TEST_REVOKED_URL CYCLORAMA_TEST_EXPIRING_URL CYCLORAMA_TEST_EXPIRING_AT
export CYCLORAMA_URL=$url

# All of them run, also if one fails.
failed=0
(cd sdk/rust && "$binaries/cyclorama-sdk-scenarios") || failed=1
(cd sdk/python && PYTHONPATH=src "$python" -W error -m unittest discover --start-directory tests) || failed=1
(cd sdk/typescript && npm ci --no-audit --no-fund --silent && npx tsc && node --test --test-concurrency=1 tests/) || failed=1
exit "$failed"
