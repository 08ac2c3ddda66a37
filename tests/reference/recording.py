"""Runs a pipeline and keeps the tensors of every stage under the names of an engine's dump."""

import contextlib
import inspect
import json
from types import SimpleNamespace

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
from diffusers.models import embeddings
from diffusers.schedulers import scheduling_flow_match_lcm
from diffusers.pipelines.wan import pipeline_wan, pipeline_wan_i2v, pipeline_wan_vace, pipeline_wan_video2video

import cascade
import control_nets
import hash_weights
import image_prompts
import lens
import modular
import pictures
import qwen3_processor
import qwen_tokenizer
import wuerstchen
from samplers import FlowHeun, WideEuler

# Repairs of broken text, which a tiny tokenizer does not need; diffusers does without the package in other pipelines.
for module in (pipeline_wan, pipeline_wan_i2v, pipeline_wan_vace, pipeline_wan_video2video):
    module.ftfy = SimpleNamespace(fix_text=lambda text: text)


# Frames per second that a request has unless it says otherwise.
FRAME_RATE = 16


class Recorder:
    """Tensors by name; each component counts its calls."""

    def __init__(self):
        self.tensors = {}
        self.calls = {}
        self.kept = None  # The latents of a first frame that the network sees in the place of its own.
        self.padding = 0  # How many tokens of padding, which a mask hides from the others, are read.
        self.after = 0  # How many tokens after the padding, of which nothing is taken, are read.

    def add(self, name, value):
        """Keeps copies of the tensors inside a value; the path to each ends its name."""
        if torch.is_tensor(value):
            self.tensors[name] = value.detach().clone().contiguous()
        elif isinstance(value, (list, tuple)):
            for index, part in enumerate(value):
                self.add(f"{name}.{index}", part)

    def add_picture(self, name, value):
        """Keeps a picture unless it is large: the fixtures are part of the repository."""
        if value.shape[-1] * value.shape[-2] <= 64 * 64:
            self.add(name, value)

    def call(self, name):
        """The number of this call, from 0."""
        number = self.calls.get(name, 0)
        self.calls[name] = number + 1
        return number

    def watch(self, pipeline, calls=1):
        """Records what the text encoders read, what encode_prompt returns and the first calls of the denoiser."""
        conditioner = getattr(pipeline, "text_conditioner", None)
        if conditioner is None:
            self.watch_prompt_encoding(pipeline)
        else:
            self.watch_conditioner(conditioner)
        names = ("text_encoder", "text_encoder_2", "text_encoder_3", "text_encoder_4")
        encoders = [getattr(pipeline, name, None) for name in names]
        for place, encoder in enumerate(encoder for encoder in encoders if encoder is not None):
            self.watch_text_encoder("text_encoder" + (f"_{place + 1}" if place else ""), encoder)
        denoiser = "transformer" if hasattr(pipeline, "transformer") else "unet"
        self.watch_denoiser(denoiser, getattr(pipeline, denoiser), calls)

    def watch_prompt_encoding(self, pipeline):
        """Records what encode_prompt returns."""
        original = pipeline.encode_prompt

        def encode_prompt(*arguments, **options):
            """The original, recorded."""
            result = original(*arguments, **options)
            self.add(f"encode_prompt.{self.call('encode_prompt')}", result)
            return result

        pipeline.encode_prompt = encode_prompt

    def watch_conditioner(self, module):
        """Records the tokens that a conditioner reads, and what a prompt becomes of it."""

        def hook(module, arguments, options, output):
            """Called after each forward pass."""
            number = self.call("text_conditioner")
            self.add(f"text_encoder_2.{number}.input_ids", options["target_input_ids"])
            self.add(f"encode_prompt.0.{number}.0", output[0])

        module.register_forward_hook(hook, with_kwargs=True)

    def watch_text_encoder(self, name, module):
        """Records the token ids of each call, without the padding that a mask hides."""

        def hook(module, arguments, options, output):
            """Called after each forward pass."""
            ids = options["input_ids"] if "input_ids" in options else arguments[0]
            mask = options.get("attention_mask")
            if self.after:
                ids = ids[:, : -self.after]
            elif mask is not None and self.padding:
                ids = ids[:, : int(mask.sum()) + self.padding]
            elif mask is not None:
                ids = ids[mask.bool()]
            self.add(f"{name}.{self.call(name)}.input_ids", ids)

        module.register_forward_hook(hook, with_kwargs=True)

    def watch_denoiser(self, name, module, calls=1):
        """Records the time and the output of the first calls."""
        parameters = [key for key in inspect.signature(type(module).forward).parameters if key != "self"]

        def hook(module, arguments, options, output):
            """Called after each forward pass."""
            number = self.call(name)
            if number == 0:
                given = {**dict(zip(parameters, arguments)), **options}
                times = next(given[key] for key in ("t", "timestep", "timesteps") if key in given)
                self.add(f"{name}.{number}.in.t", times)
                self.add("source.beside", given.get("control_hidden_states"))
            if number < calls:
                self.add(f"{name}.{number}.out", output.to_tuple() if hasattr(output, "to_tuple") else output)

        module.register_forward_hook(hook, with_kwargs=True)

    def watch_encoding(self, autoencoder, numbers):
        """Records the pictures that the autoencoder encodes and what they become, under these numbers; nothing of a
        picture that has none."""
        original = autoencoder.encode

        def encode(picture, *arguments, **options):
            """The original, recorded."""
            result = original(picture, *arguments, **options)
            number = numbers[self.call("vae.encode")]
            if number is not None:
                self.add_picture(f"vae.encode.{number}.in", picture)
                self.add(f"vae.encode.{number}.mean", result[0].mean)
            return result

        autoencoder.encode = encode

    def watch_decoding(self, autoencoder, moved):
        """Records what the autoencoder decodes, after `moved` was added to it."""
        original = autoencoder.decode

        def decode(latents, *arguments, **options):
            """The original, recorded."""
            latents = latents + moved if moved else latents
            result = original(latents, *arguments, **options)
            self.add("vae.decode.in", latents)
            self.add_picture("vae.decode.out", result[0])
            return result

        autoencoder.decode = decode

    def watch_condition(self, pipeline):
        """Records what Wan's network sees of given pictures, and the first latents of a changed clip."""
        original = pipeline.prepare_latents

        def prepare_latents(*arguments, **options):
            """The original, recorded."""
            result = original(*arguments, **options)
            if torch.is_tensor(result):
                self.add("latents.start", result)
            elif len(result) == 3:
                self.kept = result[1]
            else:
                self.add("source.beside", result[1])
            return result

        pipeline.prepare_latents = prepare_latents

    def on_step_end(self, pipeline, evaluation, timestep, tensors):
        """Keeps the latents after each step; one of Heun's steps is two evaluations, but for the last."""
        last = evaluation + 1 == len(pipeline.scheduler.timesteps)
        if pipeline.scheduler.order == 1 or evaluation % 2 == 1 or last:
            latents = tensors["latents"]
            if self.kept is not None:
                latents = torch.cat([self.kept.expand(len(latents), -1, -1, -1, -1), latents[:, :, 1:]], dim=2)
            self.add(f"step.{self.call('step')}.latents", latents)
        return {}

    def before_each_step(self, prepare):
        """Keeps the latents after each step, and calls `prepare` with the number of the next."""
        def after(pipeline, step, timestep, tensors):
            prepare(step + 1)
            return self.on_step_end(pipeline, step, timestep, tensors)

        return after

    def watch_steps(self, scheduler):
        """Keeps the latents after each step, of pipelines that call nothing after one."""
        original = scheduler.step

        def step(*arguments, **options):
            """The original, recorded."""
            result = original(*arguments, **options)
            self.add(f"step.{self.call('step')}.latents", result[0])
            return result

        scheduler.step = step

    def add_schedule(self, scheduler, started_late, stopped_early=False):
        """Keeps the noise levels and times of the steps that were taken; the last level is the one that they end at."""
        # Of DDIM's scheduler, which does not know where it began, all steps are evaluations.
        taken = self.calls["step"]
        rest = len(scheduler.timesteps) - taken
        begin = getattr(scheduler, "begin_index", rest)
        # Wan's pipeline leaves it to the scheduler to find the first level.
        begin = rest if begin is None and scheduler.config.get("use_flow_sigmas") else begin or 0
        first = begin if started_late else 0
        for name, more in (("sigmas", 1), ("timesteps", 0)):
            # DDIM has no list of noise levels.
            levels = getattr(scheduler, name, None)
            end = first + taken + more if stopped_early else None
            self.add(f"scheduler.{name}", levels if levels is None else levels[first:end])


def by_prompt(tensors):
    """What Stable Diffusion's pipelines give for prompt and negative prompt, by number: embeddings of both and then
    pooled embeddings of both, one row for each picture."""
    tidied = {}
    for name, value in tensors.items():
        kind, _, number = name.rpartition(".")
        if kind == "encode_prompt.0":
            pooled, branch = divmod(int(number), 2)
            tidied[f"{kind}.{branch}.{pooled}"] = value[0]
        else:
            tidied[name] = value
    return tidied


def by_clip(tensors, batch):
    """What Wan's pipeline gives, by the names of other pipelines. Clips of one frame are images, without an axis for
    frames."""
    tidied = {}
    for name, value in tensors.items():
        kind, _, number = name.rpartition(".")
        if name == "scheduler.timesteps" or (name == "output" and value.shape[1] > 1):
            continue  # Rounded for the network alone; the pixels of `vae.decode.out`.
        if name == "vae.decode.out" and value.numel() > 20_000:
            continue  # Shorter clips and the autoencoder alone are compared.
        if name == "output":
            tidied[name] = value[:, 0]
        elif kind == "encode_prompt.0":
            if value.numel() < 20_000:
                tidied[f"{name}.0"] = value[0]
        elif kind in ("transformer.0.out", "transformer.1.out"):
            first = 0 if kind == "transformer.0.out" else batch
            tidied.update({f"transformer.0.out.0.{first + index}": clip for index, clip in enumerate(value)})
        else:
            tidied[name] = value.squeeze(2) if value.dim() == 5 else value
    return tidied


def by_packed_clip(tensors, pipeline, shape):
    """What LTX-Video's pipeline gives, in which every latent is a token and one call serves both prompts, by the names of
    other pipelines."""
    frames, height, width = shape[-3:] if len(shape) == 5 else (1, *shape[-2:])

    def unpack(tokens):
        """Tokens to latents. Those of pictures at later frames come before the clip."""
        return pipeline._unpack_latents(tokens, tokens.shape[1] // (height * width), height, width)

    tidied = {}
    for name, value in tensors.items():
        if name.startswith("step."):
            tidied[name] = unpack(value)
        elif name.startswith("encode_prompt.0."):
            number = int(name[-1])
            if number % 2 == 0:
                mask = tensors[f"encode_prompt.0.{number + 1}"][0].bool()
                tidied[f"encode_prompt.0.{number // 2}.0"] = value[0][mask]
        elif name == "transformer.0.out.0":
            # The negative prompt comes first.
            clips = unpack(value)
            clips = torch.cat(clips.chunk(2)[::-1]) if len(clips) > shape[0] else clips
            tidied.update({f"{name}.{index}": clip for index, clip in enumerate(clips)})
        elif name == "output" and value.shape[1] > 1 or name == "vae.decode.out" and value.numel() > 20_000:
            continue  # Shorter clips and the autoencoder alone are compared.
        else:
            tidied[name] = value[:, 0] if name == "output" else value
    return {name: value.squeeze(2) if value.dim() == 5 and frames == 1 else value for name, value in tidied.items()}


def by_caption(tensors, layers):
    """What HiDream's pipeline gives, in which T5, Llama and pooled embeddings are apart: one row for each token, that of T5
    and then those of the layers that are read, in ascending order."""
    tidied = {name: value for name, value in tensors.items() if not name.startswith("encode_prompt.")}
    for branch in range(2):
        if f"encode_prompt.0.{branch}" in tensors:
            t5, llama, pooled = (tensors[f"encode_prompt.0.{kind + branch}"] for kind in (0, 2, 4))
            states = [t5[0], *(llama[layer, 0] for layer in sorted(set(layers)))]
            tidied[f"encode_prompt.0.{branch}.0"] = torch.cat(states, dim=1)
            tidied[f"encode_prompt.0.{branch}.1"] = pooled[0]
    # Rounded for the network alone.
    tidied.pop("scheduler.timesteps", None)
    return tidied


def prepare_hidream(pipeline, wanted, latents):
    """Lets a pipeline that only makes images of about one megapixel make small ones, and gives each image of a distilled model
    new noise from its own generator, which that of the first latents was drawn from."""
    # A little more, so that rounding does not make it smaller.
    pipeline.default_sample_size = ((wanted.height * wanted.width) ** 0.5 + 0.1) / pipeline.vae_scale_factor
    generators = [torch.Generator().manual_seed(cascade.SEED + index) for index in range(wanted.batch)]
    shape = (1, *latents.shape[1:])
    for generator in generators:
        torch.randn(shape, generator=generator)

    def randn_tensor(*arguments, **options):
        """One sample for each image."""
        return torch.cat([torch.randn(shape, generator=generator) for generator in generators])

    scheduling_flow_match_lcm.randn_tensor = randn_tensor


class Patches:
    """Pipelines that denoise a sequence of patches: what is recorded has the shape of latents all the same."""

    # What other pipelines do not have.
    left_out = frozenset()

    def __init__(self, pipeline, shape):
        self.pipeline = pipeline
        self.shape = shape

    def pack(self, latents):
        """Latents to patches."""
        return self.pipeline._pack_latents(latents, *self.shape)

    def unpack(self, patches):
        """Patches to latents. Those of references come after."""
        scale = self.pipeline.vae_scale_factor
        _, _, height, width = self.shape
        patches = patches[:, : height * width // 4]
        latents = self.pipeline._unpack_latents(patches, height * scale, width * scale, scale)
        # Qwen-Image's have an axis for frames.
        return latents.squeeze(2) if latents.dim() == 5 else latents

    def tidy(self, tensors):
        """The tensors of a run by the names and in the shapes that pipelines of latents have."""
        tidied = {}
        for name, value in tensors.items():
            kind, _, number = name.rpartition(".")
            if name in self.left_out:
                continue
            if name.startswith("step."):
                tidied[name] = self.unpack(value)
            elif kind in ("transformer.0.out", "transformer.1.out"):
                # The second call is that of the negative prompt.
                pictures = self.unpack(value)[:, :, None]
                first = 0 if kind == "transformer.0.out" else len(pictures)
                tidied.update(
                    {f"transformer.0.out.0.{first + index}": picture for index, picture in enumerate(pictures)}
                )
            elif kind in ("encode_prompt.0", "encode_prompt.1"):
                # Embeddings, pooled embeddings, places of the text; one row for each picture.
                if number in "01":
                    tidied[f"encode_prompt.0.{kind[-1]}.{number}"] = value[0]
            else:
                tidied[name] = value.squeeze(2) if name.startswith("vae.") and value.dim() == 5 else value
        return tidied


class MaskedPatches(Patches):
    """Chroma's pipeline: the mask of a prompt says what is read of it, and one call encodes both prompts."""

    def tidy(self, tensors):
        """The embeddings that are read."""
        own = {name: value for name, value in tensors.items() if not name.startswith("encode_prompt.")}
        tidied = super().tidy(own)
        for branch, first in enumerate((0, 3)):
            if f"encode_prompt.0.{first}" in tensors:
                mask = tensors[f"encode_prompt.0.{first + 2}"][0].bool()
                tidied[f"encode_prompt.0.{branch}.0"] = tensors[f"encode_prompt.0.{first}"][0][mask]
        return tidied


class StackedPatches(Patches):
    """Krea 2's pipeline: a prompt has a row for each of several layers of the text encoder, and a mask of its tokens."""

    def unpack(self, patches):
        """Patches to latents."""
        scale, (_, _, height, width) = self.pipeline.vae_scale_factor, self.shape
        return self.pipeline._unpack_latents(patches, height * scale, width * scale).squeeze(2)

    def tidy(self, tensors):
        """The rows of a token side by side. The autoencoder is Qwen-Image's."""
        own = {name: value for name, value in tensors.items() if not name.startswith(("encode_prompt.", "vae.decode.out"))}
        tidied = super().tidy(own)
        for branch in range(2):
            if f"encode_prompt.{branch}.0" in tensors:
                mask = tensors[f"encode_prompt.{branch}.1"][0].bool()
                tidied[f"encode_prompt.0.{branch}.0"] = tensors[f"encode_prompt.{branch}.0"][0][mask].flatten(1)
        return tidied


def repair_chroma(pipeline):
    """Makes the mask of a pipeline one of truth values, as it is in the author's code. diffusers has numbers there, which its
    attention adds to the scores (issues 12116 and 13619). Its pipeline for masks asks for an option of FLUX.1."""
    pipeline.transformer.register_to_config(guidance_embeds=False)
    original = pipeline._prepare_attention_mask

    def prepare_attention_mask(*arguments, **options):
        """The original, with truth values."""
        mask = original(*arguments, **options)
        return mask if mask is None else mask.bool()

    pipeline._prepare_attention_mask = prepare_attention_mask


class SinglePatches(Patches):
    """Qwen-Image 2.1's pipeline: every latent is a token, those of the image come last, and the autoencoder has an opacity."""

    # Which tokens are those of pictures.
    left_out = {"encode_prompt.0.2", "encode_prompt.1.2", "vae.decode.out"}

    def unpack(self, patches):
        """Patches to latents."""
        scale, (_, _, height, width) = self.pipeline.vae_scale_factor, self.shape
        patches = patches[:, -height * width :]
        return self.pipeline._unpack_latents(patches, height * scale, width * scale, scale).squeeze(2)

    def tidy(self, tensors):
        """The rows of text in a prompt. References are large; what becomes of them is compared."""
        own = {name: value for name, value in tensors.items() if not name.startswith("vae.encode") or name.endswith("mean")}
        tidied = super().tidy(own)
        for branch in range(2):
            if f"encode_prompt.{branch}.0" in tensors:
                is_picture = tensors[f"encode_prompt.{branch}.2"][0]
                tidied[f"encode_prompt.0.{branch}.0"] = tensors[f"encode_prompt.{branch}.0"][0][~is_picture]
        return tidied


class TextInPlaces(Patches):
    """LongCat-Image's pipeline: the places of the text come with a prompt. The autoencoder is FLUX.1's."""

    left_out = {"encode_prompt.0.1", "encode_prompt.1.1", "vae.decode.out"}


class PatchesOfLatents(Patches):
    """FLUX.2's pipeline: its latents are patches of the autoencoder's."""

    # The places of the text.
    left_out = {"encode_prompt.0.1", "encode_prompt.1.1"}

    def pack(self, latents):
        """The pipeline packs them."""
        return latents

    def unpack(self, patches):
        """Patches to latents."""
        batch, _, height, width = self.shape
        patches = patches[:, : height * width]
        return patches.permute(0, 2, 1).reshape(batch, -1, height, width)

    def tidy(self, tensors):
        """The autoencoder's latents are patches, too."""
        tidied = {
            name: self.pipeline._patchify_latents(value) if name.endswith((".mean", "vae.decode.in")) else value
            for name, value in super().tidy(tensors).items()
        }
        return tidied


def by_patches(tensors, pipeline, batch):
    """What ERNIE-Image's pipeline gives, in which one call serves both prompts, by the names of other pipelines. Its latents are
    patches of the autoencoder's."""
    tidied = {}
    for name, value in tensors.items():
        kind, _, number = name.rpartition(".")
        if name == "transformer.0.out.0":
            # The negative prompt comes first.
            pictures = torch.cat(value.chunk(2)[::-1]) if len(value) > batch else value
            tidied.update({f"{name}.{index}": picture[:, None] for index, picture in enumerate(pictures)})
        elif kind.startswith("encode_prompt."):
            # One for each picture.
            if number == "0":
                tidied[f"encode_prompt.0.{kind[-1]}.0"] = value
        elif name == "vae.decode.in":
            tidied[name] = pipeline._patchify_latents(value)
        elif name != "vae.decode.out":
            tidied[name] = value
    return tidied


def by_sequence(tensors, pipeline, wanted):
    """What Lens's pipeline gives, by the names of other pipelines. Its network sees a sequence of patches, first those of the
    prompt; where there is no guidance, the others make no difference."""
    rows, columns = wanted.latents["shape"][-2:]
    tidied = {}
    for name, value in tensors.items():
        if name == "transformer.0.out":
            pictures = value.transpose(1, 2).unflatten(2, (rows, columns))
            pictures = pictures if wanted.guidance > 1 else pictures[: wanted.batch]
            tidied.update({f"{name}.0.{index}": picture[:, None] for index, picture in enumerate(pictures)})
        elif name == "vae.decode.in":
            tidied[name] = pipeline._patchify_latents(value)
        elif name != "vae.decode.out":
            tidied[name] = value
    return tidied


def describe(name, salt, tiny, run):
    """What request.json says about a run."""
    shape = tiny.latents(run.batch, run.height, run.width, *([run.frames] if run.frames > 1 else []))
    latents = {"name": hash_weights.salted(salt, f"{name}.latents"), "shape": list(shape)}
    described = {"family": name, **vars(run), "latents": latents}
    if run.true_cfg == 1:
        del described["true_cfg"]
    if run.frames == 1:
        del described["frames"]
    if not run.timesteps:
        del described["timesteps"]
    if not run.refiner:
        del described["refiner"], described["refiner_switch"]
    if "source" in described and pictures.is_controlled(run.source):
        shape = [*shape[:2], shape[2] + len(run.source["references"]), *shape[3:]]
        described["latents"]["shape"] = shape
    if "source" in described:
        noise = {"name": hash_weights.salted(salt, f"{name}.picture"), "shape": [1, *shape[1:]]}
        if pictures.is_clip(run.source):
            noise["shape"][2] = 1
        described["source"] = {**described["source"], "noise": noise}
    return described


@contextlib.contextmanager
def rounded_frequencies(is_wanted):
    """Rounds the frequencies of sinusoidal embeddings correctly. torch's exponential rounds two of 128 to the other side, other
    processors and GPUs round others. At FLUX.1 Fill's guidance of 30, the angle of one of them is 12651, and the last bit of the
    frequency changes the network's result by up to 8e-5."""
    original = embeddings.get_timestep_embedding

    def get_timestep_embedding(*arguments, **options):
        """The original, with another exponential."""
        exp = torch.exp
        torch.exp = lambda exponents: exp(exponents.double()).to(exponents.dtype)
        try:
            return original(*arguments, **options)
        finally:
            torch.exp = exp

    embeddings.get_timestep_embedding = get_timestep_embedding if is_wanted else original
    try:
        yield
    finally:
        embeddings.get_timestep_embedding = original


def open_pipeline(kind, folder, **given):
    """The pipeline of a checkpoint folder, without the components that it has none of; `given` replaces others."""
    if kind.startswith("Anima"):
        return modular.open_pipeline(kind, folder)
    with open(f"{folder}/model_index.json", encoding="utf-8") as file:
        left_out = {name: None for name, library in json.load(file).items() if library == [None, None]}
    if kind == "QwenImage21Pipeline":
        given["processor"] = qwen3_processor.Processor(qwen_tokenizer.make()[0])
    library = lens if kind == "LensPipeline" else diffusers
    pipeline = getattr(library, kind).from_pretrained(folder, torch_dtype=torch.float32, **left_out, **given)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def run(kind, folder, request, files, prepare=lambda pipeline: None, refiner=None):
    """Runs a request on a checkpoint folder, with its own files in `files`, after `prepare` was given the pipeline;
    returns name -> tensor. `refiner` is the checkpoint folder of the refiner that the request names."""
    source, references = request.get("source"), request.get("references")
    if kind.startswith(("StableCascade", "Wuerstchen")):
        run_both = cascade.run if kind.startswith("StableCascade") else wuerstchen.run
        noise = hash_weights.noise(request["latents"]["name"], tuple(request["latents"]["shape"]))
        return run_both(folder, SimpleNamespace(**request), Recorder(), torch.from_numpy(noise))
    kind = pictures.variant(kind, source) if source else kind
    pipeline = open_pipeline(kind, folder)
    prepare(pipeline)
    is_longcat = kind.startswith("LongCat")
    if kind.startswith("QwenImageEdit"):
        pictures.see(pipeline)
    elif is_longcat:
        pictures.see_in_places(pipeline)
    wanted = SimpleNamespace(**request)
    if wanted.sampler == "heun":
        pipeline.scheduler = FlowHeun(pipeline.scheduler)
    if pipeline.scheduler.config.get("rescale_betas_zero_snr"):
        pipeline.scheduler = WideEuler.from_config(pipeline.scheduler.config)
    extra = {"true_cfg_scale": wanted.true_cfg} if hasattr(wanted, "true_cfg") else {}
    # Its guidance is what others call true CFG.
    extra = {"true_cfg_scale": wanted.guidance} if kind.startswith("QwenImage") else extra
    steering = {}
    if "control_nets" in request:
        pipeline, steering = control_nets.steered(pipeline, request["control_nets"], files)
    set_weights = None
    if "image_prompts" in request:
        steering, set_weights = image_prompts.load(pipeline, request["image_prompts"], files, wanted.steps)
    recorder = Recorder()
    is_flux2, is_chroma, is_hidream = (kind.startswith(name) for name in ("Flux2", "Chroma", "HiDream"))
    recorder.padding = wanted.max_tokens if is_flux2 or is_hidream else int(is_chroma)
    if is_chroma:
        repair_chroma(pipeline)
    if is_longcat:
        # Its longest prompt is a constant.
        pipeline.tokenizer_max_length = wanted.max_tokens
        recorder.after = len(pipeline.tokenizer(pipeline.prompt_template_encode_suffix)["input_ids"])
        recorder.watch_steps(pipeline.scheduler)
    is_packed, makes_clips = kind.startswith("LTX"), kind.startswith(("Wan", "LTX"))
    is_krea = kind.startswith("Krea2")
    recorder.watch(pipeline, calls=1 + (wanted.guidance > 0 if is_krea else wanted.guidance > 1 if kind.startswith(("Wan", "Qwen", "Flux2Klein", "Chroma", "Anima", "LongCat")) else len(extra)))
    if not makes_clips:
        named = [f"reference.{number}" for number in range(len(references["pictures"]))] if references else []
        named += [f"map.{number}" for number in range(len(request.get("control_nets", ())))]
        recorder.watch_encoding(pipeline.vae, pictures.used(pipeline, source) if source else named)
    elif source and not is_packed:
        recorder.watch_condition(pipeline)
    # This pipeline forgets what the autoencoder's latents are moved by.
    is_forgetful = kind == "StableDiffusion3InpaintPipeline"
    recorder.watch_decoding(pipeline.vae, pipeline.vae.config.shift_factor if is_forgetful else None)
    latents = torch.from_numpy(
        hash_weights.noise(wanted.latents["name"], tuple(wanted.latents["shape"]))
    )
    recorder.add("latents.init", latents)
    if is_hidream:
        prepare_hidream(pipeline, wanted, latents)
    is_single = kind == "QwenImage21Pipeline"
    special = {
        is_flux2: PatchesOfLatents, is_chroma: MaskedPatches, is_krea: StackedPatches, is_single: SinglePatches,
        is_longcat: TextInPlaces,
    }  # fmt: skip
    kind_of_patches = special.get(True, Patches)
    patches = kind_of_patches(pipeline, latents.shape) if hasattr(pipeline, "_pack_latents") and not is_packed else None

    # A UNet's pipelines take as many tokens as there are.
    own = {"max_sequence_length": wanted.max_tokens} if hasattr(pipeline, "transformer") else {}
    refined = hasattr(wanted, "refiner")
    ends = {"output_type": "latent", "denoising_end": wanted.refiner_switch} if refined else {"output_type": "pt"}
    options = {
        **shared_options(pipeline, wanted), "height": wanted.height, "width": wanted.width,
        "callback_on_step_end": recorder.on_step_end, **ends, **own, **extra,
    }  # fmt: skip
    is_ernie = kind.startswith("Ernie")
    if is_single or is_longcat or is_ernie:
        taken = inspect.signature(type(pipeline).__call__).parameters
        options = {name: value for name, value in options.items() if name in taken}
        options.update({"enable_prompt_rewrite": False} if "enable_prompt_rewrite" in taken else {})
    if kind == "FluxKontextPipeline":
        # It takes the aspect ratio from the size, and the size from this.
        options["max_area"] = wanted.height * wanted.width
    if is_flux2:
        # The negative prompt is always empty. The layers are those at a quarter, a half and three quarters.
        options.pop("negative_prompt")
        layers = pipeline.text_encoder.config.get_text_config().num_hidden_layers
        options["text_encoder_out_layers"] = tuple(layers * part // 4 for part in (1, 2, 3))
    if makes_clips:
        options["num_videos_per_prompt"] = options.pop("num_images_per_prompt")
        options.update({"frame_rate": FRAME_RATE} if is_packed else {})
        options.update({} if source and source["clip"] else {"num_frames": getattr(wanted, "frames", 1)})
    options.update({"timesteps": list(wanted.timesteps)} if hasattr(wanted, "timesteps") else {})
    if kind == pictures.CONDITIONED:
        # It takes latents only of clips that are changed.
        with pictures.drawn(pipeline, request):
            frames = options["num_frames"]
            output = pipeline(**options, **(pictures.options(source, files, kind, frames) if source else {}))
    elif source:
        # Some pipelines take the size of the picture.
        sized = inspect.signature(type(pipeline).__call__).parameters
        options = {name: value for name, value in options.items() if name in sized}
        with pictures.drawn(pipeline, request), rounded_frequencies(kind == pictures.FILLED):
            output = pipeline(**options, **pictures.options(source, files))
    else:
        if makes_clips:
            given = latents if latents.dim() == 5 else latents[:, :, None]
            given = pipeline._pack_latents(given) if is_packed else given
            options["latents"] = given
        else:
            options["latents"] = patches.pack(latents) if patches else latents
        if hasattr(wanted, "redux"):
            # Their conditioning is that of the prior pipeline, which reads the prompt once for each picture.
            conditions = pictures.redux(pipeline, refiner, wanted, files)
            ids = {name: value[:1] for name, value in recorder.tensors.items() if name.endswith(".input_ids")}
            recorder.tensors.update(ids)
            options = {name: value for name, value in options.items() if name != "prompt"}
            options.update(conditions)
            references = None
        options.update(steering)
        if set_weights:
            options["callback_on_step_end"] = recorder.before_each_step(set_weights)
        with pictures.referenced(kind, references, files) if references else contextlib.nullcontext({}) as images:
            output = pipeline(**options, **images)
    is_late = bool(source) and (not makes_clips or bool(source["clip"]))
    recorder.add_schedule(pipeline.scheduler, started_late=is_late, stopped_early=refined)
    images = output.frames if makes_clips else output.images
    if refined:
        images, tensors = refine(pipeline.vae, refiner, wanted, images)
        recorder.tensors.update(tensors)
    recorder.add_picture("output", images)
    if is_packed:
        return by_packed_clip(recorder.tensors, pipeline, tuple(latents.shape))
    if makes_clips:
        return by_clip(recorder.tensors, wanted.batch)
    if patches:
        if kind.startswith("QwenImage") and not is_single:
            # It reads whole prompts and cuts what becomes of them; what is cut makes no difference to the rest.
            read = wanted.max_tokens + pipeline.prompt_template_encode_start_idx
            ids = {name: value[:read] for name, value in recorder.tensors.items() if name.endswith(".input_ids")}
            recorder.tensors.update({} if references else ids)
            # Those of pictures are long; what is predicted with them is compared.
            recorder.tensors = {
                name: value
                for name, value in recorder.tensors.items()
                if not name.startswith("encode_prompt.") or value.numel() < 20_000
            }
        return patches.tidy(recorder.tensors)
    if kind.startswith("Anima"):
        return modular.by_branch(recorder.tensors)
    if kind == "LensPipeline":
        return by_sequence(recorder.tensors, pipeline, wanted)
    if is_ernie:
        return by_patches(recorder.tensors, pipeline, wanted.batch)
    if is_hidream:
        return by_caption(recorder.tensors, pipeline.transformer.config.llama_layers)
    return by_prompt(recorder.tensors) if kind.startswith("StableDiffusion") else recorder.tensors


def shared_options(pipeline, wanted):
    """What every pipeline of a request is called with. A UNet's pipelines take an empty negative prompt for none."""
    negative = wanted.negative if hasattr(pipeline, "transformer") else wanted.negative or None
    return dict(
        prompt=wanted.prompt, negative_prompt=negative, num_inference_steps=wanted.steps,
        guidance_scale=wanted.guidance, num_images_per_prompt=wanted.batch,
    )  # fmt: skip


def refine(autoencoder, folder, wanted, latents):
    """Takes the last steps of a request with a refiner, and decodes with the autoencoder of the base model; the
    images, and name -> tensor."""
    pipeline = open_pipeline("StableDiffusionXLImg2ImgPipeline", folder, vae=autoencoder)
    recorder = Recorder()
    recorder.watch(pipeline)
    recorder.add("latents.start", latents)
    output = pipeline(
        **shared_options(pipeline, wanted), image=latents, denoising_start=wanted.refiner_switch,
        callback_on_step_end=recorder.on_step_end, output_type="pt",
    )  # fmt: skip
    recorder.add_schedule(pipeline.scheduler, started_late=True)
    return output.images, {f"refiner.{name}": value for name, value in by_prompt(recorder.tensors).items()}
