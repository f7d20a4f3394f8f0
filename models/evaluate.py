"""Measures the quality of a model's layers: PSNR and SSIM of composed images within the vehicle,
per layer, and mottling.

Images are composed as they are served, each view in three of the fifteen paints, chosen by its
name. Mottling is the energy of fine detail (the part that a 7 px mean removes) on flat paint: PSNR
accepts images whose paint looks worse than the base shading's. It is given as a ratio to the path
tracer's; below 1.25 an eye sees no difference.
"""

import argparse
import json
import zlib
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image
from scipy.ndimage import binary_erosion, uniform_filter

from dataset import index, load, views
from finish import compose
from light_space import CONDITIONING, LAYERS, apply_residual, srgb

PAINTS_A_VIEW = 3


def paints_of(path: Path) -> dict[str, dict]:
    """Returns the paints in which a view is evaluated: always the same for a view, and all of them
    over many views."""
    paints = json.loads((path.parent.parent / "paints.json").read_text())
    random = np.random.default_rng(zlib.crc32(f"{path.parent.name}/{path.stem}".encode()))
    return {name: paints[name] for name in sorted(random.permutation(sorted(paints))[:PAINTS_A_VIEW])}


def psnr(a: np.ndarray, b: np.ndarray, mask: np.ndarray) -> float:
    return float(-10 * np.log10(max(np.mean(np.square(a - b)[mask]), 1e-10)))


def ssim(a: np.ndarray, b: np.ndarray, mask: np.ndarray) -> float:
    """Returns the SSIM of Wang et al. 2004 on luminance with a 7 px window, averaged over the
    mask."""
    weights = np.array([0.299, 0.587, 0.114])
    a, b = a @ weights, b @ weights
    mean = lambda x: uniform_filter(x, 7)
    ma, mb = mean(a), mean(b)
    va, vb, vab = mean(a * a) - ma * ma, mean(b * b) - mb * mb, mean(a * b) - ma * mb
    value = (2 * ma * mb + 1e-4) * (2 * vab + 9e-4) / ((ma**2 + mb**2 + 1e-4) * (va + vb + 9e-4))
    return float(value[mask].mean())


def flat_paint(conditioning: np.ndarray) -> np.ndarray:
    """Returns the paint away from every edge, where the surface hardly turns."""
    paint = binary_erosion(conditioning[index("mask_paint")] > 0.99, iterations=6)
    turn = sum(np.abs(np.gradient(conditioning[index(f"normal_{axis}")])).sum(0) for axis in "xyz")
    return paint & (uniform_filter(turn, 9) < 0.02)


def fine_detail(picture: np.ndarray, mask: np.ndarray) -> float:
    luminance = picture.mean(-1)
    return float(np.sqrt(np.mean(np.square(luminance - uniform_filter(luminance, 7))[mask])))


def compare(view: dict, layers: np.ndarray, paints: dict[str, dict]) -> dict[str, float]:
    """Returns the measurements of one view: `layers` compared with the path tracer's."""
    coverage, share = view["conditioning"][index("coverage")], view["conditioning"][index("mask_paint")]
    mask = (coverage > 0.5) & (view["trusted"] > 0.5)
    flat = flat_paint(view["conditioning"])
    found = {"psnr": [], "ssim": [], "mottling": []}
    for paint in paints.values():
        ours, truth = compose(layers, coverage, share, paint), compose(view["target"], coverage, share, paint)
        found["psnr"].append(psnr(ours, truth, mask))
        found["ssim"].append(ssim(ours, truth, mask))
        if flat.sum() > 500:
            found["mottling"].append(fine_detail(ours, flat) / max(fine_detail(truth, flat), 1e-3))
    result = {name: float(np.mean(values)) for name, values in found.items() if values}
    paint, rest = view["conditioning"][index("mask_paint")] > 0.5, (coverage - view["conditioning"][index("mask_paint")]) > 0.5
    everywhere = np.ones_like(mask)
    for name, first, where in (("diffuse", 0, paint), ("gloss", 3, paint), ("rest", 6, rest)):
        pair = [srgb(x[first : first + 3]).transpose(1, 2, 0) for x in (layers, view["target"])]
        result[name] = psnr(*pair, where & mask)
    result["shadow"] = psnr(layers[9], view["target"][9], everywhere)
    return result


def mean_of(rows: list[dict]) -> dict[str, float]:
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: float(np.mean([row[key] for row in rows if key in row])) for key in keys}


def onnx_model(folder: Path):
    """Returns a function from a view to layers: the exported model, sampled as the render node
    does."""
    config = json.loads((folder / "unet/config.json").read_text())
    scheduler = json.loads((folder / "scheduler/scheduler_config.json").read_text())
    scale = np.array(config["residual_scale"], np.float32)[:, None, None]
    session = onnxruntime.InferenceSession(str(folder / "unet/model.onnx"), providers=["CPUExecutionProvider"])

    def run(view):
        conditioning = view["conditioning"][None]
        assert conditioning.shape[1] == len(CONDITIONING)
        x = np.zeros((1, len(LAYERS), *conditioning.shape[2:]), np.float32)
        times = [*scheduler["timesteps"], 0.0]
        for now, then in zip(times, times[1:]):
            x0 = session.run(["x0"], {"sample": x, "timestep": np.float32([now]), "conditioning": conditioning})[0]
            x = x0 + (then / now) * (x - x0)
        return apply_residual(view["base"], x[0] * scale)

    return run


def strip(view: dict, several: list[np.ndarray], paints: dict[str, dict]) -> np.ndarray:
    """Returns an image of base | each of several | path tracer, one row per paint, cropped to the
    vehicle and its shadow."""
    coverage, share = view["conditioning"][index("coverage")], view["conditioning"][index("mask_paint")]
    seen = (coverage > 0) | (view["target"][9] > 0.05)
    rows, columns = np.flatnonzero(seen.any(1)), np.flatnonzero(seen.any(0))
    window = (slice(max(rows[0] - 6, 0), rows[-1] + 6), slice(max(columns[0] - 6, 0), columns[-1] + 6))
    picture = [np.concatenate([compose(each, coverage, share, paint)[window] for each in (view["base"], *several, view["target"])], 1)
               for paint in paints.values()]
    return (np.concatenate(picture) * 255 + 0.5).astype(np.uint8)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path, help="the set of vehicles that nothing was trained on")
    arguments.add_argument("--models", type=Path, nargs="+", default=[Path(__file__).parent / "builtin"], help="model folders to compare")
    arguments.add_argument("--strips", type=Path, help="folder for side-by-side pictures")
    options = arguments.parse_args()
    models = {folder.name: onnx_model(folder) for folder in options.models}
    figures = {name: [] for name in ("base", *models)}
    for path in views(options.data):
        view, paints = load(path), paints_of(path)
        made = {"base": view["base"], **{name: run(view) for name, run in models.items()}}
        for name, layers in made.items():
            figures[name].append(compare(view, layers, paints))
        print(f"{path.parent.name:36} {path.stem:12}", *(f"{name} {rows[-1]['psnr']:.2f}" for name, rows in figures.items()), flush=True)
        if options.strips:
            options.strips.mkdir(parents=True, exist_ok=True)
            picture = strip(view, [made[name] for name in models], paints)
            Image.fromarray(picture).save(options.strips / f"{path.parent.name}-{path.stem}.png")
    print(f"{len(figures['base'])} views")
    for name, rows in figures.items():
        print(f"{name:12}", *(f"{key} {value:.3f}" for key, value in mean_of(rows).items()))


if __name__ == "__main__":
    main()
