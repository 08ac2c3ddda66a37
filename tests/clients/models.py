"""Small models beside the starter: a LoRA, a ControlNet, and a detector that is half sure of something everywhere."""

import json
import math
import random
import struct
from pathlib import Path

STARTER = Path(__file__).parents[2] / "assets/starter/transformer/diffusion_pytorch_model.safetensors"
WIDTH = 160


def read(path):
    """Tensors by their names: type, shape, bytes."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    values = data[8 + length :]
    return {name: (of["dtype"], of["shape"], values[slice(*of["data_offsets"])]) for name, of in header.items()}


def write(path, tensors):
    header, end = {}, 0
    for name, (dtype, shape, values) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + len(values)]}
        end += len(values)
    header = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"".join(values for _, _, values in tensors.values()))


def zeros(*shape):
    return "F32", list(shape), bytes(4 * math.prod(shape))


def noise(scale, *shape):
    source = random.Random(7)
    values = (source.gauss(0, scale) for _ in range(math.prod(shape)))
    return "F32", list(shape), b"".join(struct.pack("<f", value) for value in values)


def lora(path):
    layer = "diffusion_model.layers.0.attention.to_v"
    write(path, {f"{layer}.lora_A.weight": noise(0.3, 2, WIDTH), f"{layer}.lora_B.weight": noise(0.3, WIDTH, 2)})


def control_net(path):
    """Blocks of the starter itself, with taps."""
    of_starter = read(STARTER)
    taken = ("layers.0.", "noise_refiner.", "all_x_embedder.")
    tensors = {f"control_{name}": tensor for name, tensor in of_starter.items() if name.startswith(taken)}
    for stack in "control_layers", "control_noise_refiner":
        for tap in "before_proj", "after_proj":
            tensors[f"{stack}.0.{tap}.weight"] = noise(0.05, WIDTH, WIDTH)
            tensors[f"{stack}.0.{tap}.bias"] = zeros(WIDTH)
    write(path, tensors)


def detector(path):
    """A narrow YOLOv8 with weights of zero."""
    width, half = 8, 4
    tensors = {}

    def conv(name, outputs, inputs, side):
        tensors[f"{name}.conv.weight"] = zeros(outputs, inputs, side, side)
        for end in "weight", "bias", "running_mean", "running_var":
            tensors[f"{name}.bn.{end}"] = zeros(outputs)

    for layer in 0, 1, 3, 5, 7, 16, 19:
        conv(f"model.{layer}", width, 3 if layer == 0 else width, 3)
    for layer in 2, 4, 6, 8, 12, 15, 18, 21:
        # The later ones read two others.
        conv(f"model.{layer}.cv1", width, width if layer < 12 else 2 * width, 1)
        conv(f"model.{layer}.cv2", width, 3 * half, 1)
        for part in "cv1", "cv2":
            conv(f"model.{layer}.m.0.{part}", half, half, 3)
    conv("model.9.cv1", half, width, 1)
    conv("model.9.cv2", width, 4 * half, 1)
    for level in range(3):
        for way, outputs in ("cv2", 64), ("cv3", 1):
            name = f"model.22.{way}.{level}"
            for layer in range(2):
                conv(f"{name}.{layer}", width, width, 3)
            tensors[f"{name}.2.weight"] = zeros(outputs, width, 1, 1)
            tensors[f"{name}.2.bias"] = zeros(outputs)
    write(path, tensors)
