"""Trains the autoencoder: `python train_autoencoder.py DATA --minutes 35`.

Works on random crops of DATA/clips.npy: single frames first, then five frames, then nine and more. The
checkpoint DATA/autoencoder.pt is written every two minutes; if it is there, training goes on from it with a
fresh schedule (`--fresh` starts anew). At the end DATA/vae/ holds the finished AutoencoderKLWan in float32,
with the mean and the deviation of the latents in its configuration. `--decoder` trains the decoder only,
on slightly noisy latents: that keeps the latents as they are.
"""
import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch

import autoencoder
import starter  # noqa: F401
from autoencoder import CHANNELS, build_autoencoder, decode, encode
from machine import minutes_worked, use_idle_cores
from optimisers import Average, Muon, trapezoid

HELD_OUT = 64
KL = 2e-4
NOISE = 0.05
# Share of the run at which a stage ends, then what it chooses from: frames, crop, clips in a batch, weight.
STAGES = (
    (0.20, ((1, 64, 16, 1),)),
    (0.45, ((5, 64, 6, 4), (1, 128, 4, 1))),
    (1.00, ((9, 64, 4, 5), (17, 64, 2, 2), (5, 128, 2, 2), (25, 64, 1, 1), (1, 128, 4, 1))),
)


def stage_at(share, rng):
    """Frames, crop and batch size for a step."""
    for end, choices in STAGES:
        if share < end:
            break
    weights = np.array([choice[3] for choice in choices], float)
    return choices[rng.choice(len(choices), p=weights / weights.sum())][:3]


def load_clips(data, device):
    """All clips in memory, on the device: random crops from disk are slow."""
    return torch.from_numpy(np.load(data / "clips.npy")).to(device)


def as_batch(frames):
    """Bytes as floats from -1 to 1."""
    return frames.float().div_(127.5).sub_(1)


def random_crops(store, rng, frames, crop, count):
    """Random crops of random clips, half of them mirrored."""
    parts = []
    for number in rng.integers(HELD_OUT, len(store), count):
        first = rng.integers(0, store.shape[1] - frames + 1)
        top, left = rng.integers(0, store.shape[2] - crop + 1, 2)
        part = store[number, first:first + frames, top:top + crop, left:left + crop]
        parts.append(part.flip(2) if rng.random() < 0.5 else part)
    return as_batch(torch.stack(parts))


def loss_of(clips, output):
    """Squared and absolute error, and the error of differences between neighbours in space and time."""
    error = output - clips
    edges = error.diff(dim=2).abs().mean() + error.diff(dim=3).abs().mean()
    if error.shape[1] > 1:
        edges = edges + error.diff(dim=1).abs().mean()
    square = error.square().mean()
    return square + 0.2 * error.abs().mean() + 0.2 * edges, square


@torch.no_grad()
def psnr(vae, store, noise=0.0, count=8):
    """Mean peak signal to noise ratio of whole held-out clips, and of their last frames."""
    values = []
    for number in range(count):
        clip = as_batch(store[number:number + 1])
        with torch.autocast(clip.device.type, torch.bfloat16):
            mean = encode(vae, clip)[0]
            mean = mean + noise * mean.std((0, 1, 2, 3)) * torch.randn_like(mean)
            error = (decode(vae, mean).clamp(-1, 1) - clip).square()
        values.append([-10 * math.log10(e.mean().item() / 4) for e in (error, error[:, -1])])
    return np.mean(values, 0)


@torch.no_grad()
def measure_latents(vae, store, count=64):
    """Puts mean and deviation of each latent channel into the configuration."""
    with torch.autocast(store.device.type, torch.bfloat16):
        latents = torch.cat([encode(vae, as_batch(store[n:n + 1]))[0].flatten(0, -2) for n in range(count)])
    vae.register_to_config(latents_mean=latents.mean(0).tolist(), latents_std=latents.std(0).tolist())
    print("deviations of the latents:", [round(v, 2) for v in latents.std(0).tolist()])


def split_parameters(module):
    """The inner convolutions and matrices for Muon, and the rest for AdamW."""
    outer_names = ("conv_in", "decoder.conv_out", "quant_conv", "1.conv_out")
    inner = [p for n, p in module.named_parameters() if n.endswith("weight") and not any(o in n for o in outer_names)]
    chosen = set(map(id, inner))
    return inner, [p for p in module.parameters() if id(p) not in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minutes", type=float, help="of work (see machine.py)", default=35)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--hold", type=float, default=0.5)
    parser.add_argument("--from-share", type=float, help="where in the stages to begin; at the last one when going on")
    parser.add_argument("--batch-factor", type=int, default=1, help="multiplies all batch sizes")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--decoder", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = options.device
    if options.compile:
        autoencoder.use_compiler()
    store = load_clips(options.data, device)
    vae = build_autoencoder().to(device)
    if options.decoder:
        vae.encoder.requires_grad_(False)
        vae.quant_conv.requires_grad_(False)
    trained = torch.nn.ModuleList((vae.post_quant_conv, vae.decoder)) if options.decoder else vae
    inner, outer = split_parameters(trained)
    muon, adam = Muon(inner), torch.optim.AdamW(outer, betas=(0.9, 0.98), weight_decay=1e-3)
    muon.moments = [moment.to(device) for moment in muon.moments]
    average = Average(vae.parameters(), 0.997)
    checkpoint = options.data / "autoencoder.pt"
    before, start_share = 0, options.from_share
    if checkpoint.exists() and not options.fresh:
        saved = torch.load(checkpoint, map_location=device)
        vae.load_state_dict(saved["vae"])
        average.load(saved["average"])
        before = saved["steps"]
        start_share = STAGES[-2][0] if start_share is None else start_share
        if saved["decoder"] == options.decoder:
            muon.load(saved["muon"])
            adam.load_state_dict(saved["adam"])
        print(f"continues after {before} steps", flush=True)
    start_share = start_share or 0.0
    torch.manual_seed(before)
    rng = np.random.default_rng(before)
    print(f"{sum(p.numel() for p in vae.parameters()) / 1e6:.2f} M parameters", flush=True)

    def save():
        state = {"vae": vae.state_dict(), "muon": muon.state(), "adam": adam.state_dict(), "average": average.state(),
                 "steps": before + step, "decoder": options.decoder}
        torch.save(state, checkpoint.with_suffix(".new"))
        checkpoint.with_suffix(".new").rename(checkpoint)

    start, saved_at = minutes_worked(options.device), time.time()
    step, smooth = 0, {}
    while (passed := minutes_worked(options.device) - start) < options.minutes:
        use_idle_cores(options.threads)
        share = passed / options.minutes
        rate = options.rate * trapezoid(share, options.hold) * min(1, (step + 1) / 50)
        frames, crop, count = stage_at(start_share + (1 - start_share) * share, rng)
        clips = random_crops(store, rng, frames, crop, count * options.batch_factor)
        with torch.autocast(device, torch.bfloat16):
            if options.decoder:
                with torch.no_grad():
                    mean = encode(vae, clips)[0]
                latents, divergence = mean + NOISE * mean.std((0, 1, 2, 3)) * torch.randn_like(mean), 0.0
            else:
                mean, variance = encode(vae, clips)
                variance = variance.clamp(-12, 2)
                latents = mean + (0.5 * variance).exp() * torch.randn_like(mean)
                divergence = 0.5 * (mean.square() + variance.exp() - 1 - variance).mean()
            output = decode(vae, latents)
        loss, square = loss_of(clips, output)
        adam.zero_grad(set_to_none=False)
        for parameter in inner:
            parameter.grad = None
        (loss + KL * divergence).backward()
        for parameter in inner:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        if not torch.nn.utils.clip_grad_norm_(trained.parameters(), 1.0).isfinite():
            raise SystemExit("the gradient is not a number")
        adam.param_groups[0]["lr"] = rate
        adam.step()
        muon.step(rate)
        average.update()
        step += 1
        smooth[frames] = smooth.get(frames, square.item()) * 0.97 + 0.03 * square.item()
        if step % 100 == 0:
            shown = ", ".join(f"{n} frames {-10 * math.log10(value / 4):.2f} dB" for n, value in sorted(smooth.items()))
            print(f"{step} {passed:.1f} min: {shown}; rate {rate:.1e}, divergence {float(divergence):.2f}", flush=True)
        if step % 1000 == 0:
            with average.applied():
                print("  held out, all and last frames:", psnr(vae, store).round(2), flush=True)
        if time.time() - saved_at > 120:
            save()
            saved_at = time.time()
    save()
    with average.applied():
        plain, noisy = psnr(vae, store), psnr(vae, store, 0.1)
        print(f"finished: {before + step} steps, held out {plain.round(2)} dB, with noise 0.1 {noisy.round(2)} dB", flush=True)
        if not options.decoder:
            measure_latents(vae, store)
        else:
            config = vae.from_pretrained(options.data / "vae").config
            vae.register_to_config(latents_mean=config.latents_mean, latents_std=config.latents_std)
        vae.save_pretrained(options.data / "vae")


if __name__ == "__main__":
    main()
