"""Pairs the render node's export and Blender's ground truth into the network's training data.

`<set>/<vehicle>/<view>.bin` holds the conditioning as half-float planes [C, side, side] in the
order of light_space.CONDITIONING; `<view>.truth.npz` beside it is written by ground_truth.py.
Training and evaluation use two sets with different vehicles (models/vehicles).
`<view>.residual.npy` is what training needs of both; it is stored because it takes a second to
compute.
"""

from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter

from light_space import CONDITIONING, COLOUR_LAYERS, LAYERS, apply_residual, decode, residual

SIDE_PX = 512
# A pixel in which the path tracer has less than this ratio is not used: its light cannot be scaled
# to the raster pass's ratio.
SHARE_MIN = 0.05
# Path tracing through clear parts leaves noise that no denoiser guide tells from detail. Only the
# tone is learnt there: the residual is smoothed within the part, and the things seen through it
# stay those of the raster pass.
SMOOTHED_PX = {"mask_glass": 8.0, "mask_lamp_clear": 3.0}


def index(name: str) -> int:
    return CONDITIONING.index(name)


def base_layers(conditioning: np.ndarray) -> np.ndarray:
    """Returns the base shading [10, H, W], linear, from the conditioning planes."""
    first = index("diffuse_r")
    layers = decode(conditioning[first : first + COLOUR_LAYERS])
    return np.concatenate([layers, conditioning[index("shadow")][None]])


def target_layers(conditioning: np.ndarray, truth: np.ndarray, paint_share: np.ndarray, rest_share: np.ndarray):
    """Returns the path-traced layers with pixels divided as in the raster pass, and where they can
    be trusted ([H, W], 0 or 1).

    The raster pass draws paint seen through glass in the paint's layers, the path tracer in `rest`.
    The light that the base shading has there is subtracted from the target, so that it is not
    counted twice.
    """
    base = base_layers(conditioning)
    paint = conditioning[index("mask_paint")]
    rest = np.clip(conditioning[index("coverage")] - paint, 0, 1)
    target = base.copy()
    on_paint, off_paint = (paint > 0.01) & (paint_share > SHARE_MIN), (rest > 0.01) & (rest_share > SHARE_MIN)
    scale = np.where(on_paint, paint / np.maximum(paint_share, SHARE_MIN), 0)
    target[:6] = np.where(on_paint, truth[:6] * scale, base[:6])
    behind_glass = np.where(paint < 0.01, 0.5 * base[:3] + base[3:6], 0)
    scale = np.where(off_paint, rest / np.maximum(rest_share, SHARE_MIN), 0)
    target[6:9] = np.where(off_paint, np.maximum(truth[6:9] - behind_glass, 0) * scale, base[6:9])
    target[9] = truth[9]
    difference = residual(target, base)
    for name, sigma in SMOOTHED_PX.items():
        share = conditioning[index(name)] * off_paint
        smooth = lambda plane: gaussian_filter(plane, sigma, mode="constant")
        whole = np.maximum(smooth(share), 1e-3)
        for layer in (6, 7, 8):
            mean = smooth(difference[layer] * share) / whole
            difference[layer] += np.where(share > 0.01, mean * np.sqrt(share) - difference[layer], 0)
    target[6:9] = apply_residual(base, difference)[6:9]
    trusted = ((paint <= 0.01) | on_paint) & ((rest <= 0.01) | off_paint)
    return target, trusted


def views(data: Path) -> list[Path]:
    """Returns the conditioning files of a set that have a ground truth."""
    return sorted(p for p in data.glob("*/*.bin") if p.with_name(f"{p.stem}.truth.npz").exists())


def conditioning_of(path: Path) -> np.ndarray:
    """Returns half floats, which stay on the disk until they are read."""
    return np.memmap(path, "<f2", "r", shape=(len(CONDITIONING), SIDE_PX, SIDE_PX))


def load(path: Path) -> dict[str, np.ndarray]:
    """Loads conditioning [C,H,W], base and target [10,H,W] linear, and trusted [H,W], all as
    float32."""
    conditioning = conditioning_of(path).astype(np.float32)
    with np.load(path.with_name(f"{path.stem}.truth.npz")) as stored:
        truth, paint, rest = (stored[key].astype(np.float32) for key in ("layers", "paint", "rest"))
    target, trusted = target_layers(conditioning, truth, paint, rest)
    return dict(conditioning=conditioning, base=base_layers(conditioning), target=target, trusted=trusted.astype(np.float32))


def residual_of(path: Path) -> np.ndarray:
    """Returns the unscaled residual and where it can be trusted, [11, H, W] half floats, left on
    the disk."""
    kept = path.with_suffix(".residual.npy")
    if not kept.exists():
        view = load(path)
        planes = np.concatenate([residual(view["target"], view["base"]), view["trusted"][None]]).astype(np.float16)
        half_done = path.with_suffix(".residual.part.npy")
        np.save(half_done, planes)
        half_done.rename(kept)
    return np.load(kept, mmap_mode="r")


def planes_of(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Returns the conditioning and the result of `residual_of`. The files are opened at each call,
    because thousands of open files are more than a process may have."""
    return conditioning_of(path), residual_of(path)


class Examples:
    """Views, cut to the part that crops of `side` pixels can show, in memory: about 10 MB each.
    Random reads from a disk are slower than training."""

    def __init__(self, paths: list[Path], side: int):
        self.paths, self.side = paths, side
        self.windows, self.cut = [], []
        for conditioning, planes in map(planes_of, paths):
            # The vehicle and its shadow: a crop that shows neither teaches nothing.
            shadow = conditioning[index("shadow")].astype(np.float32) + planes[len(LAYERS) - 1]
            seen = (conditioning[index("coverage")] > 0) | (shadow > 0.02)
            rows, columns = np.flatnonzero(seen.any(1)), np.flatnonzero(seen.any(0))
            self.windows.append((self.corners(rows), self.corners(columns)))
            (top, bottom), (left, right) = self.windows[-1]
            window = (..., slice(top, bottom + side), slice(left, right + side))
            self.cut.append((np.array(conditioning[window]), np.array(planes[window])))

    def corners(self, seen: np.ndarray) -> tuple[int, int]:
        """Returns the first and the last place, along one axis, for a crop's corner. The crop
        reaches beyond the visible part by a third of its side."""
        first, last = seen[0] - self.side // 3, max(seen[-1] - self.side * 2 // 3, seen[0] - self.side // 3)
        return tuple(int(np.clip(place, 0, SIDE_PX - self.side)) for place in (first, last))

    def residual_scale(self) -> list[float]:
        """Returns the root mean square of each layer's residual where that layer is visible, over
        every tenth view."""
        squares, counts = np.zeros(len(LAYERS)), np.zeros(len(LAYERS))
        for conditioning, planes in self.cut[::10]:
            paint = conditioning[index("mask_paint")].astype(np.float32)
            rest = conditioning[index("coverage")].astype(np.float32) - paint
            for layer in range(len(LAYERS)):
                values = planes[layer].astype(np.float32)
                seen = paint > 0.5 if layer < 6 else rest > 0.5 if layer < COLOUR_LAYERS else values != 0
                squares[layer] += np.square(values[seen]).sum()
                counts[layer] += seen.sum()
        return [float(scale) or 1.0 for scale in np.sqrt(squares / np.maximum(counts, 1))]

    def crops(self, random: np.random.Generator, batch: int):
        """Returns conditioning, residual and trusted of `batch` random crops. Corners need not be
        multiples of 4, so that the blocks of the network fall on every phase of the image."""
        parts = ([], [], [])
        for i in random.integers(len(self.cut), size=batch):
            y, x = (int(random.integers(last - first + 1)) for first, last in self.windows[i])
            window = (..., slice(y, y + self.side), slice(x, x + self.side))
            conditioning, planes = (each[window] for each in self.cut[i])
            for part, crop in zip(parts, (conditioning, planes[:-1], planes[-1])):
                part.append(crop)
        return tuple(np.stack(part).astype(np.float32) for part in parts)
