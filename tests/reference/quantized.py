"""Writes ../fixtures/quantized: weights as other programs quantize them, and some rows of what these programs
widen them to.

    python3.11 -m pip install numpy safetensors torch==2.15.0
    python3.11 -m pip install --no-deps comfy-kitchen==0.2.40 torchao==0.18.0 bitsandbytes==0.50.2
    python quantized.py

comfy.safetensors has layers of ComfyUI, each beside its description; header.safetensors has two of them with the
description in the header. torchao.safetensors and bitsandbytes.safetensors are what these packages write.
widened.safetensors has ROWS of each weight, named FILE/LAYER. Values are computed in f32, but rotations in f64,
where their sums are exact.
"""

import json
import os

import torch
from safetensors.torch import save_file

import hash_weights

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "quantized")
# The first of a tile of scales, its neighbours, and the last ones.
ROWS = (0, 1, 31, 32, 64, 127, 128, 143)


def weight(name, rows, columns):
    """Random weights with a few large ones."""
    values = torch.from_numpy(hash_weights.uniform(f"quantized.{name}", (rows, columns))).float()
    return values * (1 + 7 * (values.abs() > values.abs().flatten().kthvalue(rows * columns * 98 // 100).values))


def text(entry):
    """JSON as bytes."""
    return torch.tensor(list(json.dumps(entry).encode()), dtype=torch.uint8)


def some(values):
    """The rows that are kept."""
    return values[[row for row in ROWS if row < len(values)]].float().contiguous()


def bytes_of(tensor):
    """8-bit floats that have no name in safetensors as bytes."""
    return tensor.view(torch.uint8) if tensor.dtype == torch.float8_e8m0fnu else tensor


def comfy():
    """The layers by name: their entry, tensors and widened values."""
    from comfy_kitchen.tensor import (
        AsymW4A8Int8Layout,
        TensorCoreConvRotW4A4Layout,
        TensorCoreFP8Layout,
        TensorCoreMXFP8Layout,
        TensorCoreNVFP4Layout,
        TensorWiseINT8Layout,
    )

    whole = torch.tensor(0.01)
    return {
        "fp8": (TensorCoreFP8Layout, {"format": "float8_e4m3fn"}, (8, 32), {"scale": whole}),
        "mxfp8": (TensorCoreMXFP8Layout, {"format": "mxfp8"}, (160, 160), {}),
        "nvfp4": (TensorCoreNVFP4Layout, {"format": "nvfp4"}, (144, 80), {}),
        "int8": (TensorWiseINT8Layout, {"format": "int8_tensorwise"}, (8, 32), {}),
        "int8_rows": (TensorWiseINT8Layout, {"format": "int8_tensorwise"}, (8, 32), {"per_channel": True}),
        "int8_rotated": (
            TensorWiseINT8Layout,
            {"format": "int8_tensorwise", "convrot": True, "convrot_groupsize": 256},
            (8, 512),
            {"per_channel": True, "convrot": True, "convrot_groupsize": 256},
        ),
        "int8_rotated_64": (
            TensorWiseINT8Layout,
            {"format": "int8_tensorwise", "params": {"convrot": True, "convrot_groupsize": 64}},
            (8, 192),
            {"per_channel": True, "convrot": True, "convrot_groupsize": 64},
        ),
        "w4a4": (
            TensorCoreConvRotW4A4Layout, {"format": "convrot_w4a4", "convrot_groupsize": 256}, (8, 512), {},
        ),
        "w4a8": (
            AsymW4A8Int8Layout,
            {"format": "asym_w4a8_int8", "group_size": 16, "convrot_groupsize": 256},
            (8, 512),
            {},
        ),
        "w4a8_plain": (
            AsymW4A8Int8Layout,
            {"format": "asym_w4a8_int8", "group_size": 32, "convrot_groupsize": 64},
            (8, 128),
            {"group_size": 32, "convrot_groupsize": 64, "codebook": False, "scale_dtype": torch.float32},
        ),
    }


def dequantized(layout, codes, params):
    """What the package makes of a weight; it rotates in f64 here."""
    from comfy_kitchen.backends.eager.svdquant import _unpack_int4_row_major
    from comfy_kitchen.backends.eager.w4a8_int8 import _dequant_int4_grouped_to_int8
    from comfy_kitchen.tensor.int8_utils import _build_hadamard, _rotate_weight

    single = layout.dequantize(codes, params)
    if hasattr(params, "s_channel"):
        integers = _dequant_int4_grouped_to_int8(codes, params.scale, params.codebook, params.group_size)
        scale = params.s_channel
    elif hasattr(params, "quant_group_size"):
        integers, scale = _unpack_int4_row_major(codes), params.scale
    elif getattr(params, "convrot", False):
        integers, scale = codes, params.scale
    else:
        return single
    group = params.convrot_groupsize
    values = integers.double() * scale.double().reshape(-1, 1)
    values = _rotate_weight(values, _build_hadamard(group, dtype=torch.float64), group).float()
    assert (values - single).abs().max() <= 1e-6 * values.abs().max()
    return values


def write_comfy(widened):
    """Writes both files of ComfyUI."""
    tensors, headed, entries = {}, {}, {}
    for name, (layout, entry, shape, options) in comfy().items():
        codes, params = layout.quantize(weight(name, *shape), **options)
        parts = {f".weight{part}": bytes_of(tensor) for part, tensor in
                 layout.state_dict_tensors(codes, params).items()}
        widened[f"comfy/{name}"] = some(dequantized(layout, codes, params))
        tensors |= {f"{name}{part}": tensor.contiguous() for part, tensor in parts.items()}
        tensors[f"{name}.comfy_quant"] = text(entry)
        if name in ("int8_rows", "int8_rotated_64"):
            headed |= {f"model.diffusion_model.{name}{part}": tensor.contiguous() for part, tensor in parts.items()}
            entries[name] = entry
    smooth = torch.linspace(0.5, 2, 80)
    tensors |= {key.replace("nvfp4.", "nvfp4_smooth."): tensor.clone() for key, tensor in tensors.items()
                if key.startswith("nvfp4.")}
    tensors["nvfp4_smooth.pre_quant_scale"] = smooth
    widened["comfy/nvfp4_smooth"] = widened["comfy/nvfp4"] * smooth
    tensors["int8.input_scale"] = torch.tensor(0.5)
    save_file(tensors, f"{FOLDER}/comfy.safetensors")
    metadata = {"_quantization_metadata": json.dumps({"format_version": "1.0", "layers": entries})}
    save_file(headed, f"{FOLDER}/header.safetensors", metadata=metadata)


def write_torchao(widened):
    """Writes the file of torchao."""
    from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
    from torchao.quantization import (
        Float8WeightOnlyConfig,
        Int8WeightOnlyConfig,
        IntxWeightOnlyConfig,
        PerGroup,
        quantize_,
    )

    configs = {
        "float8": Float8WeightOnlyConfig(),
        "int8": Int8WeightOnlyConfig(version=2),
        "groups": IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32), version=2),
    }
    state = {}
    for name, config in configs.items():
        layer = torch.nn.Linear(64, 8)
        layer.weight.data = weight(f"torchao.{name}", 8, 64)
        layer.bias.data = weight(f"torchao.{name}.bias", 1, 8)[0]
        quantize_(layer, config)
        state |= {f"{name}.{key}": value for key, value in layer.state_dict().items()}
        widened[f"torchao/{name}"] = some(layer.weight.dequantize().detach())
    tensors, metadata = flatten_tensor_state_dict(state)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, f"{FOLDER}/torchao.safetensors",
              metadata=metadata)


def write_bitsandbytes(widened):
    """Writes the file of bitsandbytes."""
    import bitsandbytes.functional as functional

    tensors = {}
    for name, kind, nested in [("nf4", "nf4", False), ("nf4_nested", "nf4", True), ("fp4", "fp4", False),
                               ("fp4_nested", "fp4", True)]:
        values = weight(f"bitsandbytes.{name}", 16, 128)
        codes, state = functional.quantize_4bit(values, quant_type=kind, compress_statistics=nested)
        tensors[f"{name}.weight"] = codes
        tensors |= {f"{name}.weight.{key}": value for key, value in state.as_dict(packed=True).items()}
        widened[f"bitsandbytes/{name}"] = some(functional.dequantize_4bit(codes, state))
    codes, largest, _ = functional.int8_vectorwise_quant(weight("bitsandbytes.int8", 8, 64).half())
    tensors |= {"int8.weight": codes, "int8.SCB": largest,
                "int8.weight_format": torch.zeros((), dtype=torch.uint8)}
    widened["bitsandbytes/int8"] = some(functional.int8_vectorwise_dequant(codes, largest))
    save_file({name: tensor.contiguous().clone() for name, tensor in tensors.items()},
              f"{FOLDER}/bitsandbytes.safetensors")


def main():
    """Writes all files."""
    os.makedirs(FOLDER, exist_ok=True)
    widened = {}
    write_comfy(widened)
    write_torchao(widened)
    write_bitsandbytes(widened)
    save_file(widened, f"{FOLDER}/widened.safetensors")


if __name__ == "__main__":
    main()
