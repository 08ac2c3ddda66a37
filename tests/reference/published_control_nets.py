"""Names and shapes of published ControlNets, T2I-Adapters and IP-Adapters, folded to patterns.

    python published_control_nets.py ../fixtures/published_control_nets.json

Each network says where its configuration is from. What a published file is known by is checked: its size in bytes, and the
checksum of its names and shapes by which DiffSynth-Studio knows it (diffsynth/configs/model_configs.py; those of Stable
Diffusion are in older versions, diffsynth/configs/model_config.py).
"""

import hashlib
import inspect
import itertools
import json
import sys

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
import transformers

import checkpoints
import likeness

BYTES = {"BF16": 2, "F16": 2, "F32": 4, "I64": 8}


class Shapes(dict):
    """Names and shapes of a file whose class is not in diffusers."""

    def linear(self, name, outputs, inputs, bias=True):
        """A layer of a matrix."""
        self[f"{name}.weight"] = [outputs, inputs]
        if bias:
            self[f"{name}.bias"] = [outputs]

    def conv(self, name, outputs, inputs, side):
        """A convolution."""
        self[f"{name}.weight"] = [outputs, inputs, side, side]
        self[f"{name}.bias"] = [outputs]

    def norm(self, name, width):
        """A norm with bias."""
        self[f"{name}.weight"] = self[f"{name}.bias"] = [width]


def shapes_of(model):
    """Those of a network."""
    return {name: list(value.shape) for name, value in model.state_dict().items()}


def of_class(name, **config):
    """Those of a class of diffusers."""
    with torch.device("meta"):
        return shapes_of(getattr(diffusers, name)(**config))


def unet_of(model):
    """The UNet of a model of presets/configurations.json."""
    known = likeness.presets()
    parts = next(entry["parts"] for entry in known["models"] if entry["id"] == model)
    return likeness.network(known["parts"][parts["unet"]], likeness.configuration(known["parts"], parts["unet"])[0])


def for_unet(model):
    """A ControlNet as diffusers makes one for a UNet."""
    with torch.device("meta"):
        return shapes_of(diffusers.ControlNetModel.from_unet(unet_of(model), load_weights_from_unet=False))


def union(kinds):
    """A union for Stable Diffusion XL."""
    taken = inspect.signature(diffusers.ControlNetUnionModel.__init__).parameters
    config = {name: value for name, value in unet_of("sdxl").config.items() if name in taken}
    hint = (16, 32, 96, 256)
    return of_class(
        "ControlNetUnionModel", **config, num_control_type=kinds, conditioning_embedding_out_channels=hint
    )


def original():
    """`ControlNet` in cldm/cldm.py of lllyasviel/ControlNet with models/cldm_v15.yaml."""
    widths, prompt, embedding = [320, 640, 1280, 1280], 768, 1280
    shapes = Shapes()

    def resnet(name, inputs, outputs):
        shapes.norm(f"{name}.in_layers.0", inputs)
        shapes.conv(f"{name}.in_layers.2", outputs, inputs, 3)
        shapes.linear(f"{name}.emb_layers.1", outputs, embedding)
        shapes.norm(f"{name}.out_layers.0", outputs)
        shapes.conv(f"{name}.out_layers.3", outputs, outputs, 3)
        if inputs != outputs:
            shapes.conv(f"{name}.skip_connection", outputs, inputs, 1)

    def transformer(name, width):
        shapes.norm(f"{name}.norm", width)
        shapes.conv(f"{name}.proj_in", width, width, 1)
        block = f"{name}.transformer_blocks.0"
        for attention, seen in (("attn1", width), ("attn2", prompt)):
            shapes.linear(f"{block}.{attention}.to_q", width, width, bias=False)
            shapes.linear(f"{block}.{attention}.to_k", width, seen, bias=False)
            shapes.linear(f"{block}.{attention}.to_v", width, seen, bias=False)
            shapes.linear(f"{block}.{attention}.to_out.0", width, width)
        shapes.linear(f"{block}.ff.net.0.proj", 8 * width, width)
        shapes.linear(f"{block}.ff.net.2", width, 4 * width)
        for number in (1, 2, 3):
            shapes.norm(f"{block}.norm{number}", width)
        shapes.conv(f"{name}.proj_out", width, width, 1)

    shapes.linear("time_embed.0", embedding, widths[0])
    shapes.linear("time_embed.2", embedding, embedding)
    shapes.conv("input_blocks.0.0", widths[0], 4, 3)
    tapped, width = [widths[0]], widths[0]
    for level, own in enumerate(widths):
        is_last = level + 1 == len(widths)
        for _ in range(2):
            resnet(f"input_blocks.{len(tapped)}.0", width, own)
            if not is_last:
                transformer(f"input_blocks.{len(tapped)}.1", own)
            tapped.append(own)
            width = own
        if not is_last:
            shapes.conv(f"input_blocks.{len(tapped)}.0.op", own, own, 3)
            tapped.append(own)
    resnet("middle_block.0", width, width)
    transformer("middle_block.1", width)
    resnet("middle_block.2", width, width)
    shapes.conv("middle_block_out.0", width, width, 1)
    for number, width in enumerate(tapped):
        shapes.conv(f"zero_convs.{number}.0", width, width, 1)
    hint = [3, 16, 16, 32, 32, 96, 96, 256, 320]
    for number, (inputs, outputs) in enumerate(itertools.pairwise(hint)):
        shapes.conv(f"input_hint_block.{2 * number}", outputs, inputs, 3)
    return {f"control_model.{name}": shape for name, shape in shapes.items()}


def xlabs():
    """`ControlNetFlux` in src/flux/controlnet.py of XLabs-AI/x-flux, with the parameters of FLUX.1 [dev]."""
    width, blocks = 3072, 2
    shapes = Shapes()
    for name, inputs in (("img_in", 64), ("txt_in", 4096), ("pos_embed_input", 64)):
        shapes.linear(name, width, inputs)
    for name, inputs in (("time_in", 256), ("vector_in", 768), ("guidance_in", 256)):
        shapes.linear(f"{name}.in_layer", width, inputs)
        shapes.linear(f"{name}.out_layer", width, width)
    for block, stream in itertools.product(range(blocks), ("img", "txt")):
        name = f"double_blocks.{block}.{stream}"
        shapes.linear(f"{name}_mod.lin", 6 * width, width)
        shapes.linear(f"{name}_attn.qkv", 3 * width, width)
        shapes.linear(f"{name}_attn.proj", width, width)
        for norm in ("query_norm", "key_norm"):
            shapes[f"{name}_attn.norm.{norm}.scale"] = [128]
        shapes.linear(f"{name}_mlp.0", 4 * width, width)
        shapes.linear(f"{name}_mlp.2", width, 4 * width)
    for block in range(blocks):
        shapes.linear(f"controlnet_blocks.{block}", width, width)
    for number in range(8):
        shapes.conv(f"input_hint_block.{2 * number}", 16, 16 if number else 3, 3)
    return shapes


def stability():
    """What scripts/convert_sd3_controlnet_to_diffusers.py of diffusers reads in the files of Stability, and the tensor in
    which ComfyUI (comfy/controlnet.py) reads what they follow. They may have others."""
    width, layers = 2432, 19
    shapes = Shapes()
    shapes.conv("pos_embed_input.proj", width, 16, 2)
    for name, inputs in (("timestep", 256), ("text", 2048)):
        shapes.linear(f"time_text_embed.{name}_embedder.linear_1", width, inputs)
        shapes.linear(f"time_text_embed.{name}_embedder.linear_2", width, width)
    for layer in range(layers):
        name = f"transformer_blocks.{layer}"
        shapes.linear(f"{name}.adaLN_modulation.1", 6 * width, width)
        shapes.linear(f"{name}.attn.qkv", 3 * width, width)
        shapes.linear(f"{name}.attn.proj", width, width)
        shapes.linear(f"{name}.mlp.fc1", 4 * width, width)
        shapes.linear(f"{name}.mlp.fc2", width, 4 * width)
        shapes.linear(f"controlnet_blocks.{layer}", width, width)
    shapes["control_type"] = [1]
    return shapes


def t2i(kind, channels, side):
    """A T2I-Adapter of diffusers."""
    return of_class(
        "T2IAdapter",
        in_channels=channels,
        channels=[320, 640, 1280, 1280],
        num_res_blocks=2,
        downscale_factor=side,
        adapter_type=kind,
    )


def authors_t2i():
    """`Adapter` in ldm/modules/encoders/adapter.py of TencentARC/T2I-Adapter, branch SD, with what ldm/inference_base.py gives
    it for Canny edges: the residual blocks of all levels are counted."""
    shapes, width = Shapes(), 320
    shapes.conv("conv_in", width, 64, 3)
    for number, own in enumerate(own for own in [320, 640, 1280, 1280] for _ in range(2)):
        if own != width:
            shapes.conv(f"body.{number}.in_conv", own, width, 1)
        shapes.conv(f"body.{number}.block1", own, own, 3)
        shapes.conv(f"body.{number}.block2", own, own, 1)
        width = own
    return shapes


def keys_and_values(unet):
    """The keys and values of an IP-Adapter, in the order of a UNet's attention: ip_adapter/ip_adapter.py of
    tencent-ailab/IP-Adapter."""
    shapes, seen = Shapes(), unet.config.cross_attention_dim
    own = unet.state_dict()
    for number, name in enumerate(unet.attn_processors):
        if "attn2" in name:
            width = own[name.replace("processor", "to_q.weight")].shape[0]
            for part in "kv":
                shapes.linear(f"ip_adapter.{number}.to_{part}_ip", width, seen, bias=False)
    return shapes


def ip_adapter(model, values):
    """An IP-Adapter that makes four tokens of an embedding of so many values."""
    unet = unet_of(model)
    shapes, width = keys_and_values(unet), unet.config.cross_attention_dim
    shapes.linear("image_proj.proj", 4 * width, values)
    shapes.norm("image_proj.norm", width)
    return shapes


def resampled(model, width, heads):
    """One with a resampler: `IPAdapterPlus` and `IPAdapterPlusXL` there, with the 16 tokens of the demos."""
    unet = unet_of(model)
    shapes, outputs, inner = keys_and_values(unet), unet.config.cross_attention_dim, 64 * heads
    shapes["image_proj.latents"] = [1, 16, width]
    shapes.linear("image_proj.proj_in", width, 1280)
    for layer in range(4):
        attention, forward = (f"image_proj.layers.{layer}.{part}" for part in (0, 1))
        shapes.norm(f"{attention}.norm1", width)
        shapes.norm(f"{attention}.norm2", width)
        shapes.linear(f"{attention}.to_q", inner, width, bias=False)
        shapes.linear(f"{attention}.to_kv", 2 * inner, width, bias=False)
        shapes.linear(f"{attention}.to_out", width, inner, bias=False)
        shapes.norm(f"{forward}.0", width)
        shapes.linear(f"{forward}.1", 4 * width, width, bias=False)
        shapes.linear(f"{forward}.3", width, 4 * width, bias=False)
    shapes.linear("image_proj.proj_out", outputs, width)
    shapes.norm("image_proj.norm_out", outputs)
    return shapes


def encoder(**config):
    """An image encoder, with the places of its tokens, which older versions of transformers saved."""
    with torch.device("meta"):
        model = transformers.CLIPVisionModelWithProjection(transformers.CLIPVisionConfig(patch_size=14, **config))
    return shapes_of(model), {"vision_model.embeddings.position_ids": [1, 257]}


def flux(**config):
    """A ControlNet for FLUX.1 [dev]; what is not said is as in the class."""
    return of_class("FluxControlNetModel", guidance_embeds=True, **config)


def z_image(places, inputs, refiner=None):
    """A ControlNet for Z-Image."""
    return of_class(
        "ZImageControlNetModel",
        control_layers_places=places,
        control_refiner_layers_places=[0, 1],
        control_in_dim=inputs,
        add_control_noise_refiner=refiner,
    )


def networks():
    """Each by a name: its tensors, their dtype, and what it is known by. `filled` are tensors whose values count."""
    vit_h, vit_h_ids = encoder(
        hidden_size=1280, intermediate_size=5120, num_attention_heads=16, num_hidden_layers=32, projection_dim=1024
    )
    vit_bigg, vit_bigg_ids = encoder(
        hidden_size=1664, intermediate_size=8192, num_attention_heads=16, num_hidden_layers=48, projection_dim=1280
    )
    sd3 = {"attention_head_dim": 64, "num_attention_heads": 24, "caption_projection_dim": 1536}
    return {
        # lllyasviel/control_v11p_sd15_canny.
        "sd1.5-canny": {"dtype": "F32", "tensors": for_unet("sd1.5"), "bytes": 1445157120},
        # control_v11p_sd15_canny_fp16.safetensors of comfyanonymous/ControlNet-v1-1_fp16_safetensors. Its header is not
        # padded: 722601100 bytes.
        "sd1.5-canny-original": {
            "dtype": "F16", "tensors": original(), "keys": "091b0e30e77c76626b3ba62acdf95343"
        },
        # Made by examples/controlnet/train_controlnet_sdxl.py of diffusers, for the UNet of the base model; the size is that of
        # diffusers_xl_canny_full.safetensors of lllyasviel/sd_control_collection, a copy of the smaller file of
        # diffusers/controlnet-canny-sdxl-1.0.
        "sdxl-canny": {"dtype": "F16", "tensors": for_unet("sdxl"), "bytes": 2502139104, "notes": False},
        # diffusion_pytorch_model_promax.safetensors of xinsir/controlnet-union-sdxl-1.0.
        "sdxl-union": {
            "dtype": "F16",
            "tensors": union(8),
            "keys": "31d2d9614fba60511fc9bf2604aa01f7",
            "bytes": 2513342408,
            "notes": False,
        },
        # TencentARC/t2iadapter_canny_sd15v2.
        "sd1.5-t2i": {"dtype": "F16", "tensors": t2i("full_adapter", 1, 8)},
        "sd1.5-t2i-original": {"dtype": "F16", "tensors": authors_t2i()},
        # TencentARC/t2i-adapter-canny-sdxl-1.0, made by examples/t2i_adapter/train_t2i_adapter_sdxl.py of diffusers.
        "sdxl-t2i": {"dtype": "F16", "tensors": t2i("full_adapter_xl", 3, 16)},
        # InstantX/FLUX.1-dev-Controlnet-Canny has 3.58 GB, which no other numbers of blocks have. The checksum and the size
        # are those of jasperai/Flux.1-dev-Controlnet-Upscaler, which has as many.
        "flux-canny": {
            "dtype": "BF16",
            "tensors": flux(num_layers=5, num_single_layers=0),
            "keys": "b001c89139b5f053c715fe772362dd2a",
            "bytes": 3583232168,
        },
        # The config.json of InstantX/FLUX.1-dev-Controlnet-Union. The size is that of the file that InstantX and Shakker Labs
        # published later, Shakker-Labs/FLUX.1-dev-ControlNet-Union-Pro.
        "flux-union": {
            "dtype": "BF16",
            "tensors": flux(num_layers=5, num_single_layers=10, num_mode=10),
            "keys": "78d18b9101345ff695f312e7e62538c0",
            "bytes": 6603953920,
        },
        # The card of Shakker-Labs/FLUX.1-dev-ControlNet-Union-Pro-2.0: 6 double blocks, 0 single blocks, no modes.
        "flux-union-pro-2.0": {
            "dtype": "BF16",
            "tensors": flux(num_layers=6, num_single_layers=0),
            "keys": "43ad5aaa27dd4ee01b832ed16773fa52",
            "bytes": 4281779224,
        },
        # XLabs-AI/flux-controlnet-canny-v3.
        "flux-xlabs": {"dtype": "BF16", "tensors": xlabs(), "bytes": 1487623552, "notes": False},
        # InstantX/SD3-Controlnet-Canny: 1.19 GB in ComfyUI-Manager's list, which no other number of layers has.
        "sd3-canny": {
            "dtype": "F16",
            "tensors": of_class("SD3ControlNetModel", num_layers=6, pos_embed_max_size=192, **sd3),
        },
        # sd3.5_large_controlnet_canny.safetensors of stabilityai/stable-diffusion-3.5-controlnets.
        "sd3.5-canny": {"dtype": "F32", "tensors": stability(), "filled": ["control_type"]},
        # InstantX/Qwen-Image-ControlNet-Union. All other values are those of the class.
        "qwen-image-union": {
            "dtype": "BF16", "tensors": of_class("QwenImageControlNetModel", num_layers=5), "bytes": 3536027816
        },
        # alibaba-pai/Z-Image-Turbo-Fun-Controlnet-Union: scripts/convert_z_image_controlnet_to_diffusers.py of diffusers.
        "z-image-union": {"dtype": "BF16", "tensors": z_image([0, 5, 10, 15, 20, 25], 16)},
        # alibaba-pai/Z-Image-Turbo-Fun-Controlnet-Union-2.1. It is told from version 2.0 by values.
        "z-image-union-2.1": {
            "dtype": "BF16",
            "tensors": z_image(list(range(0, 30, 2)), 33, "control_noise_refiner"),
            "keys": "1677708d40029ab380a95f6c731a57d7",
            "bytes": 6712485600,
            "notes": False,
            "filled": ["control_noise_refiner.0.before_proj.weight"],
        },
        # The files of h94/IP-Adapter.
        "ip-adapter-sd1.5": {"dtype": "F16", "tensors": ip_adapter("sd1.5", 1024), "bytes": 44642768, "notes": False},
        "ip-adapter-sdxl": {"dtype": "F16", "tensors": ip_adapter("sdxl", 1280), "bytes": 702585376, "notes": False},
        "ip-adapter-plus-sd1.5": {
            "dtype": "F16", "tensors": resampled("sd1.5", 768, 12), "bytes": 98183288, "notes": False
        },
        "ip-adapter-plus-sdxl": {
            "dtype": "F16", "tensors": resampled("sdxl", 1280, 20), "bytes": 847517512, "notes": False
        },
        # models/image_encoder and sdxl_models/image_encoder there.
        "vit-h": {"dtype": "F32", "tensors": vit_h, "integers": vit_h_ids, "bytes": 2528373448},
        "vit-bigg": {"dtype": "F16", "tensors": vit_bigg, "integers": vit_bigg_ids, "bytes": 3689912664},
    }


def checksum(tensors):
    """DiffSynth-Studio's checksum of names and shapes."""
    keys = [key for name, shape in tensors.items() for key in (f"{name}:{'_'.join(map(str, shape))}", name)]
    return hashlib.md5(",".join(sorted(keys)).encode()).hexdigest()


def file_bytes(network):
    """The size of its file, as the library of safetensors writes it: tensors of wide dtypes first, then by name."""
    dtypes = {name: network["dtype"] for name in network["tensors"]}
    dtypes |= dict.fromkeys(network.get("integers", {}), "I64")
    shapes = {**network["tensors"], **network.get("integers", {})}
    header = {"__metadata__": {"format": "pt"}} if network.get("notes", True) else {}
    end = 0
    for name in sorted(shapes, key=lambda name: (-BYTES[dtypes[name]], name)):
        start, end = end, end + BYTES[dtypes[name]] * torch.Size(shapes[name]).numel()
        header[name] = {"dtype": dtypes[name], "shape": shapes[name], "data_offsets": [start, end]}
    length = len(json.dumps(header, separators=(",", ":")))
    return 8 + -(-length // 8) * 8 + end


def pattern(parts):
    """A folded name: each part in braces stands for one of several."""

    def folded(texts):
        if len(texts) == 1:
            return next(iter(texts))
        numbers = sorted(int(text) for text in texts) if all(text.isdigit() for text in texts) else []
        if numbers and numbers == list(range(numbers[0], numbers[-1] + 1)):
            return f"{{{numbers[0]}..{numbers[-1]}}}"
        return f"{{{','.join(map(str, numbers or sorted(texts)))}}}"

    return ".".join(map(folded, parts))


def fold(tensors):
    """The same names and shapes with as few patterns as merging them part by part gives."""

    def merged(order):
        rows = {(tuple(frozenset([part]) for part in name.split(".")), tuple(shape)) for name, shape in tensors.items()}
        count = None
        while count != len(rows):
            count = len(rows)
            for place in order:
                groups = {}
                for parts, shape in rows:
                    # Names that are shorter have no such part.
                    rest = (len(parts), parts[:place], parts[place + 1 :], shape)
                    groups.setdefault(rest, set()).update(*parts[place : place + 1])
                rows = {
                    ((*before, *([frozenset(texts)] if texts else []), *after), shape)
                    for (_, before, after, shape), texts in groups.items()
                }
        return {pattern(parts): list(shape) for parts, shape in sorted(rows, key=lambda row: pattern(row[0]))}

    places = range(max(name.count(".") for name in tensors) + 1)
    return min((merged(order) for order in (places, places[::-1])), key=lambda folded: len(str(folded)))


def main():
    """Writes the file named on the command line."""
    out = {}
    for name, network in networks().items():
        tensors = network["tensors"]
        for known, is_it in (("keys", checksum(tensors)), ("bytes", file_bytes(network))):
            if network.get(known, is_it) != is_it:
                sys.exit(f"{name} has {known} {is_it}")
        all_shapes = [*tensors.values(), *network.get("integers", {}).values()]
        out[name] = {
            "dtype": network["dtype"],
            "parameters": sum(torch.Size(shape).numel() for shape in all_shapes),
            **{key: network[key] for key in ("bytes", "integers", "filled") if key in network},
            "tensors": fold(tensors),
        }
    checkpoints.write_json(sys.argv[1], out, separators=(",", ":"))


if __name__ == "__main__":
    main()
