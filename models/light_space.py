"""Definitions of the model's numbers: channel names, the light encoding, the residual. Files and
networks are handled elsewhere.

The render node has the same definitions (`render-node/src/diffusion`, `render-node/src/studio`),
and a test of the node reads these (`render-node/src/studio/twins.rs`), one to a line. The lock file
of an exported model has the channel list, and the node refuses a model whose list differs from its
own.
"""

import numpy as np

# Inputs of the network for every pixel, in this order: `Channel` of
# render-node/src/studio/conditioning.rs, where each is described. They are coverage-weighted means
# of the master's pixels.
CONDITIONING = [
    "normal_x", "normal_y", "normal_z", "depth", "height", "coverage",
    "mask_paint", "mask_glass", "mask_lamp_clear", "mask_lamp_red", "mask_black_trim", "mask_bright_trim", "mask_tyre",
    "mask_rim", "mask_interior", "mask_underbody",
    "albedo_r", "albedo_g", "albedo_b",
    "diffuse_r", "diffuse_g", "diffuse_b", "gloss_r", "gloss_g", "gloss_b", "rest_r", "rest_g", "rest_b",
    "openness", "shadow",
]

# Outputs of the network: the residual of each light layer to the base shading.
LAYERS = [
    "diffuse_r", "diffuse_g", "diffuse_b", "gloss_r", "gloss_g", "gloss_b", "rest_r", "rest_g", "rest_b", "shadow",
]
COLOUR_LAYERS = 9  # the first nine are linear light and are encoded; the shadow is a plain fraction

# Linear light above this is clipped before it is encoded: a lamp reflection may be brighter, an
# image cannot.
LIGHT_MAX = 4.0
# Keep the slope of the encoding finite in the dark, and zero at zero.
TOE = 0.0025
TOE_ROOT = 0.05


def encode(light: np.ndarray) -> np.ndarray:
    """Encodes linear light to a roughly perceptual scale; 0 stays 0."""
    return np.sqrt(np.clip(light, 0.0, LIGHT_MAX) + TOE) - TOE_ROOT


def decode(encoded: np.ndarray) -> np.ndarray:
    """Inverts `encode`; values outside its range are clipped to [0, LIGHT_MAX]."""
    return np.clip(np.square(np.maximum(encoded, 0.0) + TOE_ROOT) - TOE, 0.0, LIGHT_MAX)


def residual(target: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Returns the unscaled residual of [10, H, W] layers: encoded light for the colours, plain
    difference for the shadow."""
    difference = encode(target) - encode(base)
    difference[COLOUR_LAYERS] = target[COLOUR_LAYERS] - base[COLOUR_LAYERS]
    return difference


def apply_residual(base: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """Inverts `residual`: returns the layers that an (unscaled) residual makes of the base."""
    layers = decode(encode(base) + difference)
    layers[COLOUR_LAYERS] = np.clip(base[COLOUR_LAYERS] + difference[COLOUR_LAYERS], 0.0, 1.0)
    return layers


def srgb(light: np.ndarray) -> np.ndarray:
    """Converts linear light to sRGB, clipped to [0, 1] (IEC 61966-2-1)."""
    light = np.clip(light, 0.0, 1.0)
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * np.power(light, 1 / 2.4) - 0.055)
