#!/usr/bin/env bash
# `make run`: installs missing packages, builds, starts the service, makes a demo account and key at
# the first start, and prints the addresses to open. Safe to repeat.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh run
ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
export ORT_DYLIB_PATH
echo "building (the first time takes some ten minutes on two cores; what is deployed is built by \`make dist\`)"
# Cargo's bar counts the finished crates. If its output is not a terminal, cargo must be told to
# show the bar, and its width.
[ -t 2 ] || export CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=100
cargo build --profile first-run --no-default-features --locked -p cyclorama -p cyclorama-node \
    || { echo "run: the build failed; the compiler's message is above" >&2; exit 1; }
bin=$CARGO_TARGET_DIR/first-run
echo "starting"

export CYCLORAMA_DATA_DIR=${CYCLORAMA_DATA_DIR:-$PWD/data}
export CYCLORAMA_LISTEN=${CYCLORAMA_LISTEN:-127.0.0.1:8080}
base=${CYCLORAMA_BASE_URL:-http://$CYCLORAMA_LISTEN}
# Balances and secrets are in it, so nobody else may read it.
mkdir -p -m 700 "$CYCLORAMA_DATA_DIR"

# In a separate process group, so that Ctrl-C reaches this script alone: it signals the service
# once, and waits until the service has ended. A second Ctrl-C is passed on as well, and ends the
# service at once.
set -m
"$bin/cyclorama" serve </dev/null &
service=$!
set +m
trap 'kill -TERM $service 2>/dev/null || true' INT TERM HUP EXIT
for _ in $(seq 1 120); do
    kill -0 $service 2>/dev/null || { wait $service; exit 1; }
    curl -fsS -o /dev/null "$base/readyz" 2>/dev/null && break
    sleep 0.5
done
curl -fsS -o /dev/null "$base/readyz" || { echo "run: the service did not become ready within a minute; its log is above" >&2; kill $service; exit 1; }

key_file=$CYCLORAMA_DATA_DIR/demo-key
if [ ! -s "$key_file" ]; then
    account=$("$bin/cyclorama" account create --email demo@example.com --credits 10000 --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["account_id"])')
    (umask 077; "$bin/cyclorama" key create --account "$account" --name demo --json \
        | python3 -c 'import json,sys; print(json.load(sys.stdin)["key"])' >"$key_file")
fi

cat <<TEXT

  Cyclorama is running:  $base
  demo key:              $key_file   (10,000 credits at first)
  a picture for one credit:

    curl -H "Authorization: Bearer \$(cat $key_file)" -o 911.png \\
      "$base/api/v1/images/car?make=porsche&model=911&year=2024&view=front-3-4&color=red"

  Ctrl-C stops it.

TEXT

# The images of the page, as they are rendered.
pictures() {
    local began=$SECONDS ready=0 now total
    while read -r now total < <(curl -fsS "$base/api/examples" 2>/dev/null \
        | python3 -c 'import json, sys; told = json.load(sys.stdin); print(told["ready"], told["total"])' 2>/dev/null); do
        [ "$now" -eq "$ready" ] || echo "  $now of $total pictures of the page after $((SECONDS - began)) s"
        ready=$now
        [ "$ready" -lt "$total" ] || return 0
        sleep 1
    done
}
[ "${CYCLORAMA_NODE:-embedded}" = none ] || pictures &
# A signal ends `wait`, but not yet the service.
while :; do
    wait $service && ended=0 || ended=$?
    kill -0 $service 2>/dev/null || exit $ended
done
