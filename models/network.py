"""The denoiser: a small convolutional UNet from (noisy residual, time, conditioning) to the clean
residual.

The base shading already has every sharp edge, so the network works on 4x4 pixel blocks, and only
the head sees single pixels again. There is no attention and no statistic over the image (per-pixel
RMS norm only), so it runs at any size, and a change in one corner never changes the paint in
another. Both outputs start at zero: an untrained network returns the base shading unchanged.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from light_space import CONDITIONING, LAYERS

BLOCK_PX = 4  # side of one cell of the UNet, in pixels
WIDTHS = (64, 128, 192, 256)  # channels per level; each level halves the resolution
SIDE_MULTIPLE = BLOCK_PX * 2 ** (len(WIDTHS) - 1)
TIME_WIDTH = 64
HEAD_WIDTH = 24


class PixelNorm(nn.Module):
    """RMS norm over the channels of each pixel alone."""

    def __init__(self, channels):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(1, channels, 1, 1))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(dim=1, keepdim=True) + 1e-4) * self.gain


class ResidualBlock(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.norm_in, self.conv_in = PixelNorm(channels_in), nn.Conv2d(channels_in, channels_out, 3, padding=1)
        self.norm_out, self.conv_out = PixelNorm(channels_out), nn.Conv2d(channels_out, channels_out, 3, padding=1)
        self.film = nn.Linear(TIME_WIDTH, 2 * channels_out)
        self.skip = nn.Identity() if channels_in == channels_out else nn.Conv2d(channels_in, channels_out, 1)
        nn.init.zeros_(self.conv_out.weight)
        nn.init.zeros_(self.conv_out.bias)
        nn.init.zeros_(self.film.weight)
        nn.init.zeros_(self.film.bias)

    def forward(self, x, time):
        hidden = self.conv_in(F.silu(self.norm_in(x)))
        scale, shift = self.film(time)[:, :, None, None].chunk(2, dim=1)
        return self.skip(x) + self.conv_out(F.silu(self.norm_out(hidden) * (1 + scale) + shift))


class LightNetwork(nn.Module):
    """sample [N,10,H,W], timestep [N] in (0, 1], conditioning [N,C,H,W] -> x0 [N,10,H,W].

    The sides are multiples of SIDE_MULTIPLE.
    """

    def __init__(self):
        super().__init__()
        first, channels_in = WIDTHS[0], (len(LAYERS) + len(CONDITIONING)) * BLOCK_PX**2
        self.stem = nn.Conv2d(channels_in, first, 1)
        self.time = nn.Sequential(nn.Linear(32, TIME_WIDTH), nn.SiLU(), nn.Linear(TIME_WIDTH, TIME_WIDTH), nn.SiLU())
        self.down_blocks = nn.ModuleList(ResidualBlock(width, width) for width in WIDTHS)
        self.down = nn.ModuleList(nn.Conv2d(a, b, 2, stride=2) for a, b in zip(WIDTHS, WIDTHS[1:]))
        self.middle = ResidualBlock(WIDTHS[-1], WIDTHS[-1])
        self.up = nn.ModuleList(nn.Conv2d(b, a, 1) for a, b in zip(WIDTHS, WIDTHS[1:]))
        self.up_blocks = nn.ModuleList(ResidualBlock(2 * width, width) for width in WIDTHS[:-1])
        # The head gets the conditioning again at full resolution, which keeps the 4x4 blocks from
        # showing.
        self.to_pixels = nn.Conv2d(first, 16 * BLOCK_PX**2, 1)
        self.head_mix = nn.Conv2d(16 + len(CONDITIONING), HEAD_WIDTH, 1)
        self.head = nn.Conv2d(HEAD_WIDTH, len(LAYERS) - 1, 3, padding=1)
        # The ground shadow is soft: it has half the resolution of a block's pixels and is smoothed,
        # because otherwise the blocks would show in it.
        self.to_shadow = nn.Conv2d(first, 4, 3, padding=1)
        for layer in (self.head, self.to_shadow):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
        tent = torch.tensor([1.0, 2.0, 1.0])
        self.register_buffer("tent", (tent[:, None] * tent / 16)[None, None], persistent=False)
        self.register_buffer("frequencies", math.pi * 2.0 ** torch.linspace(-2, 4, 16), persistent=False)

    def forward(self, sample, timestep, conditioning):
        angles = timestep[:, None] * self.frequencies
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=1))
        x = self.stem(F.pixel_unshuffle(torch.cat([sample, conditioning], dim=1), BLOCK_PX))
        skips = []
        for level, block in enumerate(self.down_blocks):
            x = block(x, time)
            if level < len(self.down):
                skips.append(x)
                x = self.down[level](x)
        x = self.middle(x, time)
        for level in reversed(range(len(self.up))):
            x = F.interpolate(self.up[level](x), scale_factor=2.0, mode="nearest")
            x = self.up_blocks[level](torch.cat([x, skips[level]], dim=1), time)

        pixels = F.pixel_shuffle(self.to_pixels(F.silu(x)), BLOCK_PX)
        colours = self.head(F.silu(self.head_mix(torch.cat([pixels, conditioning], dim=1))))
        # Layers are premultiplied and encoded with a square root, so at a partly covered pixel the
        # residual shrinks with the root of the coverage. The network need not learn edges, and
        # nothing leaks off the vehicle.
        coverage = conditioning[:, CONDITIONING.index("coverage")][:, None]
        paint = conditioning[:, CONDITIONING.index("mask_paint")][:, None]
        on_paint = paint.clamp(0, 1).sqrt()
        off_paint = (coverage - paint).clamp(0, 1).sqrt()
        colours = torch.cat([colours[:, :6] * on_paint, colours[:, 6:] * off_paint], dim=1)
        shadow = F.conv2d(F.pad(F.pixel_shuffle(self.to_shadow(x), 2), (1, 1, 1, 1), mode="replicate"), self.tent)
        shadow = F.interpolate(shadow, scale_factor=2.0, mode="bilinear", align_corners=False)
        return torch.cat([colours, shadow], dim=1)
