"""Tiny IP-Adapters with their image encoder, and runs that read pictures through them."""

import quiet  # noqa: F401  (has to come first)

import numpy
import torch
import transformers
from PIL import Image

import hash_weights

# As in `src/image_prompts.rs`.
ENCODER = dict(
    hidden_size=128, intermediate_size=64, num_hidden_layers=3, num_attention_heads=2, image_size=28, patch_size=14,
    hidden_act="quick_gelu", projection_dim=24,
)  # fmt: skip
TOKENS, RESAMPLED, INSIDE, HEADS, LAYERS, RATIO = 4, 3, 48, 128, 4, 4
MEANS = numpy.array([0.48145466, 0.4578275, 0.40821073], numpy.float32)
DEVIATIONS = numpy.array([0.26862954, 0.26130258, 0.27577711], numpy.float32)


def is_kept(name):
    """Whether a tensor of a run is kept: the others follow from them, or are those of runs without pictures."""
    return name in ("unet.0.out.0", "vae.decode.in")


def weight(name, *shape):
    """A weight by its name."""
    return torch.from_numpy(numpy.ascontiguousarray(hash_weights.weight(name, shape)))


def encoder():
    """The image encoder, whose weights have the names of published files."""
    model = transformers.CLIPVisionModelWithProjection(transformers.CLIPVisionConfig(**ENCODER)).eval()
    tensors = {}
    for key, value in model.state_dict().items():
        if key.endswith("position_ids"):
            tensors[key] = value
            continue
        is_plain = key.startswith(("vision_model.", "visual_projection."))
        tensors[key] = weight(f"image_encoder.{key if is_plain else f'vision_model.{key}'}", *value.shape)
    model.load_state_dict(tensors, strict=True)
    return model


def projection(kind, width):
    """Names and shapes of what makes tokens of pictures."""
    def norm(name, size):
        return {f"{name}.weight": (size,), f"{name}.bias": (size,)}

    def linear(name, outputs, inputs):
        return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}

    if kind == "plain":
        return linear("proj", TOKENS * width, ENCODER["projection_dim"]) | norm("norm", width)
    shapes = {"latents": (1, RESAMPLED, INSIDE)} | linear("proj_in", INSIDE, ENCODER["hidden_size"])
    for layer in range(LAYERS):
        attention, forward = f"layers.{layer}.0", f"layers.{layer}.1"
        shapes |= norm(f"{attention}.norm1", INSIDE) | norm(f"{attention}.norm2", INSIDE)
        shapes |= {f"{attention}.to_q.weight": (HEADS, INSIDE), f"{attention}.to_kv.weight": (2 * HEADS, INSIDE)}
        shapes |= {f"{attention}.to_out.weight": (INSIDE, HEADS)} | norm(f"{forward}.0", INSIDE)
        shapes |= {f"{forward}.1.weight": (RATIO * INSIDE, INSIDE), f"{forward}.3.weight": (INSIDE, RATIO * INSIDE)}
    return shapes | linear("proj_out", width, INSIDE) | norm("norm_out", width)


def adapter(unet, kind):
    """An IP-Adapter for a UNet, as it is read from a file."""
    read = [name.removesuffix(".processor") for name in unet.attn_processors if ".attn2." in name]
    shapes = [tuple(unet.get_submodule(f"{name}.to_k").weight.shape) for name in read]
    def made(name, shape):
        return weight(f"{kind}.{name}", *shape)

    projected = {name: made(f"image_proj.{name}", shape) for name, shape in projection(kind, shapes[0][1]).items()}
    seen = {
        name: made(f"ip_adapter.{name}", shape)
        for number, shape in enumerate(shapes)
        for name in (f"{2 * number + 1}.to_k_ip.weight", f"{2 * number + 1}.to_v_ip.weight")
    }
    return {"image_proj": projected, "ip_adapter": seen}


def square(path):
    """The middle of a picture as the encoder reads it, scaled as transformers does with Pillow."""
    picture, side = Image.open(path).convert("RGB"), ENCODER["image_size"]
    short = min(picture.size)
    picture = picture.resize([int(side * length / short) for length in picture.size], Image.BICUBIC)
    left, top = [(length - side) // 2 for length in picture.size]
    values = numpy.asarray(picture.crop((left, top, left + side, top + side)), numpy.float32) / 255
    return torch.from_numpy((values - MEANS) / DEVIATIONS).permute(2, 0, 1)


def acts(prompt, step, steps):
    """Whether pictures are read in a step."""
    return step / steps >= prompt["start"] and (step + 1) / steps <= prompt["end"]


def load(pipeline, prompts, folder, steps):
    """Gives a pipeline the IP-Adapters of a request; what it is called with beside, and what sets their weights for a
    step."""
    pipeline.register_modules(image_encoder=encoder())
    adapters = [adapter(pipeline.unet, prompt["kind"]) for prompt in prompts]
    names = [""] * len(adapters)
    pipeline.load_ip_adapter(adapters, subfolder=names, weight_name=names, image_encoder_folder=None)

    def set_weights(step):
        pipeline.set_ip_adapter_scale([prompt["weight"] if acts(prompt, step, steps) else 0.0 for prompt in prompts])

    set_weights(0)
    pictures = [torch.stack([square(f"{folder}/{name}") for name in prompt["images"]]) for prompt in prompts]
    return {"ip_adapter_image": pictures}, set_weights
