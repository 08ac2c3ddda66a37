"""Tiny ControlNets, and runs that they steer."""

import os
import shutil
import tempfile

import quiet  # noqa: F401  (has to come first)

import diffusers
from PIL import Image

import checkpoints
import hash_weights
import pictures

FILE = "diffusion_pytorch_model.safetensors"
# The tensors of a run that are kept: the others are those of runs without ControlNets.
KEPT = ("latents.init", "unet.0.out.0", "output")


def make(unet, name, scales=()):
    """A ControlNet for a UNet, and what its weights are made from."""
    # As narrow as the tiny networks, so that embedding the picture is not what takes the most memory.
    options = {"conditioning_embedding_out_channels": (2, 4, 8, 16), "load_weights_from_unet": False}
    net = diffusers.ControlNetModel.from_unet(unet, **options)
    with tempfile.TemporaryDirectory() as folder:
        net.save_pretrained(folder)
        entry = checkpoints.describe(f"{folder}/{FILE}", f"control_net.{name}", scales)
    return checkpoints.fill(net, entry), entry


def write(unet, name, out):
    """Writes the manifest of a ControlNet for a UNet."""
    os.makedirs(out, exist_ok=True)
    checkpoints.write_json(f"{out}/manifest.json", {FILE: make(unet, name)[1]}, separators=(",", ":"))


def write_pictures(nets, folder):
    """Writes the pictures that the ControlNets of a run follow."""
    for number, net in enumerate(nets):
        pictures.frame(*net["picture"], 5 * number).save(f"{folder}/control-{number}.png")


def steered(pipeline, nets, folder):
    """A pipeline with the ControlNets of a request, and what it is called with beside."""
    kind = type(pipeline).__name__.replace("Pipeline", "ControlNetPipeline")
    models = [make(pipeline.unet, net["name"])[0] for net in nets]
    config = pipeline.config
    extra = (
        {"add_watermarker": False, "force_zeros_for_empty_prompt": config.force_zeros_for_empty_prompt}
        if "XL" in kind
        else {"requires_safety_checker": False}
    )
    pipeline = getattr(diffusers, kind)(**pipeline.components, controlnet=models, **extra)
    pipeline.set_progress_bar_config(disable=True)
    options = {
        "image": [Image.open(f"{folder}/control-{number}.png") for number in range(len(nets))],
        "controlnet_conditioning_scale": [net["weight"] for net in nets],
        "control_guidance_start": [net["start"] for net in nets],
        "control_guidance_end": [net["end"] for net in nets],
    }
    return pipeline, options
