#!/usr/bin/env bash
# Makes the secrets of the compose file, each at random, in the folder `secrets` beside it. Existing
# files stay as they are. With a node token on standard input (`cyclorama node-token create --json`)
# it makes the node's settings. usage: secrets.sh [node]
set -euo pipefail
cd "$(dirname "$0")"
# Programs in containers run as separate users and read these files, so the folder keeps other
# people out.
mkdir -p secrets
chmod 700 secrets

random() { od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }

# make NAME: writes standard input to a file, unless the file exists.
make() {
    if [ -e "secrets/$1" ]; then cat >/dev/null; else cat >"secrets/$1" && chmod 644 "secrets/$1"; fi
}

if [ "${1:-}" = node ]; then
    token=$(grep -o 'cycn_[A-Za-z0-9_-]*') || { echo "secrets: no node token (cycn_...) on standard input" >&2; exit 1; }
    rm -f secrets/node.toml
    printf 'token = "%s"\n' "$token" | make node.toml
    exit 0
fi

random 24 | make database-password
random 12 | make grafana-password
if [ ! -e secrets/store-credentials ]; then
    access=$(random 10) secret=$(random 24)
    printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$access" "$secret" | make store-credentials
    printf '{"identities": [{"name": "cyclorama", "credentials": [{"accessKey": "%s", "secretKey": "%s"}], "actions": ["Read:cyclorama", "Write:cyclorama", "List:cyclorama"]}]}\n' \
        "$access" "$secret" | make store-identities.json
fi
printf 'database_url = "postgres://cyclorama:%s@database/cyclorama"\noperator_token = "%s"\n' "$(cat secrets/database-password)" "$(random 24)" \
    | make control-plane.toml
