"""Pictures, masks and clips that runs start from, and the noise that diffusers draws for them."""

import contextlib
import functools
import glob
import math
import os
import sys

import quiet  # noqa: F401  (has to come first)

import diffusers
import numpy
import torch
from diffusers.models.autoencoders import vae
from diffusers import FluxPriorReduxPipeline
from diffusers.pipelines.flux import pipeline_flux_kontext
from diffusers.pipelines.longcat_image import pipeline_longcat_image_edit
from diffusers.pipelines.flux.modeling_flux import ReduxImageEncoder
from diffusers.pipelines.ltx.pipeline_ltx_condition import LTXVideoCondition
from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit, pipeline_qwenimage_edit_plus
from PIL import Image
from transformers import BatchFeature, SiglipVisionModel
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

import hash_weights

PICTURE = "picture.png"
MASK = "mask.png"
LAST = "last.png"
CLIP = "clip"
CONTROL = "control"
CONTROL_MASK = "control_mask"
REFERENCE = "reference"
KEYFRAME = "keyframe"
# The pipeline of LTX-Video from 0.9.7 on, for text and for pictures.
CONDITIONED = "LTXConditionPipeline"
# The pipeline of FLUX.1 Fill.
FILLED = "FluxFillPipeline"


def picture(width, height):
    """A picture with slopes, edges and fine lines."""
    y, x = numpy.mgrid[:height, :width]
    channels = [x * 7 + y * 3, x * y, (x // 5 + y // 7) % 2 * 200 + x]
    return Image.fromarray(numpy.stack([channel % 256 for channel in channels], -1).astype(numpy.uint8))


def mask(width, height):
    """A disc that is lightest in its middle, on black."""
    y, x = numpy.mgrid[:height, :width]
    distance = numpy.hypot((x - 0.6 * width) / width, (y - 0.4 * height) / height)
    return Image.fromarray(numpy.clip(255 - 420 * distance, 0, 255).astype(numpy.uint8))


def frame(width, height, number):
    """A frame of a clip in which slopes and edges move."""
    y, x = numpy.mgrid[:height, :width]
    channels = [x * 7 + y * 3 + number * 9, (x + number) * y, (x // 5 + (y + number) // 7) % 2 * 200 + x]
    return Image.fromarray(numpy.stack([channel % 256 for channel in channels], -1).astype(numpy.uint8))


def moving_mask(width, height, number):
    """A frame of a clip in which a disc moves."""
    return Image.fromarray(numpy.roll(numpy.asarray(mask(width, height)), number, axis=1))


def is_controlled(source):
    """Whether the source controls a clip."""
    return "control" in source


def is_clip(source):
    """Whether the source is that of a clip."""
    return "first" in source


def write(source, folder, frames=1):
    """Writes the files that a run starts from."""
    if is_clip(source):
        if source["first"]:
            picture(*source["first"]).save(f"{folder}/{PICTURE}")
        if source["last"]:
            mask(*source["last"]).convert("RGB").save(f"{folder}/{LAST}")
        for number, *sides in source.get("keyframes", ()):
            frame(*sides, number).save(f"{folder}/{KEYFRAME}-{number}.png")
        if source["clip"]:
            os.makedirs(f"{folder}/{CLIP}")
            for number in range(frames):
                frame(*source["clip"], number).save(f"{folder}/{CLIP}/{number:04}.png")
        if is_controlled(source):
            write_control(source, folder, frames)
        return
    picture(*source["picture"]).save(f"{folder}/{PICTURE}")
    if source["mask"]:
        mask(*source["mask"]).save(f"{folder}/{MASK}")


def write_references(references, folder):
    """Writes the pictures that a run edits."""
    for number, sides in enumerate(references["pictures"]):
        frame(*sides, 3 * number).save(f"{folder}/{REFERENCE}-{number}.png")


def redux(pipeline, folder, wanted, files):
    """What FLUX.1 is conditioned on with pictures read through the Redux model in a folder."""
    encoder = SiglipVisionModel.from_pretrained(f"{folder}/image_encoder")
    side = encoder.config.image_size
    prior = FluxPriorReduxPipeline(
        image_encoder=encoder,
        feature_extractor=SiglipImageProcessorPil(size={"height": side, "width": side}),
        image_embedder=ReduxImageEncoder.from_pretrained(f"{folder}/image_embedder"),
        text_encoder=pipeline.text_encoder,
        tokenizer=pipeline.tokenizer,
        text_encoder_2=pipeline.text_encoder_2,
        tokenizer_2=pipeline.tokenizer_2,
    )
    strengths = list(wanted.strengths)
    opened = [Image.open(f"{files}/{REFERENCE}-{number}.png") for number in range(len(strengths))]
    result = prior(
        image=opened, prompt=wanted.prompt, prompt_embeds_scale=strengths, pooled_prompt_embeds_scale=strengths
    )
    return {"prompt_embeds": result.prompt_embeds, "pooled_prompt_embeds": result.pooled_prompt_embeds}


def area(side, ratio, multiple):
    """Width and height with about the pixels of a square, as in diffusers."""
    width = math.sqrt(side * side * ratio)
    return [round(length / multiple) * multiple for length in (width, width / ratio)]


@contextlib.contextmanager
def referenced(kind, references, folder):
    """Options of a pipeline that edits pictures, which reads them as large as is asked for."""
    opened = [Image.open(f"{folder}/{REFERENCE}-{number}.png") for number in range(len(references["pictures"]))]
    if kind in ("Flux2Pipeline", "Flux2KleinPipeline"):
        yield {"image": opened}
        return
    if kind == "QwenImage21Pipeline":
        yield {"image": opened, "output_resolution": references["side"]}
        return
    side, (width, height) = references["side"], references["pictures"][0]
    if kind == "FluxKontextPipeline":
        module, name, value = pipeline_flux_kontext, "PREFERRED_KONTEXT_RESOLUTIONS", [tuple(area(side, width / height, 16))]
    elif kind == "LongCatImageEditPipeline":
        module, name, original = pipeline_longcat_image_edit, "calculate_dimensions", pipeline_longcat_image_edit.calculate_dimensions
        value = lambda _, ratio: original(side * side, ratio)  # noqa: E731
    elif kind == "QwenImageEditPlusPipeline":
        module, name, value = pipeline_qwenimage_edit_plus, "VAE_IMAGE_SIZE", side * side
    else:
        # The size of its references is that of results, without a name.
        module, name = pipeline_qwenimage_edit, "calculate_dimensions"
        value = lambda _, ratio: (*area(side, ratio, 32), None)  # noqa: E731
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield {"image": opened[0] if len(opened) == 1 else opened}
    finally:
        setattr(module, name, before)


class Processor:
    """What prepares prompts and pictures for Qwen2.5-VL. That of transformers needs torchvision for clips."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.images = Qwen2VLImageProcessorPil(size={"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 16384})

    def __call__(self, text, images, padding, return_tensors):
        """Token ids, masks and patches."""
        seen = self.images(images=images, return_tensors=return_tensors)
        token, texts = "<|image_pad|>", []
        for prompt in text:
            parts = prompt.split(token)
            counts = [int(grid.prod()) // self.images.merge_size**2 for grid in seen["image_grid_thw"]]
            texts.append(parts[0] + "".join(token * count + part for count, part in zip(counts, parts[1:], strict=True)))
        read = self.tokenizer(texts, padding=padding, return_tensors=return_tensors)
        return BatchFeature({**read, **seen})


def see(pipeline):
    """Gives a pipeline what prepares pictures for its text encoder. diffusers does not say which tokens are those of
    pictures, without which transformers 5 takes their places in the text for their positions."""
    pipeline.processor = Processor(pipeline.tokenizer)

    def hook(encoder, arguments, options):
        """Called before each forward pass."""
        is_image = options["input_ids"] == encoder.config.image_token_id
        return arguments, {**options, "mm_token_type_ids": is_image.int()}

    pipeline.text_encoder.register_forward_pre_hook(hook, with_kwargs=True)


class NoProcessor:
    """Stands where what prepares pictures would be."""

    image_processor = None


def lend_processor(kind):
    """Lets a pipeline do without what prepares pictures, which it asks for when it is made."""
    original = kind.__init__

    @functools.wraps(original)
    def make(self, *arguments, text_processor=None, **components):
        """The original, with something in its place."""
        original(self, *arguments, text_processor=NoProcessor(), **components)
        self.register_modules(text_processor=None)

    kind.__init__ = make


lend_processor(diffusers.LongCatImageEditPipeline)


def see_in_places(pipeline):
    """Gives LongCat-Image's pipelines what prepares pictures for their text encoder, and its tokens the positions that they
    have in transformers 4: pictures have rows and columns, and what a mask hides has position 1. transformers 5 takes the
    places in the text for positions unless it is told which tokens are those of pictures."""
    pipeline.image_processor_vl = Processor(pipeline.tokenizer).images

    def hook(encoder, arguments, options):
        """Called before each forward pass."""
        ids, mask = options["input_ids"], options["attention_mask"]
        if "image_grid_thw" in options:
            is_image = (ids == encoder.config.image_token_id).int()
            grids = options["image_grid_thw"]
            places, _ = encoder.model.get_rope_index(
                ids, mm_token_type_ids=is_image, image_grid_thw=grids, attention_mask=mask
            )
        else:
            places = (mask.long().cumsum(-1) - 1)[None].expand(3, -1, -1)
        return arguments, {**options, "position_ids": places.masked_fill(mask == 0, 1)}

    pipeline.text_encoder.register_forward_pre_hook(hook, with_kwargs=True)


def write_control(source, folder, frames):
    """Writes the frames that control a clip, their masks and the pictures of what appears."""
    for wanted, name, made in (("control", CONTROL, frame), ("masked", CONTROL_MASK, moving_mask)):
        if source[wanted]:
            os.makedirs(f"{folder}/{name}")
            for number in range(frames):
                made(*source["control"], number).save(f"{folder}/{name}/{number:04}.png")
    for number, sides in enumerate(source["references"]):
        frame(*sides, 3 * number).save(f"{folder}/{REFERENCE}-{number}.png")


def variant(kind, source):
    """The pipeline that starts from a picture."""
    if kind == CONDITIONED or is_controlled(source):
        return kind
    if is_clip(source):
        for name in ("Wan", "LTX"):
            if kind.startswith(name):
                return f"{name}VideoToVideoPipeline" if source["clip"] else f"{name}ImageToVideoPipeline"
    if kind == FILLED:
        return kind
    plain = kind.replace("Img2Img", "")
    return plain.replace("Pipeline", "InpaintPipeline" if source["mask"] else "Img2ImgPipeline")


def conditions(source, folder, frames):
    """Pictures at their places in a clip: the first, those between, the last."""
    files = [(0, PICTURE)] * bool(source["first"])
    files += [(number, f"{KEYFRAME}-{number}.png") for number, *_ in source.get("keyframes", ())]
    files += [(frames - 1, LAST)] * bool(source["last"])
    return [LTXVideoCondition(Image.open(f"{folder}/{file}"), frame_index=number) for number, file in files]


def options(source, folder, kind=None, frames=1):
    """What it is called with."""
    if kind == CONDITIONED and (source["last"] or source.get("keyframes")):
        return {"conditions": conditions(source, folder, frames)}
    if is_controlled(source):
        opened = {"conditioning_scale": source["scale"]}
        for wanted, name, option in (("control", CONTROL, "video"), ("masked", CONTROL_MASK, "mask")):
            if source[wanted]:
                opened[option] = [Image.open(file) for file in sorted(glob.glob(f"{folder}/{name}/*.png"))]
        if source["references"]:
            opened["reference_images"] = [Image.open(file) for file in sorted(glob.glob(f"{folder}/{REFERENCE}-*.png"))]
        return opened
    if is_clip(source):
        opened = {name: Image.open(f"{folder}/{file}") for name, file in (("first", PICTURE), ("last", LAST)) if source[name]}
        if source["clip"]:
            files = sorted(glob.glob(f"{folder}/{CLIP}/*.png"))
            return {"video": [Image.open(file) for file in files], "strength": source["strength"]}
        return {"image": opened["first"], **({"last_image": opened["last"]} if source["last"] else {})}
    options = {"image": Image.open(f"{folder}/{PICTURE}"), "strength": source["strength"]}
    return {**options, "mask_image": Image.open(f"{folder}/{MASK}")} if source["mask"] else options


def fills_in(pipeline):
    """Whether its network sees the mask and the masked picture beside the latents."""
    unet = getattr(pipeline, "unet", None)
    has_channels = unet is not None and unet.config.in_channels > unet.config.out_channels
    return has_channels or type(pipeline).__name__ == FILLED


def encoded(pipeline, source):
    """The pictures that a pipeline encodes, in its order: 0 is the whole one, 1 the one without what is drawn anew.
    Networks that fill in need the whole one only to start from; FLUX.1's pipeline encodes it in any case."""
    if is_clip(source) or not source["mask"]:
        return [0]
    is_needed = not fills_in(pipeline) or source["strength"] < 1 or type(pipeline).__name__ == FILLED
    return [0, 1] if is_needed else [1]


def used(pipeline, source):
    """Those of them that make a difference, and nothing in the place of the others: pipelines for whole pictures
    encode the masked one, too, and do nothing with it, and FLUX.1 Fill at full strength does nothing with the whole one."""
    fills = fills_in(pipeline)
    makes_a_difference = {0: not fills or source["strength"] < 1, 1: fills}
    return [number if makes_a_difference[number] else None for number in encoded(pipeline, source)]


@contextlib.contextmanager
def drawn(pipeline, request):
    """Gives the pipeline hash noise: for the sample of the picture, to start from, and for the masked picture. The pipeline
    of conditioned clips starts from the first noise, and draws more in its steps: that is what torch's generator with seed
    0 gives after the others."""
    source, latents, kind = request.get("source"), request["latents"], type(pipeline).__name__
    names = [latents]
    if kind == CONDITIONED:
        names += [source["noise"]] if source and source["first"] else []
    else:
        masked = {**source["noise"], "name": source["noise"]["name"] + ".masked"}
        pictures = encoded(pipeline, source)
        is_sampled = 0 in pictures and not kind.startswith(("Wan", "Anima"))
        names = [source["noise"]] * is_sampled + [latents] + [masked] * (1 in pictures)
    waiting = [torch.from_numpy(hash_weights.noise(one["name"], tuple(one["shape"]))) for one in names]
    generator = torch.Generator().manual_seed(0)

    def randn_tensor(shape, **_):
        """The next noise."""
        drawn = torch.randn(tuple(shape), generator=generator)
        if kind == CONDITIONED and not waiting:
            return drawn
        noise = waiting.pop(0)
        if [side for side in shape if side > 1] != [side for side in noise.shape if side > 1]:
            raise ValueError(f"noise of {tuple(shape)} is drawn where {tuple(noise.shape)} was expected")
        # Qwen-Image's latents have an axis for frames.
        return noise.reshape(tuple(shape))

    modules = [vae, sys.modules[type(pipeline).__module__]]
    originals = [module.randn_tensor for module in modules]
    for module in modules:
        module.randn_tensor = randn_tensor
    try:
        yield
    finally:
        for module, original in zip(modules, originals):
            module.randn_tensor = original
