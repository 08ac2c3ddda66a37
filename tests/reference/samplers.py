"""Noise, schedules and samplers on their own."""

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
from diffusers.pipelines.z_image.pipeline_z_image import calculate_shift, get_default_z_image_sigmas

import hash_weights

SEEDS = (0, 7, 42, 2**31, 2**32 + 5, 2**63)
COUNTS = (1, 8, 15, 16, 17, 31, 100)  # PyTorch draws 16 and more in another way than fewer


class FlowHeun(diffusers.FlowMatchHeunDiscreteScheduler):
    """Heun's method on the noise levels that another scheduler would choose for a pipeline."""

    def __init__(self, euler):
        super().__init__()
        self.euler = euler
        self.register_to_config(**euler.config)

    def set_timesteps(self, num_inference_steps=None, device=None, sigmas=None, mu=None):
        """As the other scheduler does it; then every level but the first and the last counts twice."""
        self.euler.set_timesteps(num_inference_steps, device=device, sigmas=sigmas, mu=mu)
        super().set_timesteps(len(self.euler.timesteps), device=device)
        levels, times = self.euler.sigmas, self.euler.timesteps
        self.timesteps = torch.cat([times[:1], times[1:].repeat_interleave(2)])
        self.sigmas = torch.cat([levels[:1], levels[1:-1].repeat_interleave(2), levels[-1:]])


class WideEuler(diffusers.EulerDiscreteScheduler):
    """Euler's method of networks that give v, in 64 bits: a step from noise alone, whose level is 4096, leaves three
    digits less of the picture in 32 bits, in diffusers too."""

    def step(self, model_output, timestep, sample, return_dict=False, **_):
        """As the scheduler's own; the latents stay in 32 bits."""
        if self.step_index is None:
            self._init_step_index(timestep)
        sigma, following = (self.sigmas[self.step_index + more].double() for more in (0, 1))
        output, latents = model_output.double(), sample.double()
        picture = output * (-sigma / (sigma**2 + 1) ** 0.5) + latents / (sigma**2 + 1)
        self._step_index += 1
        return ((latents + (latents - picture) / sigma * (following - sigma)).float(),)


def noise():
    """What PyTorch's CPU generator draws for a seed and a number of elements."""
    counts = {seed: COUNTS + ((4096,) if seed in (7, 2**32 + 5) else ()) for seed in SEEDS}
    tensors = {}
    for seed, sizes in counts.items():
        for count in sizes:
            generator = torch.Generator().manual_seed(seed)
            tensors[f"{seed}.{count}"] = torch.randn(count, generator=generator)
    generator = torch.Generator().manual_seed(11)
    tensors["11.shaped"] = torch.randn((2, 3, 5, 7), generator=generator)
    return tensors


def set_as_pipeline(scheduler, steps, tokens):
    """Sets a scheduler's timesteps in the way the Z-Image pipeline does for an image of so many tokens."""
    config = scheduler.config
    mu = calculate_shift(
        tokens, config.base_image_seq_len, config.max_image_seq_len, config.base_shift, config.max_shift
    )
    scheduler.set_timesteps(steps, sigmas=get_default_z_image_sigmas(steps), mu=mu)


def schedules():
    """Noise levels and timesteps for a fixed shift and for one that grows with the image."""
    tensors = {}
    for shift in (1.0, 3.0, 6.0):
        for steps in (1, 2, 3, 12, 50):
            scheduler = diffusers.FlowMatchEulerDiscreteScheduler(shift=shift)
            set_as_pipeline(scheduler, steps, 1024)
            tensors[f"static.{shift}.{steps}.sigmas"] = scheduler.sigmas
            tensors[f"static.{shift}.{steps}.timesteps"] = scheduler.timesteps
    for tokens in (4, 64, 256, 1000, 4096, 6144):
        for steps in (1, 4, 9, 20):
            scheduler = diffusers.FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True)
            set_as_pipeline(scheduler, steps, tokens)
            tensors[f"dynamic.{tokens}.{steps}.sigmas"] = scheduler.sigmas
            tensors[f"dynamic.{tokens}.{steps}.timesteps"] = scheduler.timesteps
    return tensors


def stand_in(matrix, x, timestep):
    """A linear model that needs no file: 0.5 · (W x) + 0.1 · sin(t / 100), W over the channels."""
    return torch.einsum("oc,bchw->bohw", matrix, x) * 0.5 + 0.1 * torch.sin(timestep / 100)


def steps():
    """Six steps of each sampler on the stand-in."""
    matrix = torch.from_numpy(hash_weights.weight("stand_in.weight", (4, 4)))
    start = torch.from_numpy(hash_weights.noise("stand_in.latents", (1, 4, 4, 4)))
    tensors = {"matrix": matrix, "start": start}
    for name in ("euler", "heun"):
        scheduler = diffusers.FlowMatchEulerDiscreteScheduler(shift=3.0)
        scheduler = FlowHeun(scheduler) if name == "heun" else scheduler
        set_as_pipeline(scheduler, 6, 1024)
        x, evaluations, done = start, len(scheduler.timesteps), 0
        for number, timestep in enumerate(scheduler.timesteps):
            x = scheduler.step(stand_in(matrix, x, timestep), timestep, x).prev_sample
            if scheduler.order == 1 or number % 2 == 1 or number + 1 == evaluations:
                tensors[f"{name}.{done}"] = x
                done += 1
    return tensors
