"""Writes reference.tsv, or another set of the same kind: 1,000 made-up VINs over makes, years and
vehicle types, with the values that the reference implementation reads in them.

usage: pip install ultravin==3.0.2; python3 make_reference.py 45 > reference.tsv; python3 make_reference.py 2026 > reference_2026.tsv

The VINs are put together from the makers, the patterns of vPIC's tables, a correct check digit and
random serial numbers: they belong to no vehicle. Each pair of make and year occurs once.
"""

import random
import sys
from datetime import datetime

import ultravin

# The reference's clock, fixed so that the same version writes the same file.
NOW = datetime(2026, 11, 1)
LATEST_YEAR = 2027
# vPIC's number of the vehicle type, and how many VINs to make: cars, MPVs, trucks, motorcycles,
# buses, incomplete vehicles, trailers.
SHARES = [(2, 270), (7, 230), (3, 200), (1, 150), (5, 50), (10, 50), (6, 50)]


def rows(vehicle_type, count, seed, chance):
    """Returns `count` VINs of one vehicle type, one pair of make and year at a time, spread evenly
    over the years."""
    per_year = {}
    for number in ultravin.generate(count * 40, seed=seed, invalid_rate=0, vehicle_type=vehicle_type, max_year=LATEST_YEAR, now=NOW):
        read = ultravin.decode(number, now=NOW)
        make, model = (read["attributes"].get(name) for name in ("Make", "Model"))
        year = read["model_year"]
        if make and model and year:
            per_year.setdefault(year, {}).setdefault(make.strip(), (number, make.strip(), model.strip(), year))
    found = []
    waiting = [list(makes.values()) for _, makes in sorted(per_year.items())]
    for makes in waiting:
        chance.shuffle(makes)
    while len(found) < count and any(waiting):
        for makes in waiting:
            if makes and len(found) < count:
                found.append(makes.pop())
    return found


def main():
    seed = int(sys.argv[1])
    chance = random.Random(seed)
    provenance = ultravin.provenance()
    print(f"# ultravin {provenance['decoder_version']}, vPIC {provenance['data_month']}: number, make, model, model year")
    for vehicle_type, count in SHARES:
        for row in sorted(rows(vehicle_type, count, seed, chance), key=lambda row: (row[3], row[1])):
            print("\t".join(map(str, row)))


main()
