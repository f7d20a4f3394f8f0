"""Composes light layers into an image, as the render node's finish pass does
(`render-node/src/finish/compose.rs`), in numpy.

A paint is a row of `paints.json`, which the render node writes beside the training data.
"""

import numpy as np

from light_space import srgb

EXPOSURE = 1.4
KNEE = 0.55
FLAKE_PIVOT = 0.7
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def toned(light: np.ndarray) -> np.ndarray:
    """Applies the soft shoulder above the knee."""
    over = np.maximum(light - KNEE, 0.0) / (1.0 - KNEE)
    return np.minimum(light, KNEE) + (1.0 - KNEE) * (1.0 - np.exp(-over))


def shown(light: np.ndarray, coverage: np.ndarray, shadow, backdrop: float) -> np.ndarray:
    """Returns an sRGB image [H, W, 3], 0 to 1, of a vehicle's light [3, H, W] (linear,
    premultiplied) on a plain backdrop (sRGB)."""
    own = srgb(toned(light * (EXPOSURE / np.maximum(coverage, 1e-4))))
    return (own * coverage + (1 - coverage) * (1 - shadow) * backdrop).transpose(1, 2, 0)


def compose(layers: np.ndarray, coverage: np.ndarray, paint_share: np.ndarray, paint: dict, backdrop: float = 0.9) -> np.ndarray:
    """Returns an sRGB image [H, W, 3], 0 to 1, of layers [10, H, W] in a paint, on a plain backdrop
    (sRGB)."""
    column = lambda name: np.array(paint[name])[:, None, None]
    diffuse, gloss, rest, shadow = layers[:3], layers[3:6], layers[6:9], np.clip(layers[9], 0, 1)
    brightness = np.tensordot(LUMINANCE, diffuse, 1) / np.maximum(paint_share, 1e-4)
    turned = np.clip(brightness / FLAKE_PIVOT, 0.2, 1.7)
    shaped = 1 + (turned - 1) * paint["flake"] * 0.9
    light = diffuse * column("albedo") * shaped + gloss * (paint["gloss"] + column("flake_tint") * paint["flake"] * 0.8) + rest
    return shown(light, coverage, shadow, backdrop)
