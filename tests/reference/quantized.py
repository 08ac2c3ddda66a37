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


def four_bits(name, rows, columns, group):
    """A weight as torchao's Int4Tensor: its quantizer is a package for GPUs, whose formulas these are (mslk,
    int4_row_quantize_zp and pack_int4). The widened weight is what its kernels multiply."""
    from torchao.quantization import Int4Tensor

    groups = weight(f"torchao.{name}", rows, columns).bfloat16().float().reshape(rows, -1, group)
    lowest, highest = groups.amin(-1), groups.amax(-1)
    scale = (highest - lowest).clamp(min=1e-6) / 15
    codes = ((groups - lowest[..., None]) / scale[..., None]).round().clamp(0, 15) - 8
    scale, zero = scale.bfloat16(), (lowest + scale * 8).bfloat16()
    widened = (codes * scale.float()[..., None] + zero.float()[..., None]).reshape(rows, columns)
    halves = codes.reshape(rows, columns // 2, 2).to(torch.int8)
    packed = (halves[..., 1] << 4 | halves[..., 0] & 15).to(torch.int8)
    return Int4Tensor(packed, scale.T.contiguous(), zero.T.contiguous(), [1, group], torch.Size((rows, columns))), widened


def tiles(codes):
    """Bytes of two codes in the order of NVIDIA's tensor cores: _convert_weight_to_int4pack, which only GPUs
    have. A lane holds four words of eight codes of one row."""
    rows, columns = codes.shape[0], codes.shape[1] * 2
    packed = torch.zeros(rows // 8, columns // 128, 32, 4, dtype=torch.int64)
    for lane in range(32):
        for word in range(4):
            first = word * 16 + lane % 4
            for place, byte in enumerate((first, first + 4, first + 8, first + 12)):
                pair = codes[lane // 4::8, byte::64].long()
                packed[:, :, lane, word] |= pair >> 4 << 4 * place | (pair & 15) << 16 + 4 * place
    return torch.where(packed < 2**31, packed, packed - 2**32).int()


def tiled(name, rows, columns, group):
    """A weight as torchao's Int4TilePackedTo4dTensor, padded like there."""
    from torchao.quantization import Int4TilePackedTo4dTensor
    from torchao.quantization.quant_primitives import (
        MappingType,
        _choose_qparams_affine_tinygemm,
        _dequantize_affine_tinygemm,
        _quantize_affine_tinygemm,
    )
    from torchao.quantization.utils import pack_tinygemm_scales_and_zeros

    padded = torch.nn.functional.pad(weight(f"torchao.{name}", rows, columns).bfloat16(),
                                     (0, -columns % 1024, 0, -rows % 8))
    scale, zero = _choose_qparams_affine_tinygemm(
        padded, mapping_type=MappingType.ASYMMETRIC, block_size=(1, group), target_dtype=torch.int32, quant_min=0,
        quant_max=15, scale_dtype=torch.bfloat16, zero_point_dtype=torch.bfloat16)
    codes = _quantize_affine_tinygemm(padded, (1, group), scale, zero, torch.int32, quant_min=0, quant_max=15)
    widened = _dequantize_affine_tinygemm(codes, (1, group), scale, zero, torch.int32, 0, 15)
    both = pack_tinygemm_scales_and_zeros(scale.reshape(len(codes), -1), zero.reshape(len(codes), -1))
    tensor = Int4TilePackedTo4dTensor(tiles(codes[:, ::2] << 4 | codes[:, 1::2]), both, [1, group],
                                      torch.Size((rows, columns)))
    return tensor, widened[:rows, :columns]


def write_torchao(widened):
    """Writes the file of torchao."""
    from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
    from torchao.quantization import (
        Float8WeightOnlyConfig,
        Int8WeightOnlyConfig,
        IntxWeightOnlyConfig,
        MappingType,
        PerGroup,
        quantize_,
    )

    configs = {
        "float8": Float8WeightOnlyConfig(),
        "int8": Int8WeightOnlyConfig(version=2),
        "groups": IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32), version=2),
        "shifted": IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32), version=2,
                                        mapping_type=MappingType.ASYMMETRIC),
    }
    state = {}
    for name, config in configs.items():
        layer = torch.nn.Linear(64, 8)
        layer.weight.data = weight(f"torchao.{name}", 8, 64)
        layer.bias.data = weight(f"torchao.{name}.bias", 1, 8)[0]
        quantize_(layer, config)
        state |= {f"{name}.{key}": value for key, value in layer.state_dict().items()}
        widened[f"torchao/{name}"] = some(layer.weight.dequantize().detach())
    for name, (tensor, values) in {"int4": four_bits("int4", 33, 128, 32), "tiles": tiled("tiles", 36, 320, 64),
                                   "smooth": four_bits("smooth", 8, 64, 64)}.items():
        state[f"{name}.weight"] = tensor
        widened[f"torchao/{name}"] = some(values)
    factors = torch.linspace(0.5, 2, 64)
    state["smooth.weight"].act_pre_scale = factors
    widened["torchao/smooth"] = widened["torchao/smooth"] * factors
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
