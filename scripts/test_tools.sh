#!/usr/bin/env bash
# Installs a program that tests run, at its first use, and prints its folder. Safe to repeat and to
# run twice at a time.
# usage: test_tools.sh all | schemathesis | localstripe | moto | mcp | tests/browser | tests/mcp | tests/oidc
set -euo pipefail
cd "$(dirname "$0")/.."

# Packages of npm are installed beside the JavaScript that uses them, as their lock file names them.
npm_packages() {
    local folder=$1 stamp=$1/node_modules/.installed
    exec 9<"$folder/package-lock.json"
    flock 9
    if ! sha256sum --check --status "$stamp" 2>/dev/null; then
        npm ci --prefix "$folder" --no-audit --no-fund --silent >&2 \
            || { echo "test_tools: npm could not install the packages of $folder" >&2; exit 1; }
        sha256sum "$folder/package-lock.json" >"$stamp"
    fi
    echo "$PWD/$folder"
}

case ${1:-} in
    # Fuzzes the service by its own OpenAPI document.
    schemathesis) scripts/python_package.sh schemathesis 4.32.5 ;;
    # A stand-in for Stripe (GPL-3.0: a program that tests run, linked by nothing).
    localstripe) scripts/python_package.sh localstripe 1.15.10 ;;
    # An S3 server by others, as is the in-process one.
    moto) scripts/python_package.sh moto 5.2.5 '[server,s3]' ;;
    # The official Python client of the Model Context Protocol.
    mcp) scripts/python_package.sh mcp 2.3.0 ;;
    # Packages that drive Chromium; the protocol's TypeScript clients and conformance suite, with a
    # Node.js for them; an OpenID Connect provider.
    tests/browser | tests/mcp | tests/oidc) npm_packages "$1" ;;
    all)
        for tool in schemathesis localstripe moto mcp tests/browser tests/mcp tests/oidc; do "$0" "$tool" >/dev/null; done
        ;;
    *) sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2 ;;
esac
