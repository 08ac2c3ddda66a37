"""Tiny ControlNets, and runs that they steer."""

import inspect
import os
import shutil
import tempfile

import quiet  # noqa: F401  (has to come first)

import diffusers
from diffusers.image_processor import VaeImageProcessor
from PIL import Image

import checkpoints
import hash_weights
import pictures

FILE = "diffusion_pytorch_model.safetensors"
# The kinds of pictures, in the order of the tables of ControlNets that are told them.
MODES = {"Flux": ("canny", "tile", "depth", "blur", "pose", "gray", "low_quality")}


# What Stability's files call Canny edges.
EDGES = 1


class EdgeProcessor(VaeImageProcessor):
    """Prepares pictures for Stability's ControlNet for Canny edges, as the card of that model says."""

    def __init__(self, scale):
        super().__init__(vae_scale_factor=scale, do_normalize=False)

    def preprocess(self, image, **options):
        """Values in 0.5…128."""
        return super().preprocess(image, **options) * 255 * 0.5 + 0.5

    def postprocess(self, image, **options):
        """As for other pictures."""
        return super().postprocess(image, **{**options, "do_denormalize": [True] * image.shape[0]})


def is_kept(name, is_unet):
    """Whether a tensor of a run is kept: the others are those of runs without ControlNets. A transformer's latents say what
    its picture would."""
    if is_unet:
        return name in ("latents.init", "unet.0.out.0", "output")
    return name == "vae.decode.in" or name.startswith("transformer.0.out")


def make_like(transformer, net):
    """A ControlNet for a transformer, whose weights come from the names of its tensors."""
    kind = type(transformer).__name__.replace("Transformer2DModel", "ControlNetModel")
    model = getattr(diffusers, kind).from_config({**transformer.config, **net.get("shape", {})})
    shapes = {key: ["F32", list(value.shape)] for key, value in model.state_dict().items()}
    return checkpoints.fill(model, {"seed": f"control_net.{net['name']}", "tensors": shapes})


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


def without_noise(autoencoder):
    """Lets an autoencoder give the most likely latents of a picture for a sample of them."""
    encode = autoencoder.encode

    def encoded(*arguments, **options):
        """The original, whose distribution is not drawn from."""
        result = encode(*arguments, **options)
        result.latent_dist.sample = lambda *_, **__: result.latent_dist.mode()
        return result

    autoencoder.encode = encoded


def hand_on(net, transformer):
    """Lets Z-Image's transformer go on with the tokens that a ControlNet of version 2 has steered while it refined them, as in
    the authors' code. diffusers lets only the ControlNet see them."""
    seen = {}
    net.control_layers[0].register_forward_pre_hook(lambda _, given: seen.update(tokens=given[1]))
    transformer.register_forward_pre_hook(lambda *_: seen.update(is_own=True))
    transformer.register_forward_hook(lambda *_: seen.update(is_own=False))

    def refined(_, given, own):
        """The ControlNet shares the layer, and its calls stay as they are."""
        return seen["tokens"][:, : own.shape[1]] if seen.get("is_own") else own

    transformer.noise_refiner[-1].register_forward_hook(refined)


def steered_transformer(pipeline, kind, nets, folder):
    """The same for a transformer."""
    models = [make_like(pipeline.transformer, net) for net in nets]
    without_noise(pipeline.vae)
    given = inspect.signature(kind.__init__).parameters
    components = {name: part for name, part in pipeline.components.items() if name in given}
    alone = len(nets) == 1
    pipeline = kind(**components, controlnet=models[0] if alone else models)
    pipeline.set_progress_bar_config(disable=True)
    if getattr(models[0], "add_control_noise_refiner", None):
        hand_on(models[0], pipeline.transformer)
    if nets[0].get("control_type") == EDGES:
        pipeline.image_processor = EdgeProcessor(pipeline.vae_scale_factor)
    each = {
        "control_image": [Image.open(f"{folder}/control-{number}.png") for number in range(len(nets))],
        "controlnet_conditioning_scale": [net["weight"] for net in nets],
        "control_guidance_start": [net["start"] for net in nets],
        "control_guidance_end": [net["end"] for net in nets],
    }
    modes = next((modes for name, modes in MODES.items() if kind.__name__.startswith(name)), ())
    if modes:
        each["control_mode"] = [modes.index(net["mode"]) if "mode" in net else None for net in nets]
    taken = inspect.signature(kind.__call__).parameters
    return pipeline, {name: value[0] if alone else value for name, value in each.items() if name in taken}


def steered(pipeline, nets, folder):
    """A pipeline with the ControlNets of a request, and what it is called with beside."""
    kind = type(pipeline).__name__.replace("Pipeline", "ControlNetPipeline")
    if hasattr(pipeline, "transformer"):
        return steered_transformer(pipeline, getattr(diffusers, kind), nets, folder)
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
