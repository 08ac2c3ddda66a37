"""Stable Cascade's two pipelines, with the interface of one."""

import os

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
import transformers
from diffusers.pipelines.deprecated.wuerstchen.modeling_paella_vq_model import PaellaVQModel
from diffusers.pipelines.deprecated.wuerstchen.modeling_wuerstchen_diffnext import WuerstchenDiffNeXt
from diffusers.pipelines.deprecated.wuerstchen.modeling_wuerstchen_prior import WuerstchenPrior

import checkpoints

INDEX = "model_index.json"
SEED = 0
# Classes that diffusers does not export.
OWN = {kind.__name__: kind for kind in (PaellaVQModel, WuerstchenDiffNeXt, WuerstchenPrior)}


class TwoStages:
    """The components of a prior's and a decoder's pipeline, in one folder."""

    def __init__(self, settings, **components):
        self.settings = settings
        self.components = components

    def __getattr__(self, name):
        """The component of this name."""
        try:
            return self.__dict__["components"][name]
        except KeyError:
            raise AttributeError(name) from None

    def save_pretrained(self, folder, safe_serialization=True):
        """Writes the folder of the decoder's pipeline, with the prior."""
        index = {"_class_name": type(self).__name__, "_diffusers_version": diffusers.__version__, **self.settings}
        for name, component in self.components.items():
            if not name.endswith("tokenizer"):
                component.save_pretrained(f"{folder}/{name}")
            library = type(component).__module__.split(".")[0]
            index[name] = [library, type(component).__name__]
        checkpoints.write_json(f"{folder}/{INDEX}", index, indent=2)


class StableCascadeDecoderPipeline(TwoStages):
    """The components of both, in the folder of the decoder."""

    def pipelines(self):
        """The two pipelines of diffusers."""
        shared = {name: self.components[name] for name in ("tokenizer", "text_encoder", "scheduler")}
        prior = diffusers.StableCascadePriorPipeline(
            prior=self.prior, resolution_multiple=self.settings["resolution_multiple"], **shared
        )
        decoder = diffusers.StableCascadeDecoderPipeline(
            decoder=self.decoder, vqgan=self.vqgan, latent_dim_scale=self.settings["latent_dim_scale"], **shared
        )
        for pipeline in (prior, decoder):
            pipeline.set_progress_bar_config(disable=True)
        return prior, decoder


def open_folder(folder, pipeline):
    """The components of a folder."""
    index = checkpoints.read_json(f"{folder}/{INDEX}")
    components = {}
    for name, entry in index.items():
        if isinstance(entry, list):
            library = {"diffusers": diffusers, "transformers": transformers}[entry[0]]
            kind = OWN.get(entry[1]) or getattr(library, entry[1])
            components[name] = kind.from_pretrained(os.path.join(folder, name))
    settings = {name: entry for name, entry in index.items() if isinstance(entry, float)}
    return pipeline(settings, **components)


def generators(count, latents):
    """One for each picture, whose first latents are given and drawn all the same."""
    every = [torch.Generator().manual_seed(SEED + index) for index in range(count)]
    for generator in every:
        torch.randn((1, *latents.shape[1:]), generator=generator)
    return every


def watch(recorder, prefix, network, is_guided):
    """Records the first prediction of a network, that of the negative prompt first."""

    def hook(module, arguments, output):
        """Called after each forward pass."""
        if recorder.call(f"{prefix}unet") == 0:
            output = output[0] if isinstance(output, tuple) else output
            recorder.add(f"{prefix}unet.0.out.0", torch.cat(output.chunk(2)[::-1]) if is_guided else output)

    network.register_forward_hook(hook)


def stepped(recorder, prefix):
    """Keeps the latents after each step."""

    def on_step_end(pipeline, step, timestep, tensors):
        """Called after each step."""
        recorder.add(f"{prefix}step.{step}.latents", tensors["latents"])
        return {}

    return on_step_end


def decode(vqgan, latents, recorder):
    """Decodes the result and returns all that was recorded."""
    latents = latents * vqgan.config.scale_factor
    recorder.add("vae.decode.in", latents)
    recorder.add("output", vqgan.decode(latents).sample.clamp(0, 1))
    return recorder.tensors


def run(folder, wanted, recorder, latents):
    """Runs a request: the prior, then the decoder in half as many steps. Every picture has noise of its own."""
    both = open_folder(folder, StableCascadeDecoderPipeline)
    prior, decoder = both.pipelines()
    noises = generators(wanted.batch, latents)
    is_guided = wanted.guidance > 1
    recorder.add("latents.init", latents)
    # The mask hides padding, which is read all the same.
    recorder.padding = both.tokenizer.model_max_length
    recorder.watch_text_encoder("text_encoder", both.text_encoder)
    original = prior.encode_prompt

    def encode_prompt(*arguments, **options):
        """The original, recorded by prompt."""
        states, pooled, others, others_pooled = original(*arguments, **options)
        for branch, values in enumerate([(states, pooled), (others, others_pooled)][: 1 + is_guided]):
            recorder.add(f"encode_prompt.0.{branch}.0", values[0][0])
            recorder.add(f"encode_prompt.0.{branch}.1", values[1][0, 0])
        return states, pooled, others, others_pooled

    prior.encode_prompt = encode_prompt

    watch(recorder, "", both.prior, is_guided)
    watch(recorder, "denoiser_2.", both.decoder, False)
    seen = prior(
        prompt=wanted.prompt, negative_prompt=wanted.negative, height=wanted.height, width=wanted.width,
        num_inference_steps=wanted.steps, guidance_scale=wanted.guidance, num_images_per_prompt=wanted.batch,
        generator=noises, latents=latents, callback_on_step_end=stepped(recorder, ""),
    )  # fmt: skip
    images = decoder(
        image_embeddings=seen.image_embeddings, prompt_embeds=seen.prompt_embeds,
        prompt_embeds_pooled=seen.prompt_embeds_pooled, num_inference_steps=-(-wanted.steps // 2), guidance_scale=0.0,
        generator=noises, output_type="latent", callback_on_step_end=stepped(recorder, "denoiser_2."),
    )  # fmt: skip
    return decode(both.vqgan, images.images, recorder)
