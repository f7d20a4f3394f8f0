#!/usr/bin/env bash
# Makes the pictures of docs/frames-and-paints.md anew, by a running service (`make run`): some thirty credits of the key.
# usage: CYCLORAMA_URL=http://127.0.0.1:8080 CYCLORAMA_KEY=... scripts/frame_pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."
: "${CYCLORAMA_URL:?the address of a service}" "${CYCLORAMA_KEY:?a key of it}"
folder=docs/pictures/frames
bytes_max=25000
mkdir -p "$folder"

# NAME QUERY: a picture of a hatchback, laid on a pale ground where its box is to be seen.
picture() {
    local file=$folder/$1.webp
    curl -fsS --retry 3 -H "Authorization: Bearer $CYCLORAMA_KEY" -o "$file" "$CYCLORAMA_URL/api/v1/images/car?format=webp&$2"
    [ "$(stat -c %s "$file")" -le $bytes_max ] || { echo "frame_pictures: $file is larger than $bytes_max bytes" >&2; exit 1; }
}
golf="make=volkswagen&model=golf&year=2015&color=1f4e8c"
ground="background=dfe5ec"

picture inside "$golf&$ground&w=320&h=180"
picture contain "$golf&$ground&w=320&h=180&fit=contain"
picture cover "$golf&$ground&w=320&h=180&fit=cover"
picture contain-side "$golf&$ground&view=side&w=320&h=180&fit=contain"
picture contain-trim "$golf&$ground&view=side&w=320&h=180&fit=contain&trim=true"
picture whole "$golf&$ground&view=side&w=240"
picture trim "$golf&$ground&view=side&w=240&trim=true"
picture padding "$golf&$ground&view=side&w=240&trim=true&padding=10"
picture transparent "$golf&w=240&trim=true&padding=5"
picture dark "$golf&w=240&trim=true&padding=5&background=2b3440"
picture shadow-on "$golf&view=side&w=240&trim=true&padding=5&background=white"
picture shadow-off "$golf&view=side&w=240&trim=true&padding=5&background=white&shadow=off"
for scale in fill true; do
    picture "small-$scale" "make=smart&model=fortwo&year=2015&color=white&$ground&view=side&w=240&h=150&fit=contain&scale=$scale"
    picture "large-$scale" "make=ford&model=transit&year=2015&color=white&$ground&view=side&w=240&h=150&fit=contain&scale=$scale"
done
for finish in solid metallic pearl matt; do
    picture "$finish" "$golf&w=240&trim=true&padding=5&background=white&finish=$finish"
done
ls -l "$folder"
