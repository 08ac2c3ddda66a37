"""Writes the fixtures of upscalers: manifests of tiny ones, and what spandrel's networks make of small pictures.

Needs only torch, numpy, safetensors and spandrel 0.4.2.
"""

import argparse
import json
import os

import numpy
import spandrel
import torch
from safetensors.torch import save_file
from spandrel.architectures.DAT import DAT
from spandrel.architectures.HAT import HAT
from spandrel.architectures.PLKSR import RealPLKSR
from spandrel.architectures.SPAN.__arch.span import Conv3XC
from spandrel.architectures.SwinIR import SwinIR

import hash_weights

torch.set_num_threads(1)

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "upscale")
# Of the dense blocks that spandrel builds.
GROWTH = 32
# Height and width of the pictures: odd, a single row, a single column, and one with many tiles of Winograd's convolution.
SIZES = [(9, 7), (1, 6), (5, 1)]
LARGE = (18, 30)


def conv(name, outputs, inputs, side=3):
    """The shapes of a convolution."""
    return {f"{name}.weight": (outputs, inputs, side, side), f"{name}.bias": (outputs,)}


def dense(name, width):
    """The shapes of five convolutions that see each other; `{}` in the name is the number."""
    shapes = {}
    for number in range(1, 6):
        outputs = width if number == 5 else GROWTH
        shapes |= conv(name.format(number), outputs, width + (number - 1) * GROWTH)
    return shapes


def rrdb(style, doublings, blocks=1, width=8, inputs=3):
    """ESRGAN under the names of one of its programs."""
    block = {
        "new": "body.{}.rdb{}.conv{{}}",
        "trunk": "RRDB_trunk.{}.RDB{}.conv{{}}",
        "numbered": "model.1.sub.{}.RDB{}.conv{{}}.0",
    }[style]
    after = 3 * doublings
    first, body, up, high, last = {
        "new": ("conv_first", "conv_body", "conv_up{}", "conv_hr", "conv_last"),
        "trunk": ("conv_first", "trunk_conv", "upconv{}", "HRconv", "conv_last"),
        "numbered": ("model.0", f"model.1.sub.{blocks}", None, f"model.{after + 2}", f"model.{after + 4}"),
    }[style]
    shapes = conv(first, width, inputs)
    for number in range(blocks):
        for inner in range(1, 4):
            shapes |= dense(block.format(number, inner), width)
    shapes |= conv(body, width, width)
    for number in range(1, doublings + 1):
        shapes |= conv(up.format(number) if up else f"model.{3 * number}", width, width)
    return shapes | conv(high, width, width) | conv(last, 3, width)


def srvgg(factor, convolutions=3, width=16):
    """Real-ESRGAN's compact network."""
    shapes = {}
    for number in range(convolutions):
        shapes |= conv(f"body.{2 * number}", width, 3 if number == 0 else width)
        shapes[f"body.{2 * number + 1}.weight"] = (width,)
    return shapes | conv(f"body.{2 * convolutions}", 3 * factor**2, width)


def conv3xc(name, outputs, inputs, whole):
    """SPAN's convolution: its parts, or the one that they are joined to."""
    shapes = conv(f"{name}.eval_conv", outputs, inputs)
    if whole:
        return shapes
    shapes |= conv(f"{name}.sk", outputs, inputs, 1) | conv(f"{name}.conv.0", 2 * inputs, inputs, 1)
    return shapes | conv(f"{name}.conv.1", 2 * outputs, 2 * inputs) | conv(f"{name}.conv.2", outputs, 2 * outputs, 1)


def span(factor, width=8, normed=True, whole=False):
    """SPAN."""
    shapes = conv3xc("conv_1", width, 3, whole)
    for number in range(1, 7):
        for inner in range(1, 4):
            shapes |= conv3xc(f"block_{number}.c{inner}_r", width, width, whole)
    shapes |= conv3xc("conv_2", width, width, whole)
    shapes |= conv("conv_cat", width, 4 * width, 1) | conv("upsampler.0", 3 * factor**2, width)
    return shapes if normed else shapes | {"no_norm": (1,)}


def stored(network):
    """The tensors of a network that spandrel builds, under the names that files have."""
    renamed = getattr(network, "start_unshuffle", 1) > 1
    of_squares = {"conv_first.weight": "conv_first.1.weight", "conv_first.bias": "conv_first.1.bias"}
    state = network.state_dict().items()
    return {of_squares.get(key, key) if renamed else key: value for key, value in state}


def trained(network, *unread):
    """The shapes of a network that spandrel builds, without buffers that only training or the reference reads."""
    ends = ("num_batches_tracked", *unread)
    return {key: tuple(value.shape) for key, value in stored(network).items() if not key.endswith(ends)}


def dat(upscale, width=64, **options):
    """DAT."""
    return DAT(img_size=8, embed_dim=width, upscale=upscale, expansion_factor=2.0, **options)


def plksr(upscale, width=16, **options):
    """RealPLKSR."""
    return RealPLKSR(upscaling_factor=upscale, dim=width, n_blocks=2, **options)


def swinir(upscale, upsampler, window=4, width=12, **options):
    """SwinIR."""
    options = {"img_size": 4 * window, "mlp_ratio": 2.0, "window_size": window, "embed_dim": width} | options
    return SwinIR(upscale=upscale, upsampler=upsampler, **options)


def hat(upscale, window, **options):
    """HAT."""
    options = {"img_size": 4 * window, "mlp_ratio": 2.0, "window_size": window, "embed_dim": 12} | options
    return HAT(upscale=upscale, **options)


# Networks whose buffers are as spandrel makes them.
NETWORKS = {
    "dat_x4": dat(4, split_size=[2, 4], depth=[3, 3], num_heads=[4, 2]),
    "dat_x3": dat(3, split_size=[2, 2], depth=[2], num_heads=[4], resi_connection="3conv"),
    "dat_at_once_x2": dat(
        2, width=96, split_size=[2, 6], depth=[1], num_heads=[6], upsampler="pixelshuffledirect", qkv_bias=False
    ),
    "plksr_x4": plksr(4, kernel_size=17),
    "plksr_x1": plksr(1, width=12, kernel_size=5, use_ea=False),
    "plksr_resampled_x2": plksr(2, kernel_size=7, dysample=True, layer_norm=True),
    "plksr_resampled_x3": plksr(3, width=8, kernel_size=3, split_ratio=1.0, dysample=True),
    "swinir_x4": swinir(4, "pixelshuffle", depths=[2, 3], num_heads=[2, 3]),
    "swinir_real_x4": swinir(4, "nearest+conv", width=16, depths=[2], num_heads=[4], resi_connection="3conv"),
    "swinir_at_once_x2": swinir(2, "pixelshuffledirect", window=3, depths=[2], num_heads=[2], mlp_ratio=1.5),
    "swinir_jpeg_x1": swinir(1, "", window=7, depths=[2, 1], num_heads=[3, 1]),
    "swinir_squares_x2": swinir(4, "nearest+conv", depths=[2], num_heads=[2], start_unshuffle=2),
    "hat_x4": hat(4, 4, depths=[2, 3], num_heads=[2, 3], squeeze_factor=4, num_feat=16),
    "hat_x2": hat(
        2, 8, depths=[2], num_heads=[3], squeeze_factor=12, num_feat=4, qkv_bias=False, patch_norm=False
    ),
}

# Buffers that are not read.
UNREAD = (
    "attn_mask",
    "attn_mask_0",
    "attn_mask_1",
    "init_pos",
    "relative_position_index_SA",
    "relative_position_index_OCA",
)


CASES = {
    "esrgan_x4": rrdb("new", 2),
    "esrgan_x1": rrdb("new", 0),
    "esrgan_numbered_x2": rrdb("numbered", 1, blocks=2),
    "esrgan_trunk_x4": rrdb("trunk", 2),
    "esrgan_squares_x2": rrdb("new", 2, inputs=12),
    "esrgan_squares_x1": rrdb("new", 2, inputs=48),
    "compact_x4": srvgg(4),
    "compact_x3": srvgg(3, width=8),
    "compact_x1": srvgg(1),
    "span_x4": span(4),
    "span_x2": span(2, width=16, normed=False),
    "span_whole_x2": span(2, whole=True),
    **{name: trained(made, *UNREAD) for name, made in NETWORKS.items()},
}
# Buffers that are not read, apart from their shapes.
BUFFERS = ("relative_position_index", "rpe_biases")


def tensors_of(name, shapes):
    """The weights of a case, made from their names."""
    made = {key: hash_weights.weight(f"upscale.{name}.{key}", shape) for key, shape in shapes.items()}
    return {key: torch.from_numpy(numpy.ascontiguousarray(value)) for key, value in made.items()}


def network(name, shapes):
    """A network with the weights of a case, as spandrel loads it."""
    state = tensors_of(name, shapes)
    if name in NETWORKS:
        own = stored(NETWORKS[name])
        made = {key: value for key, value in state.items() if not key.endswith(BUFFERS)}
        loaded = spandrel.ModelLoader().load_from_state_dict(own | made)
        loaded.model.eval()
        return loaded
    if "whole" not in name:
        loaded = spandrel.ModelLoader().load_from_state_dict(state)
        loaded.model.eval()
        return loaded
    # spandrel always joins the parts, so it gets some and then the whole ones.
    loaded = spandrel.ModelLoader().load_from_state_dict(tensors_of(name, span(2)))
    loaded.model.eval().load_state_dict(state, strict=False)
    for module in loaded.model.modules():
        if isinstance(module, Conv3XC):
            module.update_params = lambda: None
    return loaded


def pictures(name, factor):
    """Small pictures in 0…1."""
    sizes = SIZES if factor > 1 else [(9, 7), (5, 6)]
    if name.startswith(("swinir", "hat")):
        # The reference mirrors what windows lack, for which so much must be there.
        sizes = [(16, 8)] if "squares" in name else [(9, 7), (5, 6)]
    for height, width in sizes + ([LARGE] if name == "compact_x1" else []):
        values = hash_weights.uniform(f"upscale.{name}.{height}x{width}", (1, 3, height, width))
        yield f"{height}x{width}", torch.from_numpy((values + numpy.float32(1)) / numpy.float32(2))


def results(name, shapes):
    """Pictures and what the network makes of them."""
    loaded = network(name, shapes)
    kept = {}
    for size, picture in pictures(name, loaded.scale):
        if "squares" in name and min(picture.shape[-2:]) < 2:
            # A single row has nothing to mirror.
            continue
        with torch.no_grad():
            kept[f"{size}.in"], kept[f"{size}.out"] = picture, loaded.model(picture).contiguous()
    return kept


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=FIXTURES, help="where to write, if not to the fixtures")
    out = parser.parse_args().out
    for name, shapes in CASES.items():
        os.makedirs(f"{out}/{name}", exist_ok=True)
        entry = {"seed": f"upscale.{name}", "metadata": None}
        entry["tensors"] = {key: ["F32", list(shape)] for key, shape in shapes.items()}
        with open(f"{out}/{name}/manifest.json", "w", encoding="utf-8") as file:
            json.dump({"model.safetensors": entry}, file, separators=(",", ":"))
            file.write("\n")
        save_file(results(name, shapes), f"{out}/{name}/golden.safetensors")
        print(name, os.path.getsize(f"{out}/{name}/golden.safetensors"))


if __name__ == "__main__":
    main()
