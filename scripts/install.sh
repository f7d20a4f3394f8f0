#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that the project needs, only those that are missing,
# without questions.
# usage: install.sh run|test|bench|trial
set -euo pipefail
purpose=${1:-run}

# A linker and a C compiler (SQLite, zstd, libwebp and xz are built from source), and pip for the
# ONNX Runtime wheel.
packages=(build-essential ca-certificates curl python3 python3-pip libvulkan1)
# Mesa's software driver, unless a real GPU driver is registered already.
if ! compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null && ! compgen -G '/etc/vulkan/icd.d/*.json' >/dev/null; then
    packages+=(mesa-vulkan-drivers)
fi
case $purpose in
    # Chromium checks the pages.
    test) packages+=(postgresql chromium nodejs npm) ;;
    trial) packages+=(postgresql iproute2 faketime haproxy) ;;
    bench) packages+=(nodejs npm nginx-light) ;;
esac

# A program that is already provided another way (another Python, a self-built PostgreSQL, Node.js
# from elsewhere) is left alone.
provided() {
    case $1 in
        build-essential) command -v cc ;;
        curl) command -v curl ;;
        python3) command -v python3 ;;
        python3-pip) python3 -m pip --version ;;
        nodejs) command -v node ;;
        chromium) test -x "${CYCLORAMA_TEST_CHROMIUM:-/usr/bin/chromium}" ;;
        npm) command -v npm ;;
        nginx-light) command -v nginx ;;
        postgresql) scripts/postgres.sh bindir ;;
        *) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed' ;;
    esac >/dev/null 2>&1
}

cd "$(dirname "$0")/.."
missing=()
for package in "${packages[@]}"; do
    provided "$package" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "install: this machine lacks ${missing[*]} and has no apt-get: install them by hand, then run the same command again" >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "install: ${missing[*]} must be installed by root: run 'apt-get install ${missing[*]}' as root, then again" >&2; exit 1; }
    as_root=(sudo)
fi
echo "installing ${missing[*]}"
log=$(mktemp)
if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    echo "install: apt-get could not install ${missing[*]}: $(grep -m1 '^E:' "$log" || tail -n 1 "$log") (whole output in $log)" >&2
    exit 1
fi
rm -f "$log"
