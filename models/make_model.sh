#!/usr/bin/env bash
# Makes the built-in model from nothing: data from the render node, ground truth from Blender,
# training, export, check, measurements. Every step continues where it was stopped. It takes about
# three hours on two cores. `make_model.sh evaluate` makes only the measurements, from the
# evaluation set and the shipped model. Settings: DATA (work folder), REGRESSION and FLOW (steps).
set -euo pipefail
cd "$(dirname "$0")/.."
data=${DATA:-models/work/data}
run=models/work/run

# One thread pool at a time, with threads that sleep while they wait: several spinning pools cost a
# factor of five.
export OMP_WAIT_POLICY=PASSIVE

python3.11 -m venv models/work/venv
models/work/venv/bin/pip install --quiet --requirement models/requirements.txt
python=models/work/venv/bin/python

# A complete export is not made again; the render node skips a vehicle that exists.
data_of() {
    cargo run --release --locked -p cyclorama-node --example training_data -- --vehicles "models/vehicles/$1.tsv" --out "$data/$1"
    $python models/ground_truth.py "$data/$1"
}

data_of evaluation
if [ "${1:-}" != evaluate ]; then
    data_of training
    regression=${REGRESSION:-4500} flow=${FLOW:-1000}
    # The baseline of diffusion: as many steps of plain regression. Until diffusion begins, the two
    # are one run.
    $python models/train.py "$data" --work "$run" --regression "$regression" --flow "$flow" --evaluate-every 1000 --until "$regression"
    if [ ! -f "$run-regression/checkpoint.pt" ]; then
        mkdir -p "$run-regression"
        cp "$run/checkpoint.pt" "$run-regression/checkpoint.part"
        mv "$run-regression/checkpoint.part" "$run-regression/checkpoint.pt"
    fi
    $python models/train.py "$data" --work "$run-regression" --regression $((regression + flow)) --flow 0 --evaluate-every 1000
    $python models/export.py --checkpoint "$run-regression/checkpoint.pt" --out "$run-regression/regression"
    $python models/train.py "$data" --work "$run" --regression "$regression" --flow "$flow" --evaluate-every 1000
    $python models/export.py --checkpoint "$run/checkpoint.pt"
    $python models/check.py
fi
beside=()
[ ! -d "$run-regression/regression" ] || beside=("$run-regression/regression")
$python models/evaluate.py "$data/evaluation" --models models/builtin "${beside[@]}" --strips "$run/strips"
$python models/paint_colours.py "$data/evaluation" --strip "$run/paints.png"
