#!/usr/bin/env bash
# Makes the images of docs/api.md and docs/frames-and-paints.md with a running service (`make run`),
# for some fifty credits of the key.
# usage: CYCLORAMA_URL=http://127.0.0.1:8080 CYCLORAMA_KEY=... scripts/document_pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."
: "${CYCLORAMA_URL:?the address of a service}" "${CYCLORAMA_KEY:?a key of it}"
folder=docs/pictures
bytes_max=25000
mkdir -p "$folder/frames" "$folder/views" "$folder/paints"

# FOLDER/NAME QUERY: writes one image, and fails if it is larger than a document should carry.
picture() {
    local file=$folder/$1.webp
    curl -fsS --retry 3 -H "Authorization: Bearer $CYCLORAMA_KEY" -o "$file" "$CYCLORAMA_URL/api/v1/images/car?format=webp&$2"
    [ "$(stat -c %s "$file")" -le $bytes_max ] || { echo "document_pictures: $file is larger than $bytes_max bytes" >&2; exit 1; }
}
golf="make=volkswagen&model=golf&year=2015&color=1f4e8c"
ground="background=dfe5ec"

picture frames/inside "$golf&$ground&w=320&h=180"
picture frames/contain "$golf&$ground&w=320&h=180&fit=contain"
picture frames/cover "$golf&$ground&w=320&h=180&fit=cover"
picture frames/contain-side "$golf&$ground&view=side&w=320&h=180&fit=contain"
picture frames/contain-trim "$golf&$ground&view=side&w=320&h=180&fit=contain&trim=true"
picture frames/whole "$golf&$ground&view=side&w=240"
picture frames/trim "$golf&$ground&view=side&w=240&trim=true"
picture frames/padding "$golf&$ground&view=side&w=240&trim=true&padding=10"
picture frames/transparent "$golf&w=240&trim=true&padding=5"
picture frames/dark "$golf&w=240&trim=true&padding=5&background=2b3440"
picture frames/shadow-on "$golf&view=side&w=240&trim=true&padding=5&background=white"
picture frames/shadow-off "$golf&view=side&w=240&trim=true&padding=5&background=white&shadow=off"
for scale in fill true; do
    picture "frames/small-$scale" "make=smart&model=fortwo&year=2015&color=white&$ground&view=side&w=240&h=150&fit=contain&scale=$scale"
    picture "frames/large-$scale" "make=ford&model=transit&year=2015&color=white&$ground&view=side&w=240&h=150&fit=contain&scale=$scale"
done
for finish in solid metallic pearl matt; do
    picture "frames/$finish" "$golf&w=240&trim=true&padding=5&background=white&finish=$finish"
done
for view in front-3-4 front side rear-3-4 rear side-right; do
    picture "views/$view" "make=porsche&model=911&year=2024&color=red&view=$view&w=260&h=160&fit=contain&trim=true&padding=4"
done
for color in white black gray silver blue red green brown beige tan orange yellow gold burgundy purple; do
    picture "paints/$color" "make=bmw&model=3-series&year=2020&color=$color&w=160&trim=true&padding=4"
done
ls -l "$folder"/{frames,views,paints}
