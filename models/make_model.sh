#!/usr/bin/env bash
# Makes the built-in model from nothing: data from the render node, ground truth from Blender, training, export, check.
# Every step goes on where it was stopped; about an hour and a quarter on two cores. Settings: DATA (work folder), VARIANTS per body class, REGRESSION and FLOW (steps).
set -euo pipefail
cd "$(dirname "$0")/.."
data=${DATA:-models/work/data}
run=models/work/run

# One thread pool at a time, and threads that sleep while they wait: several spinning pools cost a factor of five.
export OMP_WAIT_POLICY=PASSIVE

python3.11 -m venv models/work/venv
models/work/venv/bin/pip install --quiet --requirement models/requirements.txt
python=models/work/venv/bin/python

if [ ! -e "$data/materials.json" ]; then
    cargo run --release --locked -p cyclorama-node --example training_data -- --out "$data" --variants "${VARIANTS:-2}"
fi
$python models/ground_truth.py "$data"
$python models/train.py "$data" --work "$run" --regression "${REGRESSION:-4200}" --flow "${FLOW:-1300}" --evaluate-every 500
$python models/export.py --checkpoint "$run/checkpoint.pt"
$python models/check.py
$python models/evaluate.py "$data" --strips "$run/strips"
