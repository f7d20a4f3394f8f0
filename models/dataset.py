"""What the render node exported and Blender answered, paired into what the network is trained on.

`<data>/<vehicle>/<view>.bin` holds the conditioning as half-float planes [C, side, side] in the order of
light_space.CONDITIONING; `<view>.truth.npz` beside it is ground_truth.py's. A vehicle whose folder name hashes into the
evaluation share is never trained on, whatever its views.
"""

import hashlib
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter

from light_space import CONDITIONING, COLOUR_LAYERS, LAYERS, apply_residual, decode, residual

SIDE_PX = 512
# Below this share of a pixel the path tracer's light cannot be scaled to the raster pass's share.
SHARE_MIN = 0.05
# Path tracing through clear parts leaves noise that no denoiser guide tells from detail. There only the tone is learnt: the
# residual is smoothed within the part, and what is seen through it stays the raster pass's.
SMOOTHED_PX = {"mask_glass": 8.0, "mask_lamp_clear": 3.0}


def index(name: str) -> int:
    return CONDITIONING.index(name)


def base_layers(conditioning: np.ndarray) -> np.ndarray:
    """The base shading [10, H, W], linear, out of the conditioning planes."""
    first = index("diffuse_r")
    layers = decode(conditioning[first : first + COLOUR_LAYERS])
    return np.concatenate([layers, conditioning[index("shadow")][None]])


def target_layers(conditioning: np.ndarray, truth: np.ndarray, paint_share: np.ndarray, rest_share: np.ndarray):
    """The path-traced layers as the raster pass divides pixels, and where they can be trusted ([H, W], 0 or 1).

    The raster pass draws paint seen through glass in the paint's layers, the path tracer in `rest`. What the base shading
    has there is taken out of the target, so that it is not counted twice.
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


def is_evaluation(vehicle: str, share: float) -> bool:
    return int.from_bytes(hashlib.sha256(vehicle.encode()).digest()[:4], "big") / 2**32 < share


def views(data: Path) -> list[Path]:
    """Conditioning files that have a ground truth."""
    return sorted(p for p in data.glob("*/*.bin") if p.with_name(f"{p.stem}.truth.npz").exists())


def load(path: Path) -> dict[str, np.ndarray]:
    """conditioning [C,H,W], base and target [10,H,W] linear, trusted [H,W]; all float32."""
    conditioning = np.fromfile(path, "<f2").reshape(len(CONDITIONING), SIDE_PX, SIDE_PX).astype(np.float32)
    with np.load(path.with_name(f"{path.stem}.truth.npz")) as stored:
        truth, paint, rest = (stored[key].astype(np.float32) for key in ("layers", "paint", "rest"))
    target, trusted = target_layers(conditioning, truth, paint, rest)
    return dict(conditioning=conditioning, base=base_layers(conditioning), target=target, trusted=trusted.astype(np.float32))


class Examples:
    """All views in memory as half floats, and random crops of them around the vehicle."""

    def __init__(self, paths: list[Path]):
        count = len(paths)
        self.conditioning = np.empty((count, len(CONDITIONING), SIDE_PX, SIDE_PX), np.float16)
        self.residual = np.empty((count, len(LAYERS), SIDE_PX, SIDE_PX), np.float16)
        self.trusted = np.empty((count, SIDE_PX, SIDE_PX), np.float16)
        self.windows = []
        for i, path in enumerate(paths):
            view = load(path)
            self.conditioning[i], self.trusted[i] = view["conditioning"], view["trusted"]
            self.residual[i] = residual(view["target"], view["base"])
            # The vehicle and its shadow: a crop that shows neither teaches nothing.
            seen = (view["conditioning"][index("coverage")] > 0) | (view["target"][9] > 0.02)
            rows, columns = np.flatnonzero(seen.any(1)), np.flatnonzero(seen.any(0))
            self.windows.append((rows[0], rows[-1], columns[0], columns[-1]))

    def residual_scale(self) -> list[float]:
        """Root mean square of each layer's residual where that layer can be seen."""
        paint = self.conditioning[:, index("mask_paint")].astype(np.float32)
        rest = self.conditioning[:, index("coverage")].astype(np.float32) - paint
        scales = []
        for layer in range(len(LAYERS)):
            values = self.residual[:, layer].astype(np.float32)
            seen = paint > 0.5 if layer < 6 else rest > 0.5 if layer < COLOUR_LAYERS else values != 0
            scales.append(float(np.sqrt(np.mean(np.square(values[seen])))) or 1.0)
        return scales

    def crops(self, random: np.random.Generator, batch: int, side: int):
        """conditioning, residual and trusted of `batch` random crops; corners on multiples of 4 are not forced, so the
        blocks of the network fall on every phase of the picture."""
        chosen = random.integers(len(self.windows), size=batch)
        parts = ([], [], [])
        for i in chosen:
            top, bottom, left, right = self.windows[i]
            y = int(np.clip(random.integers(top - side // 3, max(bottom - side * 2 // 3, top - side // 3) + 1), 0, SIDE_PX - side))
            x = int(np.clip(random.integers(left - side // 3, max(right - side * 2 // 3, left - side // 3) + 1), 0, SIDE_PX - side))
            window = (slice(y, y + side), slice(x, x + side))
            for part, source in zip(parts, (self.conditioning, self.residual, self.trusted)):
                part.append(source[(i, ..., *window)])
        return tuple(np.stack(part).astype(np.float32) for part in parts)
