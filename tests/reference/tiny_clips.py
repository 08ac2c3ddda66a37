"""Decoders of tiny autoencoders for clips, in the layout of madebyollin/taehv, which is on no package index."""

import quiet  # noqa: F401  (has to come first)

import torch
from torch import nn
import torch.nn.functional as F


class Remembering(nn.Module):
    """Three convolutions of each frame beside the frame before."""

    def __init__(self, width):
        super().__init__()
        convs = [nn.Conv2d(inputs, width, 3, padding=1) for inputs in (2 * width, width, width)]
        self.conv = nn.Sequential(convs[0], nn.ReLU(), convs[1], nn.ReLU(), convs[2])

    def forward(self, x):
        """`x` has the frames of one clip, in order."""
        before = torch.cat([torch.zeros_like(x[:1]), x[:-1]])
        return F.relu(self.conv(torch.cat([x, before], dim=1)) + x)


class Grown(nn.Module):
    """A convolution to `times` frames for each; those that are not `kept` are left out, all but the last."""

    def __init__(self, width, times, kept):
        super().__init__()
        self.conv = nn.Conv2d(width, times * width, 1, bias=False)
        self.kept = kept

    def forward(self, x):
        """`x` has the frames of one clip, in order."""
        width = x.shape[1]
        if self.kept:
            return self.conv(x).reshape(-1, width, *x.shape[2:])
        return F.conv2d(x, self.conv.weight[-width:])


class Squashed(nn.Module):
    """Limits the latents smoothly."""

    def forward(self, x):
        """To ±3."""
        return torch.tanh(x / 3) * 3


class Decoder(nn.Module):
    """Latents `[frames, channels, height, width]` to images in 0…1, without the limits of 0 and 1.

    `times` are the frames that each level makes of one. With `all_frames`, they are made; without, one frame for each
    latent frame. `doublings` of the levels double the resolution.
    """

    def __init__(self, channels, widths, times, patch, all_frames=False, doublings=3):
        super().__init__()
        layers = [Squashed(), nn.Conv2d(channels, widths[0], 3, padding=1), nn.ReLU()]
        for level, width in enumerate(widths[:3]):
            layers += [Remembering(width) for _ in range(3)]
            layers += [
                nn.Upsample(scale_factor=2 if level < doublings else 1),
                Grown(width, times[level], all_frames),
                nn.Conv2d(width, widths[level + 1], 3, padding=1, bias=False),
            ]
        layers += [nn.ReLU(), nn.Conv2d(widths[3], 3 * patch**2, 3, padding=1)]
        self.decoder = nn.Sequential(*layers)
        self.patch = patch

    def forward(self, latents):
        """All frames at once."""
        return F.pixel_shuffle(self.decoder(latents), self.patch)
