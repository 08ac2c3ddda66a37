"""Six steps of every sampler on a stand-in for a model, with both meanings of noise levels.

The stand-in predicts the direction from picture to noise. Latents are `picture + sigma * noise` ("exploding",
k-diffusion's form, in which models that predict noise are run) or `(1 - sigma) * picture + sigma * noise`
("flow"). Everything is computed in double precision, and every sampler is given the same noise.

k-diffusion's samplers follow dx/dsigma = direction where they draw no noise, so they are the reference for
flows too. diffusers' schedulers are set to the levels by hand. What neither has is written here from its paper.
"""

import importlib.util
import itertools
import math
import sys
import types

import quiet  # noqa: F401  (has to come first)

import diffusers
import numpy
import torch
from diffusers.schedulers.scheduling_utils import AysSchedules

import hash_weights

STEPS = 6
MODELS = ("exploding", "flow")


def k_diffusion(name):
    """A module of k-diffusion; importing the whole package would need what trains models."""
    for absent in ("torchdiffeq", "torchsde"):
        module = sys.modules.setdefault(absent, types.ModuleType(absent))
        module.odeint = None
    if "k_diffusion" not in sys.modules:
        package = types.ModuleType("k_diffusion")
        package.__path__ = importlib.util.find_spec("k_diffusion").submodule_search_locations
        package.utils = sys.modules["k_diffusion.utils"] = types.ModuleType("k_diffusion.utils")
        package.utils.append_dims = lambda x, count: x[(...,) + (None,) * (count - x.ndim)]
        sys.modules["k_diffusion"] = package
    return importlib.import_module(f"k_diffusion.{name}")


def levels(model):
    """The noise levels of six steps; those of the flow begin below 1, where nothing is infinite."""
    if model == "exploding":
        return k_diffusion("sampling").get_sigmas_karras(STEPS, 0.03, 14.6).float().double()
    even = torch.linspace(0.999, 1 / STEPS, STEPS, dtype=torch.float64)
    shifted = 3 * even / (1 + 2 * even)
    return torch.cat([shifted, shifted.new_zeros(1)]).float().double()


class Case:
    """A stand-in, levels, noise, and the latents after each step."""

    def __init__(self, model):
        self.flow = model == "flow"
        self.sigmas = levels(model)
        self.matrix = torch.from_numpy(hash_weights.weight("stand_in.weight", (4, 4))).double()
        self.start = torch.from_numpy(hash_weights.noise("stand_in.latents", (1, 4, 4, 4))).double()
        self.start = self.start * self.sigmas[0]
        drawn = [hash_weights.noise(f"stand_in.noise.{step}", (1, 4, 4, 4)) for step in range(STEPS)]
        self.noise = [torch.from_numpy(noise).double() for noise in drawn]

    def direction(self, x, sigma):
        """0.5 * (W x) + 0.1 * sin(10 sigma), W over the channels; x is scaled to unit variance first."""
        x = x if self.flow else x / math.sqrt(1 + sigma**2)
        mixed = torch.einsum("oc,bchw->bohw", self.matrix, x)
        return mixed * 0.5 + 0.1 * torch.sin(10 * torch.as_tensor(sigma, dtype=torch.float64))

    def denoised(self, x, sigma):
        """The predicted picture."""
        return x - sigma * self.direction(x, sigma)

    def share(self, sigma):
        """The picture's share at a level."""
        return 1 - sigma if self.flow else torch.ones_like(sigma)

    def half_log_snr(self, sigma):
        """lambda."""
        return torch.log(self.share(sigma) / sigma)


def by_k_diffusion(case, function, **options):
    """Steps of one of k-diffusion's samplers."""
    seen, noise = [], iter(case.noise)
    if options.get("noise_sampler") is True:
        options["noise_sampler"] = lambda sigma, sigma_next: next(noise)
    last = getattr(k_diffusion("sampling"), f"sample_{function}")(
        lambda x, sigma: case.denoised(x, sigma[0]),
        case.start,
        case.sigmas,
        callback=lambda info: seen.append(info["x"].clone()),
        disable=True,
        **options,
    )
    return [*seen[1:], last]


def by_diffusers(case, scheduler, own_noise=None):
    """Steps of one of diffusers' schedulers that look up their levels in `sigmas`."""
    scheduler.set_timesteps(STEPS)
    scheduler.sigmas = case.sigmas
    scheduler.timesteps = torch.arange(STEPS, 0, -1) * 100
    scheduler.num_inference_steps = STEPS
    x, seen = case.start, []
    for step, timestep in enumerate(scheduler.timesteps):
        sigma = case.sigmas[step]
        extra = {"variance_noise": case.noise[step]} if own_noise else {}
        shrink, later = (
            1 if case.flow else 1 / torch.sqrt(1 + level**2) for level in (sigma, case.sigmas[step + 1])
        )
        predicted = case.direction(x, sigma)
        x = scheduler.step(predicted, timestep, x * shrink, **extra).prev_sample / later
        seen.append(x)
    return seen


def multistep(case, kind, **options):
    """A scheduler of diffusers for these levels."""
    meaning = dict(use_flow_sigmas=True, prediction_type="flow_prediction") if case.flow else {}
    return kind(**meaning, **options)


def by_alphas(case, scheduler):
    """Steps of one of diffusers' schedulers that look up `alphas_cumprod` at timesteps 6 to 1."""
    scheduler.set_timesteps(STEPS)
    scheduler.alphas_cumprod = torch.cat([torch.ones(1), 1 / (1 + case.sigmas[:-1].flip(0) ** 2)])
    scheduler.register_to_config(num_train_timesteps=STEPS)
    scheduler.timesteps = torch.arange(STEPS, 0, -1)
    noise, module = iter(case.noise), sys.modules[type(scheduler).__module__]
    module.randn_tensor = lambda *_, **__: next(noise)
    x, seen = case.start, []
    for step, timestep in enumerate(scheduler.timesteps):
        shrink, later = (1 / torch.sqrt(1 + case.sigmas[number] ** 2) for number in (step, step + 1))
        predicted = case.direction(x, case.sigmas[step])
        x = scheduler.step(predicted, timestep, x * shrink).prev_sample / later
        seen.append(x)
    return seen


def lcm(case):
    """diffusers' schedulers; the timesteps of one are scaled so that its boundary conditions play no part."""
    if not case.flow:
        return by_alphas(case, diffusers.LCMScheduler(clip_sample=False, timestep_scaling=1e6))
    scheduler = diffusers.FlowMatchLCMScheduler()
    scheduler.set_timesteps(STEPS)
    scheduler.sigmas, scheduler.timesteps = case.sigmas, torch.arange(STEPS, 0, -1) * 100.0
    noise, module = iter(case.noise), sys.modules[type(scheduler).__module__]
    module.randn_tensor = lambda *_, **__: next(noise)
    x, seen = case.start, []
    for step, timestep in enumerate(scheduler.timesteps):
        x = scheduler.step(case.direction(x, case.sigmas[step]), timestep, x).prev_sample
        seen.append(x)
    return seen


def ddim(case):
    """diffusers' scheduler; in a flow, where it has none, Euler's method, which is the same without noise."""
    if case.flow:
        return by_k_diffusion(case, "euler")
    return by_alphas(case, diffusers.DDIMScheduler(clip_sample=False, set_alpha_to_one=True))


def ipndm(case):
    """diffusers' scheduler as far as it mixes directions; the step to level 0 ends at the predicted picture."""
    scheduler = diffusers.IPNDMScheduler()
    scheduler.set_timesteps(STEPS)
    scheduler.timesteps = torch.arange(STEPS, 0, -1) * 100
    # It mixes `sample * betas + output * alphas`, a direction where the output is this.
    scheduler.betas, scheduler.alphas = case.sigmas, torch.ones_like(case.sigmas)
    x, seen = case.start, []
    for step, timestep in enumerate(scheduler.timesteps[:-1]):
        sigma = case.sigmas[step]
        x = scheduler.step(case.direction(x, sigma) - x * sigma, timestep, x).prev_sample
        seen.append(x)
    return [*seen, case.denoised(x, case.sigmas[STEPS - 1])]


def descent(case, sigma, later):
    """Ancestral steps of a flow: level below, scale, noise.

    The level below is later^2 / sigma. There, picture and noise have the shares 1 - down and down; scaled so
    that the picture's is 1 - later, the noise lacks the variance that is added.
    """
    down = later * later / sigma
    keep = (1 - later) / (1 - down)
    return down, keep, torch.sqrt(later**2 - (down * keep) ** 2)


def euler_ancestral(case):
    """k-diffusion's sampler; for a flow the same with its own descent."""
    if not case.flow:
        return by_k_diffusion(case, "euler_ancestral", noise_sampler=True)
    x, seen = case.start, []
    for step, (sigma, later) in enumerate(zip(case.sigmas, case.sigmas[1:])):
        down, keep, noise = descent(case, sigma, later)
        x = x + (down - sigma) * case.direction(x, sigma)
        x = keep * x + noise * case.noise[step]
        seen.append(x)
    return seen


def dpmpp_2s_ancestral(case):
    """k-diffusion's sampler; for a flow Lu et al. 2022, algorithm 1, with the descent of a flow."""
    if not case.flow:
        return by_k_diffusion(case, "dpmpp_2s_ancestral", noise_sampler=True)
    x, seen = case.start, []
    for step, (sigma, later) in enumerate(zip(case.sigmas, case.sigmas[1:])):
        if later == 0:
            seen.append(case.denoised(x, sigma))
            continue
        down, keep, noise = descent(case, sigma, later)
        start, end = case.half_log_snr(sigma), case.half_log_snr(down)
        half_way = 1 / (1 + torch.exp((start + end) / 2))
        # Algorithm 1 with r = 1/2: exponential integrators over half of the step, then over all of it.
        u = half_way / sigma * x - (1 - half_way) * torch.expm1((start - end) / 2) * case.denoised(x, sigma)
        picture = case.denoised(u, half_way)
        x = down / sigma * x - (1 - down) * torch.expm1(start - end) * picture
        x = keep * x + noise * case.noise[step]
        seen.append(x)
    return seen


def brownian(case):
    """Noise of one path in the level: over the first part of a step, then over all of it."""
    noise, passed = itertools.cycle(case.noise), []

    def over(sigma, later):
        if not passed:
            passed.append((later, next(noise)))
            return passed[0][1]
        between, first = passed.pop()
        rest = torch.sqrt(between - later) * next(noise)
        return (torch.sqrt(sigma - between) * first + rest) / torch.sqrt(sigma - later)

    return over


def dpmpp_sde(case):
    """k-diffusion's sampler; for a flow as in ComfyUI: the same for the ratio of noise to picture."""
    noise = brownian(case)
    if not case.flow:
        return by_k_diffusion(case, "dpmpp_sde", noise_sampler=noise)
    x, seen = case.start, []
    for sigma, later in zip(case.sigmas, case.sigmas[1:]):
        picture = case.denoised(x, sigma)
        if later == 0:
            seen.append(picture)
            continue
        half_way = 1 / (1 + torch.exp((case.half_log_snr(sigma) + case.half_log_snr(later)) / 2))
        u = stochastic(x, picture, noise(sigma, half_way), sigma, half_way)
        x = stochastic(x, case.denoised(u, half_way), noise(sigma, later), sigma, later)
        seen.append(x)
    return seen


def stochastic(x, picture, noise, sigma, later):
    """An ancestral step of a flow's `x / (1 - sigma)`, of which `sigma / (1 - sigma)` is the level."""
    above, below = (level / (1 - level) for level in (sigma, later))
    up = torch.sqrt(below**2 * (above**2 - below**2) / above**2)
    kept = torch.sqrt(below**2 - up**2) / above
    return (1 - later) * (kept * x / (1 - sigma) + (1 - kept) * picture + up * noise)


def dpm_solver(case, order, stochastic):
    """k-diffusion's DPM-Solver++; diffusers' for a flow."""
    if not case.flow:
        name = f"dpmpp_{order}m_sde" if stochastic else "dpmpp_2m"
        return by_k_diffusion(case, name, **(dict(noise_sampler=True) if stochastic else {}))
    if order == 3:
        return third_order(case)
    kind = "sde-dpmsolver++" if stochastic else "dpmsolver++"
    scheduler = multistep(case, diffusers.DPMSolverMultistepScheduler, algorithm_type=kind, solver_order=order)
    return by_diffusers(case, scheduler, own_noise=stochastic)


def third_order(case):
    """Lu et al. 2022: differences of the last predictions, with k-diffusion's choice of them, for a flow.

    diffusers takes another second step, with which it differs by percents.
    """
    x, seen, pictures, widths = case.start, [], [], []
    for step, (sigma, later) in enumerate(zip(case.sigmas, case.sigmas[1:])):
        pictures.append(case.denoised(x, sigma))
        if later == 0:
            seen.append(pictures[-1])
            continue
        h = case.half_log_snr(later) - case.half_log_snr(sigma)
        share, twice = case.share(later), 2 * h
        x = later / sigma * torch.exp(-h) * x - share * torch.expm1(-twice) * pictures[-1]
        phi_2 = torch.expm1(-twice) / twice + 1
        phi_3 = phi_2 / twice - 0.5
        if len(widths) >= 2:
            r0, r1 = widths[-1] / h, widths[-2] / h
            d10 = (pictures[-1] - pictures[-2]) / r0
            d11 = (pictures[-2] - pictures[-3]) / r1
            d1 = d10 + (d10 - d11) * r0 / (r0 + r1)
            d2 = (d10 - d11) / (r0 + r1)
            x = x + share * (phi_2 * d1 - phi_3 * d2)
        elif widths:
            x = x + share * phi_2 * (pictures[-1] - pictures[-2]) / (widths[-1] / h)
        x = x + later * torch.sqrt(-torch.expm1(-twice)) * case.noise[step]
        widths.append(h)
        seen.append(x)
    return seen


def tcd(case):
    """diffusers' scheduler with Stable Diffusion's table, whose levels are replaced; for a flow written from the paper.

    The level below is at 0.7 of the time of the next one, a whole number in the table.
    """
    if case.flow:
        x, seen = case.start, []
        for step, (sigma, later) in enumerate(zip(case.sigmas, case.sigmas[1:])):
            down = 0.7 * later
            keep = (1 - later) / (1 - down)
            x = keep * (x + (down - sigma) * case.direction(x, sigma))
            x = x + torch.sqrt(later**2 - (down * keep) ** 2) * case.noise[step]
            seen.append(x)
        return seen
    table = stable_diffusion()
    discrete = k_diffusion("external").DiscreteSchedule(table, quantize=False)
    x, seen = case.start, []
    for step, (sigma, later) in enumerate(zip(case.sigmas, case.sigmas[1:])):
        time = discrete.sigma_to_t(later[None]) if later > 0 else 0.0
        down = table[int(0.7 * time)] if later > 0 else later
        scheduler = diffusers.TCDScheduler()
        # Times 2, 1 and 0 of a table of three: this level, the next, and the one below.
        levels = torch.stack([down, later, sigma])
        scheduler.alphas_cumprod = 1 / (1 + levels**2)
        scheduler.set_timesteps(timesteps=[2, 1])
        module = sys.modules[type(scheduler).__module__]
        module.randn_tensor = lambda *_, **__: case.noise[step]
        shrink, back = (1 / torch.sqrt(1 + level**2) for level in (sigma, later))
        # With an eta of 1 - 0 / 1 the time below the next one, 1, is 0.
        x = scheduler.step(case.direction(x, sigma), torch.tensor(2), x * shrink, eta=1.0).prev_sample / back
        seen.append(x)
    return seen


def er_sde(case):
    """Cui et al. 2023, algorithm 3, with noise taken back by x * (exp(x^0.3) + 10) and sums of 200 terms."""

    def phi(level):
        return level * (torch.exp(level**0.3) + 10)

    x, seen, pictures, slopes = case.start, [], [], []
    ls = case.sigmas / case.share(case.sigmas)
    for step, (sigma, later) in enumerate(zip(case.sigmas, case.sigmas[1:])):
        pictures.append(case.denoised(x, sigma))
        if later == 0:
            seen.append(pictures[-1])
            continue
        start, end = ls[step], ls[step + 1]
        kept = phi(end) / phi(start)
        y = kept * x / case.share(sigma) + (1 - kept) * pictures[-1]  # in x / alpha
        grain = (start - end) / 200
        places = end + torch.arange(200) * grain
        if step > 0:
            slopes.append((pictures[-1] - pictures[-2]) / (start - ls[step - 1]))
            y = y + (end - start + phi(end) * (grain / phi(places)).sum()) * slopes[-1]
        if step > 1:
            bend = (slopes[-1] - slopes[-2]) / ((start - ls[step - 2]) / 2)
            y = y + ((end - start) ** 2 / 2 + phi(end) * ((places - start) * grain / phi(places)).sum()) * bend
        y = y + torch.sqrt(end**2 - (start * kept) ** 2) * case.noise[step]
        x = case.share(later) * y
        seen.append(x)
    return seen


def res_multistep(case):
    """Zhang et al. 2023, second order, the second point being the step before, in -ln(sigma)."""
    x, seen, before = case.start, [], None
    for step, (sigma, later) in enumerate(zip(case.sigmas, case.sigmas[1:])):
        picture = case.denoised(x, sigma)
        if later == 0:
            x = picture
        elif before is None:
            x = x + (later - sigma) * case.direction(x, sigma)
        else:
            h = torch.log(sigma / later)
            c2 = torch.log(sigma / case.sigmas[step - 1]) / h
            phi_1 = torch.expm1(-h) / -h
            phi_2 = (phi_1 - 1) / -h
            x = later / sigma * x + h * ((phi_1 - phi_2 / c2) * picture + phi_2 / c2 * before)
        before = picture
        seen.append(x)
    return seen


SAMPLERS = {
    "euler": lambda case: by_k_diffusion(case, "euler"),
    "euler-ancestral": euler_ancestral,
    "heun": lambda case: by_k_diffusion(case, "heun"),
    "dpm2": lambda case: by_k_diffusion(case, "dpm_2"),
    "dpmpp-2s-ancestral": dpmpp_2s_ancestral,
    "dpmpp-sde": dpmpp_sde,
    "dpmpp-2m": lambda case: dpm_solver(case, 2, False),
    "dpmpp-2m-sde": lambda case: dpm_solver(case, 2, True),
    "dpmpp-3m-sde": lambda case: dpm_solver(case, 3, True),
    "ddim": ddim,
    "lms": lambda case: by_k_diffusion(case, "lms"),
    "ipndm": ipndm,
    "uni-pc": lambda case: by_diffusers(case, multistep(case, diffusers.UniPCMultistepScheduler)),
    "lcm": lcm,
    "er-sde": er_sde,
    "res-multistep": res_multistep,
    "tcd": tcd,
}


def steps():
    """The latents after every step, and what they were made from."""
    tensors = {}
    for model in MODELS:
        case = Case(model)
        tensors[f"{model}.sigmas"] = case.sigmas.float()
        for name, sample in SAMPLERS.items():
            for step, x in enumerate(sample(case)):
                tensors[f"{model}.{name}.{step}"] = x.float()
    tensors["matrix"], tensors["start"] = case.matrix.float(), (case.start / case.sigmas[0]).float()
    tensors.update({f"noise.{step}": noise.float() for step, noise in enumerate(case.noise)})
    return tensors


def mochi(count):
    """The levels that the pipeline of Mochi 1 uses."""
    from diffusers.pipelines.mochi.pipeline_mochi import linear_quadratic_schedule

    return torch.tensor([1.0, 0.0] if count == 1 else [*linear_quadratic_schedule(count, 0.025), 0.0])


def stable_diffusion():
    """The noise levels that Stable Diffusion was trained on."""
    betas = torch.linspace(0.00085**0.5, 0.012**0.5, 1000, dtype=torch.float64) ** 2
    products = torch.cumprod(1 - betas, 0)
    return torch.sqrt((1 - products) / products).float().double()


def aligned(name, count):
    """The levels of Align Your Steps for so many steps, as its page interpolates them."""
    published = [level or 0.029 for level in AysSchedules[name]]
    places, wanted = numpy.linspace(0, 1, len(published)), numpy.linspace(0, 1, count + 1)
    found = numpy.exp(numpy.interp(wanted, places, numpy.log(published)))
    return torch.tensor([*found[:-1], 0.0])


def spacings():
    """`MODEL.SCHEDULE.STEPS`: levels for a flow with shift 3 and for Stable Diffusion's table."""
    from scipy.stats import beta

    table = stable_diffusion()
    discrete = k_diffusion("external").DiscreteSchedule(table, quantize=False)
    flow = diffusers.FlowMatchEulerDiscreteScheduler(shift=3.0)
    sampling = k_diffusion("sampling")
    tensors = {"table": table.float()}
    for model in MODELS:
        thousandths = torch.arange(1, 1001, dtype=torch.float64) / 1000
        entries = 3 * thousandths / (1 + 2 * thousandths) if model == "flow" else table
        low, high = entries[0], entries[-1]

        def at(time):
            if model == "flow":
                return 3 * time / 1000 / (1 + 2 * time / 1000)
            return discrete.t_to_sigma(time)

        first, last = (1000.0, float(1000 * low)) if model == "flow" else (999.0, 0.0)
        for count in (1, 2, 7, 20):
            end = torch.zeros(1, dtype=torch.float64)
            if model == "flow":
                flow.set_timesteps(count)
                normal = flow.sigmas.double()
            else:
                normal = discrete.get_sigmas(count) if count > 1 else torch.cat([high[None], end])
            times = torch.linspace(first, last, count + 1, dtype=torch.float64)[:-1]
            ramp = torch.linspace(0, 1, count, dtype=torch.float64)
            quantiles = torch.from_numpy(beta.ppf(1 - torch.arange(count).double().numpy() / count, 0.6, 0.6))
            counted = quantiles * 999 + (1 if model == "flow" else 0)
            kl = torch.tan(ramp * math.atan(low) + (1 - ramp) * math.atan(high))
            found = {
                "normal": normal,
                "karras": sampling.get_sigmas_karras(count, float(low), float(high)),
                "exponential": sampling.get_sigmas_exponential(count, float(low), float(high)),
                "sgm-uniform": torch.cat([at(times), end]),
                "simple": torch.stack([entries[-1 - int(step * 1000 / count)] for step in range(count)] + [end[0]]),
                "beta": torch.cat([at(counted), end]),
                "linear-quadratic": high * mochi(count),
                "kl-optimal": torch.cat([kl, end]),
            }
            tensors.update({f"{model}.{name}.{count}": sigmas.float() for name, sigmas in found.items()})
            for kind in ("StableDiffusion", "StableDiffusionXL"):
                tensors[f"{kind}.{count}"] = aligned(f"{kind}Sigmas", count).float()
    return tensors
