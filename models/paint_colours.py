"""Measures how close lit paint is to the path tracer's, in every paint: one view, lit once by the
model and painted fifteen times, is compared with fifteen renders of Blender Cycles with that paint
on the vehicle.

Cycles has the paint's base coat under the clear coat, without flakes: how flakes reflect light is
defined by the finish pass (`finish.py`), and in the light that is measured here they add next to
nothing. The results are medians of CIEDE2000 over lit paint that mirrors little, which are the
pixels that the render node's gate checks (`render-node/src/gate/picture.rs`).
"""

import argparse
import json
import tempfile
import tomllib
from pathlib import Path

import numpy as np
from PIL import Image
from skimage.color import deltaE_ciede2000, rgb2lab

from dataset import SIDE_PX, index, load
from evaluate import onnx_model
from finish import LUMINANCE, compose, shown
from ground_truth import Studio, in_whole, seed_of, window_of

LIT, GLOSS_MAX = (0.62, 0.80), 0.1
BACKDROP = 0.9


def path_traced(studio: Studio, window: tuple, paint: dict, samples: int, seed: int) -> np.ndarray:
    """Returns the linear light [3, H, W] of the vehicle in a paint, premultiplied."""
    for node in studio.materials["paint"].node_tree.nodes:
        if node.get("is_base_coat"):
            node.inputs["Color"].default_value = (*paint["albedo"], 1.0)
    studio.render("picture", SIDE_PX, samples, seed, window)
    light = studio.read("paint")[..., :3] + studio.read("rest")[..., :3]
    return in_whole(light, window, SIDE_PX).transpose(2, 0, 1)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path, help="the set of vehicles that nothing was trained on")
    arguments.add_argument("--view", default="jaguar_xf-series_2007/front-3-4")
    arguments.add_argument("--model", type=Path, default=Path(__file__).parent / "builtin")
    arguments.add_argument("--rig", type=Path, default=Path(__file__).parent.parent / "render-node/src/studio/rig.toml")
    arguments.add_argument("--samples", type=int, default=32)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--strip", type=Path, help="a picture of all paints, ours above the path tracer's")
    options = arguments.parse_args()

    path = options.data / f"{options.view}.bin"
    view, camera = load(path), json.loads(path.with_suffix(".json").read_text())
    layers = onnx_model(options.model)(view)
    coverage, share = view["conditioning"][index("coverage")], view["conditioning"][index("mask_paint")]
    brightness = np.tensordot(LUMINANCE, layers[:3], 1)
    lit = (share > 0.99) & (brightness > LIT[0]) & (brightness < LIT[1]) & (np.tensordot(LUMINANCE, layers[3:6], 1) < GLOSS_MAX)
    print(f"{lit.sum()} pixels of lit paint")
    rows, columns = np.flatnonzero((coverage > 0).any(1)), np.flatnonzero((coverage > 0).any(0))
    window = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    strips, medians = [], []
    with tempfile.TemporaryDirectory() as scratch:
        optics = json.loads((options.data / "materials.json").read_text())
        studio = Studio(tomllib.loads(options.rig.read_text()), optics, Path(scratch), options.threads)
        studio.place_vehicle(path.parent)
        studio.place_camera(camera)
        matrix = np.array(camera["studio_from_vehicle"], float).reshape(4, 4).T
        studio.turn_vehicle(matrix)
        rendered = window_of(studio, camera, matrix, SIDE_PX)
        for name, paint in json.loads((options.data / "paints.json").read_text()).items():
            light = path_traced(studio, rendered, paint, options.samples, seed_of(options.view, name))
            truth = shown(light, coverage, 0, BACKDROP)
            bare = np.concatenate([layers[:9], np.zeros_like(layers[9:])])
            ours = compose(bare, coverage, share, paint, BACKDROP)
            medians.append(float(np.median(deltaE_ciede2000(rgb2lab(ours[lit]), rgb2lab(truth[lit])))))
            print(f"{name:10} {medians[-1]:.2f}", flush=True)
            strips.append(np.concatenate([ours[window], truth[window]]))
    print(f"median over the paints {np.median(medians):.2f}, worst {max(medians):.2f}")
    if options.strip:
        rows = [np.concatenate(strips[i : i + 5], 1) for i in range(0, len(strips), 5)]
        Image.fromarray((np.concatenate(rows) * 255 + 0.5).astype(np.uint8)).save(options.strip)


if __name__ == "__main__":
    main()
