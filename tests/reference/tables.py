"""diffusers' schedulers for models with a table of noise levels, on a linear stand-in for a model.

Each scheduler chooses the levels and the times itself, as its configuration says.
"""

import json
import sys

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
from diffusers.pipelines.stable_diffusion.pipeline_stable_diffusion import rescale_noise_cfg

import hash_weights
from samplers import stand_in

STEPS = 6
SHAPE = (1, 4, 4, 4)
TABLE = dict(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", num_train_timesteps=1000)
ZERO_SNR = dict(prediction_type="v_prediction", timestep_spacing="trailing", rescale_betas_zero_snr=True)
DDIM = dict(clip_sample=False, steps_offset=1)

# name: scheduler, its options, the sampler and the schedule that stand for it.
RUNS = {
    "ddim": ("DDIM", dict(DDIM, set_alpha_to_one=False), "ddim", "model"),
    "lms": ("LMSDiscrete", {}, "lms", "model"),
    "euler": ("EulerDiscrete", dict(steps_offset=1, timestep_spacing="leading"), "euler", "model"),
    "euler_karras": ("EulerDiscrete", dict(use_karras_sigmas=True), "euler", "karras"),
    "euler_exponential": ("EulerDiscrete", dict(use_exponential_sigmas=True), "euler", "exponential"),
    "euler_v": ("EulerDiscrete", ZERO_SNR, "euler", "model"),
    "euler_a": ("EulerAncestralDiscrete", {}, "euler_ancestral", "model"),
    "heun": ("HeunDiscrete", {}, "heun", "model"),
    "dpm2": ("KDPM2Discrete", {}, "dpm2", "model"),
    "dpmpp_2m": ("DPMSolverMultistep", {}, "dpmpp_2m", "model"),
    "dpmpp_2m_karras": ("DPMSolverMultistep", dict(use_karras_sigmas=True), "dpmpp_2m", "karras"),
    "dpmpp_2m_sde_karras": (
        "DPMSolverMultistep", dict(algorithm_type="sde-dpmsolver++", use_karras_sigmas=True), "dpmpp_2m_sde", "karras",
    ),
    "unipc": ("UniPCMultistep", {}, "uni_pc", "model"),
    "lcm": ("LCM", {}, "lcm", "model"),
    "tcd": ("TCD", {}, "tcd", "model"),
}  # fmt: skip

# name: scheduler and options, of which the levels alone are kept.
LEVELS = {
    f"{kind}-{spacing}": (kind, dict(timestep_spacing=spacing, steps_offset=offset))
    for kind, offset in (("EulerDiscrete", 1), ("LMSDiscrete", 0), ("DPMSolverMultistep", 1), ("UniPCMultistep", 0), ("DDIM", 1))
    for spacing in ("linspace", "leading", "trailing")
}  # fmt: skip
LEVELS["LCM"], LEVELS["TCD"] = ("LCM", {}), ("TCD", dict(original_inference_steps=40))


def scheduler_of(kind, options):
    """A scheduler of diffusers."""
    return getattr(diffusers, f"{kind}Scheduler")(**TABLE, **options)


def levels(scheduler, timesteps):
    """The levels of a run; those of a scheduler that has none are read from its table."""
    if torch.is_tensor(getattr(scheduler, "sigmas", None)):
        found = scheduler.sigmas.double()
        kept = [0] + [number for number in range(1, len(found)) if found[number] != found[number - 1]]
        return found[kept].float()
    last = {"DDIMScheduler": scheduler.final_alpha_cumprod, "TCDScheduler": scheduler.alphas_cumprod[0]}
    last = last.get(type(scheduler).__name__, torch.tensor(1.0))
    alphas = torch.cat([scheduler.alphas_cumprod[timesteps.long()], last.reshape(1)]).double()
    return torch.sqrt((1 - alphas) / alphas).float()


def walk(kind, options):
    """Levels, times and latents after each of six steps, in the scheduler's own scale."""
    scheduler = scheduler_of(kind, options)
    noise = (torch.from_numpy(hash_weights.noise(f"stand_in.noise.{step}", SHAPE)) for step in range(100))
    sys.modules[type(scheduler).__module__].randn_tensor = lambda *_, **__: next(noise)
    scheduler.set_timesteps(STEPS)
    matrix = torch.from_numpy(hash_weights.weight("stand_in.weight", (4, 4)))
    x = torch.from_numpy(hash_weights.noise("stand_in.latents", SHAPE)) * scheduler.init_noise_sigma
    times = scheduler.timesteps
    tensors = {"levels": levels(scheduler, times), "times": times.float(), "start": x}
    if kind == "KDPM2Discrete":  # its levels are mixed with those half-way
        tensors["levels"] = torch.cat([scheduler.sigmas[:1], scheduler.sigmas[1::2]])
    done = 0
    for number, time in enumerate(times):
        output = stand_in(matrix, scheduler.scale_model_input(x, time), time.float())
        x = scheduler.step(output, time, x).prev_sample
        if scheduler.order == 1 or number % 2 == 1 or number + 1 == len(times):
            tensors[f"{done}"] = x
            done += 1
    return tensors


def described(kind, options):
    """The configuration as it is saved."""
    return json.loads(scheduler_of(kind, options).to_json_string())


def configurations():
    """`runs` and `levels`: names with the configurations that scheduler_config.json would have."""
    runs = {
        name: {"config": described(kind, options), "sampler": sampler, "schedule": schedule}
        for name, (kind, options, sampler, schedule) in RUNS.items()
    }
    return {"runs": runs, "levels": {name: described(*entry) for name, entry in LEVELS.items()}}


def tensors():
    """`RUN.…` as in `walk`, and `levels.NAME.STEPS`."""
    found = {"matrix": torch.from_numpy(hash_weights.weight("stand_in.weight", (4, 4)))}
    found["noise"] = torch.from_numpy(hash_weights.noise("stand_in.latents", SHAPE))
    for step in range(STEPS):
        found[f"noise.{step}"] = torch.from_numpy(hash_weights.noise(f"stand_in.noise.{step}", SHAPE))
    for name, (kind, options, _, _) in RUNS.items():
        found.update({f"{name}.{key}": value for key, value in walk(kind, options).items()})
    for name, (kind, options) in LEVELS.items():
        for steps in (3, 7, 20):
            scheduler = scheduler_of(kind, options)
            scheduler.set_timesteps(steps)
            found[f"levels.{name}.{steps}"] = levels(scheduler, scheduler.timesteps)
    positive, negative = (torch.from_numpy(hash_weights.noise(f"rescale.{side}", (2, 4, 5, 3))) for side in "+-")
    guided = negative + 4.5 * (positive - negative)
    rescaled = rescale_noise_cfg(guided, positive, guidance_rescale=0.7)
    found.update({"rescale.positive": positive, "rescale.negative": negative, "rescale.out": rescaled})
    return found
