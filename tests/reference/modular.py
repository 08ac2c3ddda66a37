"""Anima, which diffusers has as blocks of a modular pipeline, with the interface of its other pipelines."""

import os
from types import SimpleNamespace

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
import transformers
from diffusers.models.transformers import transformer_cosmos
from diffusers.modular_pipelines.anima import before_denoise
from diffusers.utils.torch_utils import randn_tensor

import checkpoints

INDEX = "modular_model_index.json"
LIBRARIES = {"diffusers": diffusers, "transformers": transformers}

# A mask of zeros is resized, for which torchvision is not needed.
transformer_cosmos.transforms = SimpleNamespace(
    functional=SimpleNamespace(resize=lambda mask, size, interpolation: torch.nn.functional.interpolate(mask, size)),
    InterpolationMode=SimpleNamespace(NEAREST="nearest"),
)
# Noise is drawn by the name of this module, so that what replaces it here is drawn there.
before_denoise.randn_tensor = lambda *arguments, **options: randn_tensor(*arguments, **options)


class AnimaPipeline:
    """The components, and calls of the modular pipeline with them."""

    # What its encoders read and return is recorded at the conditioner.
    encode_prompt = None

    def __init__(self, **components):
        self.components = components
        self.modular = diffusers.AnimaAutoBlocks().init_pipeline()
        self.modular.update_components(**components)
        self.modular.set_progress_bar_config(disable=True)
        self.load_lora_weights, self.set_adapters = self.modular.load_lora_weights, self.modular.set_adapters

    def __getattr__(self, name):
        """The component of this name."""
        try:
            return self.__dict__["components"][name]
        except KeyError:
            raise AttributeError(name) from None

    def save_pretrained(self, folder, safe_serialization=True):
        """Writes the folder of a published modular pipeline, of which the index is not called as others are."""
        index = {"_class_name": "AnimaModularPipeline", "_diffusers_version": diffusers.__version__}
        for name, component in self.components.items():
            if "tokenizer" not in name:
                component.save_pretrained(f"{folder}/{name}")
            library = type(component).__module__.split(".")[0]
            index[name] = [library, type(component).__name__, {"subfolder": name}]
        checkpoints.write_json(f"{folder}/{INDEX}", index, indent=2)

    def __call__(
        self, prompt, negative_prompt, num_inference_steps, guidance_scale, num_images_per_prompt, height, width,
        callback_on_step_end, output_type, max_sequence_length, latents=None, image=None, strength=None,
    ):  # fmt: skip
        """Runs all blocks."""
        guider = diffusers.ClassifierFreeGuidance(guidance_scale=guidance_scale)
        self.modular.update_components(guider=guider)
        given = {} if latents is None else {"latents": latents.unsqueeze(2)}
        if image is not None:
            given = {"image": image, "strength": strength}
        original = self.scheduler.step

        def step(*arguments, **options):
            """The original, after which what is called at the end of steps is called."""
            result = original(*arguments, **options)
            callback_on_step_end(self, self.scheduler.step_index - 1, None, {"latents": result[0]})
            return result

        self.scheduler.step = step
        try:
            return self.modular(
                prompt=prompt, negative_prompt=negative_prompt, num_inference_steps=num_inference_steps,
                num_images_per_prompt=num_images_per_prompt, height=height, width=width, output_type=output_type,
                max_sequence_length=max_sequence_length, **given,
            )  # fmt: skip
        finally:
            self.scheduler.step = original


class AnimaImg2ImgPipeline(AnimaPipeline):
    """The same; the blocks choose by what they are given."""


def open_pipeline(kind, folder):
    """The pipeline of a checkpoint folder."""
    components = {}
    for name, entry in checkpoints.read_json(f"{folder}/{INDEX}").items():
        if isinstance(entry, list):
            options = {} if "tokenizer" in name or name == "scheduler" else {"torch_dtype": torch.float32}
            kind_of_component = getattr(LIBRARIES[entry[0]], entry[1])
            components[name] = kind_of_component.from_pretrained(os.path.join(folder, name), **options)
    return globals()[kind](**components)


def by_branch(tensors):
    """What is recorded of it, by the names of other pipelines. The second call is that of the negative prompt. Its
    autoencoder is Qwen-Image's."""
    tidied = {}
    for name, value in tensors.items():
        if name == "vae.decode.out":
            continue
        kind, _, _ = name.rpartition(".")
        if kind in ("transformer.0.out", "transformer.1.out"):
            first = 0 if kind == "transformer.0.out" else len(value)
            tidied.update({f"transformer.0.out.0.{first + index}": image for index, image in enumerate(value)})
        elif value.numel() > 0:
            tidied[name] = value.squeeze(2) if value.dim() == 5 else value
    return tidied
