#!/usr/bin/env python3
"""Makes pages that show measured vehicles: our outlines from the side (green) with the positions
that were measured on the real vehicle (magenta).

There is one page for each make, in docs/recognition/measured/, and measured.md with a row for each
generation. The pages are for people who draw sheets. Needs Pillow.

usage: cyclorama catalog list | scripts/measured_pages.py CYCLORAMA_NODE
"""

import os
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter

ROOT = Path(__file__).resolve().parent.parent
SHEETS = ROOT / "render-node/sheets"
OUT = ROOT / "docs/recognition/measured"
CELL = (400, 165)
COLUMNS = 3
# Hubs of the blank image on which the outlines are laid, in pixels of a cell four times as large.
WIDTH, HEIGHT = 1600, 660
FRONT, REAR, GROUND = 420, 1180, 560


def applies(entry, line):
    make, model, year, body = line[0], line[1], int(line[2]), line[4]
    models = entry.get("models", ["*"])
    years = entry.get("years", [0, 9999])
    named = any(model == name or (name.endswith("*") and model.startswith(name[:-1])) for name in models)
    bodies = entry.get("bodies", [body])
    return make in entry.get("makes", [make]) and named and years[0] <= year <= years[1] and body in bodies


def generations(lines):
    """Yields (make, catalog line, sheet's name, source of the measurements) for every sheet with
    facts that a vehicle of the catalog gets."""
    by_make = defaultdict(list)
    for line in lines:
        by_make[line[0]].append(line)
    for path in sorted((SHEETS / "models").glob("*.toml")):
        sheet = tomllib.loads(path.read_text())
        if sheet.get("facts", {"estimated": True}).get("estimated"):
            continue
        for entry in sheet.get("applies_to", []):
            fitting = [line for make in entry.get("makes", []) for line in by_make[make] if applies(entry, line)]
            if fitting:
                # The first model that is named, in the middle of its years.
                wanted = [line for line in fitting if line[1] == entry.get("models", [""])[0]] or fitting
                line = wanted[len(wanted) // 2]
                yield line, path.stem, sheet["facts"]["from"], entry.get("years")
                break


def main():
    node = sys.argv[1]
    os.environ["CYCLORAMA_NODE_SHEETS"] = str(SHEETS)
    lines = [line.rstrip("\n").split("\t") for line in sys.stdin]
    OUT.mkdir(parents=True, exist_ok=True)
    pages = defaultdict(list)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        blank, out = Path(folder) / "blank.png", Path(folder) / "out.png"
        Image.new("RGB", (WIDTH, HEIGHT), "white").save(blank)
        for line, sheet, source, years in generations(lines):
            tyre_y = GROUND - 90
            hubs = f"{FRONT},{tyre_y},{REAR},{tyre_y}"
            made = subprocess.run(
                [node, "compare-picture", blank, "--hubs", hubs, "--out", out],
                input="\t".join(line) + "\n", text=True, capture_output=True,
            )
            if made.returncode:
                print(f"{sheet}: {made.stderr.strip()}", file=sys.stderr)
                continue
            # Lines of one pixel would fade out when the image is made smaller.
            bold = Image.open(out).convert("RGB").filter(ImageFilter.MinFilter(5))
            cell = bold.resize(CELL, Image.LANCZOS)
            name = " ".join([line[0], line[1], f"{years[0]}-{min(years[1], 2026)}" if years else line[2]])
            ImageDraw.Draw(cell).text((6, 4), name, fill="black")
            pages[line[0]].append(cell)
            rows.append((line[0], line[1], years, sheet, source))
    for make, cells in pages.items():
        height = (len(cells) + COLUMNS - 1) // COLUMNS
        page = Image.new("RGB", (CELL[0] * min(COLUMNS, len(cells)), CELL[1] * height), "white")
        for number, cell in enumerate(cells):
            page.paste(cell, (number % COLUMNS * CELL[0], number // COLUMNS * CELL[1]))
        page.quantize(64, dither=Image.Dither.NONE).save(OUT / f"{make}.png", optimize=True)
    with open(OUT.parent / "measured.md", "w") as table:
        table.write(
            "# Measured vehicles\n\n"
            f"{len(rows)} sheets hold facts that were measured of the real vehicle ([how](../drawing-vehicles.md#measuring)).\n"
            "`check-vehicles` holds the finished bodies to them. The pages show our outlines from the side in green and\n"
            "the measured places in magenta. Made by `scripts/measured_pages.py`.\n"
        )
        for make in sorted(pages):
            table.write(f"\n## {make}\n\n![Outlines and measured places]({OUT.name}/{make}.png)\n\n")
            table.write("| Model | Years | Sheet | Measured from |\n|---|---|---|---|\n")
            for of, model, years, sheet, source in sorted(rows, key=str):
                if of == make:
                    span = f"{years[0]} to {years[1]}" if years else "all"
                    table.write(f"| {model} | {span} | `{sheet}` | {source.replace('|', '/')} |\n")
    print(f"{len(rows)} generations of {len(pages)} makes")


if __name__ == "__main__":
    main()
