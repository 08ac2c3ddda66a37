"""What unions of ControlNets, T2I-Adapters and ControlNets for inpainting make of tiny models: a few values of each tensor."""

import inspect
import json
import os
import tempfile

import quiet  # noqa: F401  (has to come first)

import diffusers
import numpy
import torch
from PIL import Image

import checkpoints
import control_nets
import hash_weights
import pictures
import recording

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
# Every so many values of a tensor are kept.
STRIDE = 5
# The kinds of pictures, in the order of a union's table.
MODES = ["pose", "depth", "soft_edge", "canny", "normal", "segments", "tile", "inpaint"]


def filled(module, seed):
    """A module whose weights come from the names of its tensors."""
    shapes = {key: ["F32", list(value.shape)] for key, value in module.state_dict().items()}
    return checkpoints.fill(module, {"seed": seed, "tensors": shapes})


def union(unet):
    """A union for a UNet, as narrow as the other tiny ControlNets."""
    width = unet.config.block_out_channels[0]
    options = {
        "conditioning_embedding_out_channels": (2, 4, 8, 16), "num_control_type": len(MODES), "num_trans_channel": width,
        "num_trans_head": 8, "num_trans_layer": 2, "num_proj_channel": width,
    }  # fmt: skip
    net = diffusers.ControlNetUnionModel.from_config({**unet.config, **options})
    return filled(net, "control_net.union")


def adapter(name, **options):
    """A T2I-Adapter."""
    return filled(diffusers.T2IAdapter(**options), f"t2i_adapter.{name}")


def request_of(folder):
    """The request of a run in the fixtures."""
    with open(f"{FIXTURES}/{folder}/request.json", encoding="utf-8") as file:
        return json.load(file)


def spread(value):
    """The values that are kept."""
    return value.detach().flatten()[::STRIDE].clone()


def recorded(pipeline, request, **options):
    """What the denoiser predicts first, and the last latents."""
    name = "transformer" if hasattr(pipeline, "transformer") else "unet"
    recorder = recording.Recorder()
    packs = hasattr(pipeline, "_pack_latents")
    patches = recording.Patches(pipeline, options["latents"].shape) if packs else None
    if packs:
        options["latents"] = patches.pack(options["latents"])
    recorder.watch_denoiser(name, getattr(pipeline, name), 1)
    recorder.watch_decoding(pipeline.vae, None)
    pipeline.set_progress_bar_config(disable=True)
    call = dict(
        prompt=request["prompt"], negative_prompt=request["negative"] or None, num_inference_steps=request["steps"],
        guidance_scale=request["guidance"], height=request["height"], width=request["width"], output_type="pt",
    )  # fmt: skip
    # A UNet's pipelines take as many tokens as there are.
    own = {"max_sequence_length": request["max_tokens"]} if name == "transformer" else {}
    pipeline(**call, **own, **options)
    tensors = patches.tidy(recorder.tensors) if packs else recorder.tensors
    wanted = (f"{name}.0.out.0", f"{name}.0.out.0.0", "vae.decode.in")
    return {kind: tensors[kind] for kind in wanted if kind in tensors}


def latents(request):
    """The first noise of a request."""
    return torch.from_numpy(hash_weights.noise(request["latents"]["name"], tuple(request["latents"]["shape"])))


def rebuilt(pipeline, kind, **parts):
    """Another pipeline with the parts of one."""
    made = getattr(diffusers, kind)
    taken = inspect.signature(made.__init__).parameters
    zeros = pipeline.config.get("force_zeros_for_empty_prompt")
    extra = {"add_watermarker": False, "force_zeros_for_empty_prompt": zeros, "requires_safety_checker": False}
    options = {**pipeline.components, **parts, **extra}
    return made(**{name: value for name, value in options.items() if name in taken})


def of_sdxl(pipeline, found):
    """Runs of Stable Diffusion XL."""
    request = request_of("sdxl/base/steered/guided")
    picture = Image.open(f"{FIXTURES}/sdxl/base/steered/guided/control-0.png")
    inverted = Image.fromarray(255 - numpy.array(picture))
    noise = {"latents": latents(request)}
    united = rebuilt(pipeline, "StableDiffusionXLControlNetUnionPipeline", controlnet=union(pipeline.unet))
    one = {"control_image": [picture], "control_mode": [MODES.index("depth")], "controlnet_conditioning_scale": 0.8}
    found["union.one"] = recorded(united, request, **one, **noise)
    # The second acts in the first step only.
    two = {
        "control_image": [picture, inverted], "control_mode": [MODES.index("soft_edge"), MODES.index("tile")],
        "controlnet_conditioning_scale": [0.7, 1.2], "control_guidance_start": [0.0, 0.0], "control_guidance_end": [1.0, 0.5],
    }  # fmt: skip
    found["union.two"] = recorded(united, request, **two, **noise)
    wide = adapter("wide", channels=[32, 64, 128, 128], downscale_factor=16, adapter_type="full_adapter_xl")
    adapted = rebuilt(pipeline, "StableDiffusionXLAdapterPipeline", adapter=wide)
    found["adapter.wide"] = recorded(adapted, request, image=picture, adapter_conditioning_scale=0.9, **noise)


def of_stable_diffusion(pipeline, found):
    """Runs of Stable Diffusion."""
    folder = f"{FIXTURES}/stable_diffusion/one"
    request = request_of("stable_diffusion/one/steered/guided")
    picture = Image.open(f"{folder}/steered/guided/control-0.png")
    noise = {"latents": latents(request)}
    for name, options in (
        ("full", {"channels": [32, 64, 64, 96], "adapter_type": "full_adapter"}),
        ("light", {"in_channels": 1, "channels": [32, 64], "num_res_blocks": 4, "adapter_type": "light_adapter"}),
    ):
        adapted = rebuilt(pipeline, "StableDiffusionAdapterPipeline", adapter=adapter(name, **options))
        seen = picture.convert("L") if name == "light" else picture
        found[f"adapter.{name}"] = recorded(adapted, request, image=seen, adapter_conditioning_scale=0.7, **noise)
    request = request_of("stable_diffusion/one/filled_in")
    source = request["source"]
    opened = pictures.options(source, f"{folder}/filled_in")
    net = control_nets.make(pipeline.unet, "lines")[0]
    inpainting = rebuilt(pipeline, "StableDiffusionControlNetInpaintPipeline", controlnet=net)
    # As the documentation of the pipeline has it.
    size = (request["width"], request["height"])
    whole = inpainting.image_processor.preprocess(opened["image"], height=size[1], width=size[0]) / 2 + 0.5
    mask = inpainting.mask_processor.preprocess(opened["mask_image"], height=size[1], width=size[0])
    whole[(mask > 0.5).repeat(1, 3, 1, 1)] = -1
    with pictures.drawn(inpainting, request):
        found["inpaint"] = recorded(
            inpainting, request, control_image=whole, controlnet_conditioning_scale=0.9, **opened,
        )  # fmt: skip


def of_sd3(pipeline, found):
    """A ControlNet of Stable Diffusion 3 that reads a mask; its pipeline keeps nothing of the picture, so only the first
    prediction is comparable."""
    folder = f"{FIXTURES}/sd3/medium/filled_in"
    request = request_of("sd3/medium/filled_in")
    opened = pictures.options(request["source"], folder)
    config = {**pipeline.transformer.config, "num_layers": 2, "extra_conditioning_channels": 1}
    net = filled(diffusers.SD3ControlNetModel.from_config(config), "control_net.masked")
    control_nets.without_noise(pipeline.vae)
    inpainting = diffusers.StableDiffusion3ControlNetInpaintingPipeline(**pipeline.components, controlnet=net)
    first = recorded(
        inpainting, request, control_image=opened["image"], control_mask=opened["mask_image"],
        controlnet_conditioning_scale=0.8, latents=latents(request),
    )  # fmt: skip
    found["inpaint.sd3"] = {name: value for name, value in first.items() if "out" in name}


def of_qwen_image(pipeline, found):
    """The same of Qwen-Image."""
    folder = f"{FIXTURES}/qwen_image/default/filled_in"
    request = request_of("qwen_image/default/filled_in")
    opened = pictures.options(request["source"], folder)
    config = {**pipeline.transformer.config, "num_layers": 1, "extra_condition_channels": 4}
    net = filled(diffusers.QwenImageControlNetModel.from_config(config), "control_net.masked")
    control_nets.without_noise(pipeline.vae)
    inpainting = diffusers.QwenImageControlNetInpaintPipeline(**pipeline.components, controlnet=net)
    first = recorded(
        inpainting, request, control_image=opened["image"], control_mask=opened["mask_image"],
        controlnet_conditioning_scale=0.8, latents=latents(request),
    )  # fmt: skip
    found["inpaint.qwen"] = {name: value for name, value in first.items() if "out" in name}


def of_z_image(pipeline, found):
    """The same of Z-Image, whose unions of version 2 follow a picture beside it."""
    folder = f"{FIXTURES}/z_image/default/filled_in"
    request = request_of("z_image/default/filled_in")
    opened = pictures.options(request["source"], folder)
    shape = {
        "control_layers_places": [0, 1], "control_refiner_layers_places": [0, 1], "control_in_dim": 33,
        "add_control_noise_refiner": "control_noise_refiner",
    }  # fmt: skip
    net = filled(diffusers.ZImageControlNetModel.from_config({**pipeline.transformer.config, **shape}), "control_net.masked")
    inpainting = diffusers.ZImageControlNetInpaintPipeline(**pipeline.components, controlnet=net)
    control_nets.hand_on(net, pipeline.transformer)
    first = recorded(
        inpainting, request, image=opened["image"], mask_image=opened["mask_image"], control_image=opened["image"],
        controlnet_conditioning_scale=0.8, latents=latents(request),
    )  # fmt: skip
    found["inpaint.z_image"] = {name: value for name, value in first.items() if "out" in name}


def tensors(save_case):
    """Name -> values. `save_case` writes a checkpoint of a family and returns it."""
    found = {}
    for family, case, run in (
        ("sdxl", "base", of_sdxl), ("stable_diffusion", "one", of_stable_diffusion), ("sd3", "medium", of_sd3),
        ("qwen_image", "default", of_qwen_image), ("z_image", "default", of_z_image),
    ):  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            tiny = save_case(family, case, folder)
            pipeline = recording.open_pipeline(type(tiny.pipeline).__name__, folder)
            run(pipeline, found)
    return {f"{run}.{name}": spread(value) for run, kept in found.items() for name, value in kept.items()}
