"""Writes ../fixtures/gguf: one tensor of each GGUF type, and what gguf-py widens it to.

    python3.11 -m pip install gguf==0.19.0 numpy safetensors
    python gguf_types.py

The bytes of a block are draws of its name's stream, but for the scales, which are 16-bit numbers or, in MXFP4, exponents.
"""

import os

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import quants
from safetensors.numpy import save_file

import hash_weights

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "gguf")
ROWS, COLUMNS = 2, 512
# Where the 16-bit scales of a block are.
SCALES = {
    Type.Q4_0: (0,),
    Type.Q4_1: (0, 2),
    Type.Q5_0: (0,),
    Type.Q5_1: (0, 2),
    Type.Q8_0: (0,),
    Type.Q2_K: (80, 82),
    Type.Q3_K: (108,),
    Type.Q4_K: (0, 2),
    Type.Q5_K: (0, 2),
    Type.Q6_K: (208,),
    Type.IQ4_NL: (0,),
    Type.IQ4_XS: (0,),
    Type.MXFP4: (),
}


def draws(name, count):
    """The upper bytes of draws."""
    return (hash_weights.bits(name, count) >> np.uint64(56)).astype(np.uint8)


def blocks(kind):
    """Random blocks, `[ROWS, bytes of a row]`."""
    values, size = gguf.GGML_QUANT_SIZES[kind]
    count = ROWS * COLUMNS // values
    encoded = draws(f"gguf.{kind.name}", count * size).reshape(count, size)
    for place in SCALES[kind]:
        scales = hash_weights.uniform(f"gguf.{kind.name}.{place}", (count, 1)).astype(np.float16)
        encoded[:, place:place + 2] = scales.view(np.uint8).reshape(count, 2)
    if kind == Type.MXFP4:
        # An exponent, plus 127.
        encoded[:, 0] = 96 + encoded[:, 0] % 64
    return encoded.reshape(ROWS, -1)


def main():
    """Writes both files."""
    os.makedirs(FOLDER, exist_ok=True)
    writer = gguf.GGUFWriter(f"{FOLDER}/types.gguf", "sluice-test")
    writer.add_array("a.list.of.words", ["to", "be", "passed", "over"])
    writer.add_array("a.list.of.numbers", list(range(100)))
    writer.add_array("comfy.gguf.orig_shape.reshaped", [2, 16, 4, 8])
    widened = {}
    for kind in SCALES:
        encoded = blocks(kind)
        writer.add_tensor(kind.name, encoded, raw_dtype=kind)
        widened[kind.name] = quants.dequantize(encoded, kind)
    plain = hash_weights.uniform("gguf.plain", (ROWS, COLUMNS))
    writer.add_tensor("F32", plain)
    widened["F32"] = plain
    writer.add_tensor("F16", plain.astype(np.float16))
    widened["F16"] = plain.astype(np.float16).astype(np.float32)
    encoded = quants.quantize(plain, Type.BF16)
    writer.add_tensor("BF16", encoded, raw_dtype=Type.BF16)
    widened["BF16"] = quants.dequantize(encoded, Type.BF16)
    encoded = quants.quantize(plain, Type.Q8_0)
    writer.add_tensor("reshaped", encoded, raw_dtype=Type.Q8_0)
    widened["reshaped"] = quants.dequantize(encoded, Type.Q8_0).reshape(2, 16, 4, 8)
    widened["plain"] = plain
    widened["plain.Q8_0"] = encoded
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    save_file({name: np.ascontiguousarray(value) for name, value in widened.items()}, f"{FOLDER}/types.safetensors")


if __name__ == "__main__":
    main()
