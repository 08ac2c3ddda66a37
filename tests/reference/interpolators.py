"""Writes the fixture of frame interpolation: what RIFE's own code makes of small pictures, at some places.

Needs only torch, numpy, safetensors and the wheel of vsrife 5.7.0, unpacked into the folder that is given. The networks have few
channels, and their weights are made from their names here and in `src/interpolators.rs`.
"""

import argparse
import importlib.util
import os
import sys
import types

import numpy
import torch
from safetensors.torch import save_file

import hash_weights

torch.set_num_threads(1)

FIXTURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "interpolation.safetensors")
# Pixels between those that the pictures are made of.
STEP = 8
# Rows and columns between the places that are kept.
KEPT = (11, 13)
# The version, the channels of its blocks, height and width, the time, and what the last layers are multiplied by.
CASES = {
    "4.26": ("4_26", [12, 8, 8, 6, 4], (64, 128), 0.5, 6.0),
    "4.26 later": ("4_26", [12, 8, 8, 6, 4], (64, 64), 0.75, 6.0),
    "4.26 heavy": ("4_26_heavy", [8, 8, 6, 6, 4], (64, 64), 0.5, 6.0),
    "4.25 lite": ("4_25_lite", [8, 8, 6, 6, 24], (128, 128), 0.5, 6.0),
    "4.22": ("4_22", [12, 8, 8, 6], (32, 64), 0.5, 6.0),
    "4.15": ("4_15", [12, 8, 8, 6], (64, 32), 0.25, 6.0),
    "4.12": ("4_12", [12, 8, 8, 6], (32, 64), 0.5, 6.0),
    "4.7": ("4_7", [12, 8, 8, 6], (32, 64), 0.5, 6.0),
    "4.6": ("4_6", [12, 8, 8, 6], (32, 96), 0.5, 6.0),
    "4.0": ("4_0", [12, 8, 8, 6], (64, 64), 0.5, 1.0),
    "4.0 far": ("4_0", [12, 8, 8, 6], (64, 64), 0.5, 2.8),
}


def module_of(folder, version):
    """The code of a version, without the rest of vsrife, which needs VapourSynth."""
    package = types.ModuleType("vsrife")
    package.__path__ = [os.path.join(folder, "vsrife")]
    sys.modules["vsrife"] = package
    name = f"vsrife.IFNet_HDv3_v{version}"
    path = os.path.join(folder, "vsrife", f"IFNet_HDv3_v{version}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def network(folder, version, widths, name, scale):
    """A network with few channels and the weights of a case."""
    module = module_of(folder, version)
    net = module.IFNet()
    for number, width in enumerate(widths):
        block = getattr(net, f"block{number}")
        inputs = block.conv0[0][0].in_channels
        setattr(net, f"block{number}", module.IFBlock(inputs, c=width))
    state = {}
    for key, value in net.state_dict().items():
        factor = scale if "lastconv" in key else 1.0
        made = hash_weights.weight(f"interpolation.{name}.{key}", tuple(value.shape), factor)
        state[key] = torch.from_numpy(numpy.ascontiguousarray(made))
    net.load_state_dict(state)
    return net.eval()


def picture(name, height, width):
    """A smooth picture in 0…1: few values, with straight lines between."""
    shape = (3, height // STEP + 1, width // STEP + 1)
    grid = (hash_weights.uniform(name, shape).astype(numpy.float64) + 1) / 2

    def spread(values, length):
        place = numpy.arange(length) / STEP
        first = place.astype(int)
        share = place - first
        return values[..., first] * (1 - share) + values[..., first + 1] * share

    rows = spread(grid, width)
    whole = spread(rows.transpose(0, 2, 1), height).transpose(0, 2, 1)
    return torch.from_numpy(whole.astype(numpy.float32))[None]


def between(net, pair, time):
    """The frame between two, as vsrife calls the network."""
    height, width = pair[0].shape[-2:]
    down, across = [torch.linspace(-1.0, 1.0, length) for length in (height, width)]
    grid = torch.stack([across.expand(height, width), down[:, None].expand(height, width)])[None]
    divisors = torch.tensor([(width - 1.0) / 2.0, (height - 1.0) / 2.0])
    times = torch.full((1, 1, height, width), time)
    more = [net.encode(image) for image in pair] if hasattr(net, "encode") else []
    return net(*pair, times, divisors, grid, *more)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vsrife", help="the folder with the unpacked wheel")
    arguments = parser.parse_args()
    kept = {}
    for name, (version, widths, size, time, scale) in CASES.items():
        net = network(arguments.vsrife, version, widths, name, scale)
        pair = [picture(f"interpolation.{name}.{which}", *size) for which in ("before", "after")]
        with torch.no_grad():
            made = between(net, pair, time)
        kept[name] = made[:, :, :: KEPT[0], :: KEPT[1]].contiguous()
        far = (made - pair[0]).abs().max()
        print(f"{name}: {tuple(kept[name].shape)}, {made.min():.3f} to {made.max():.3f}, {far:.3f} from the frame before")
    save_file(kept, FIXTURE)


if __name__ == "__main__":
    main()
