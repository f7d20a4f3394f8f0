#!/usr/bin/env bash
# `make contact-sheet`: puts many vehicles on a page, to judge by eye, in out/contact-sheets: the
# famous ones, some of each vehicle type, and one in six views and fifteen colours, all by the real
# pipeline; beside each the same under zebra stripes. It takes about 25 minutes on two cores. Names
# of sheets as arguments make only those (`scripts/contact-sheet.sh famous`).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh run
ORT_DYLIB_PATH=${ORT_DYLIB_PATH:-$(scripts/onnxruntime.sh)}
export ORT_DYLIB_PATH
# With the service, as `make dist` does: the same features, so nothing is built twice.
cargo build --release --locked --quiet -p cyclorama -p cyclorama-node
bin=$CARGO_TARGET_DIR/release
out=out/contact-sheets
mkdir -p "$out"
catalog=$(mktemp)
trap 'rm -f "$catalog"' EXIT
"$bin/cyclorama" catalog list >"$catalog"

lists=render-node/contact-sheets
sheet() { # name, list, more options
    local name=$1 list=$2
    shift 2
    "$bin/cyclorama-node" contact-sheet --vehicles "$catalog" --choose "$list" --page 245 "$@" --out "$out/$name.png"
    echo "$out/$name.png"
}

names=("$@")
[ ${#names[@]} -gt 0 ] || names=(famous passenger-car mpv truck bus motorcycle auto-rickshaw other colors)
for name in "${names[@]}"; do
    case $name in
        colors)
            views=front-3-4,side,rear-3-4,front,rear,side-right
            sheet colors $lists/colors.txt --views $views --colors black,white,gray,silver,red,blue,green,yellow,orange,brown,beige,tan,gold,burgundy,purple --cell 320
            sheet colors-zebra $lists/colors.txt --views $views --look zebra --cell 320
            ;;
        *)
            sheet "$name" "$lists/$name.txt" --in-a-row 6 --one-color-each \
                --colors silver,blue,red,white,gray,green,black,orange --cell 448
            sheet "$name-zebra" "$lists/$name.txt" --in-a-row 6 --look zebra --cell 448
            ;;
    esac
done
