"""Wuerstchen's two pipelines, with the interface of one."""

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch

import cascade


class WuerstchenCombinedPipeline(cascade.TwoStages):
    """The components of both, in one folder, with the names that diffusers gives them there."""

    def pipelines(self):
        """The two pipelines of diffusers."""
        settings = {name: self.settings[name] for name in ("resolution_multiple", "latent_mean", "latent_std")}
        prior = diffusers.WuerstchenPriorPipeline(
            prior=self.prior_prior, text_encoder=self.prior_text_encoder, tokenizer=self.prior_tokenizer,
            scheduler=self.prior_scheduler, **settings,
        )  # fmt: skip
        decoder = diffusers.WuerstchenDecoderPipeline(
            decoder=self.decoder, text_encoder=self.text_encoder, tokenizer=self.tokenizer, scheduler=self.scheduler,
            vqgan=self.vqgan, latent_dim_scale=self.settings["latent_dim_scale"],
        )  # fmt: skip
        for pipeline in (prior, decoder):
            pipeline.set_progress_bar_config(disable=True)
        return prior, decoder


def watch_prompts(recorder, prefix, pipeline):
    """Records the states that a pipeline encodes, by prompt."""
    original = pipeline.encode_prompt

    def encode_prompt(*arguments, **options):
        """The original, recorded."""
        both = original(*arguments, **options)
        for branch, states in enumerate(both):
            if states is not None:
                recorder.add(f"{prefix}encode_prompt.0.{branch}.0", states[0])
        return both

    pipeline.encode_prompt = encode_prompt


def run(folder, wanted, recorder, latents):
    """Runs a request: the prior, then the decoder in a fifth of the steps."""
    both = cascade.open_folder(folder, WuerstchenCombinedPipeline)
    prior, decoder = both.pipelines()
    generators = cascade.generators(wanted.batch, latents)
    recorder.add("latents.init", latents)
    # The mask hides padding, which is read all the same.
    recorder.padding = both.tokenizer.model_max_length
    recorder.watch_text_encoder("text_encoder", both.prior_text_encoder)
    recorder.watch_text_encoder("denoiser_2.text_encoder", both.text_encoder)
    watch_prompts(recorder, "", prior)
    watch_prompts(recorder, "denoiser_2.", decoder)
    cascade.watch(recorder, "", both.prior_prior, wanted.guidance > 1)
    cascade.watch(recorder, "denoiser_2.", both.decoder, False)
    seen = prior(
        prompt=wanted.prompt, negative_prompt=wanted.negative, height=wanted.height, width=wanted.width,
        num_inference_steps=wanted.steps, guidance_scale=wanted.guidance, num_images_per_prompt=wanted.batch,
        generator=generators, latents=latents, callback_on_step_end=cascade.stepped(recorder, ""),
    )  # fmt: skip
    images = decoder(
        image_embeddings=seen.image_embeddings, prompt=wanted.prompt, num_inference_steps=-(-wanted.steps // 5),
        guidance_scale=0.0, generator=generators, output_type="latent",
        callback_on_step_end=cascade.stepped(recorder, "denoiser_2."),
    )  # fmt: skip
    return cascade.decode(both.vqgan, images.images, recorder)
