"""Trains the transformer: `python train_clips.py DATA --minutes 60`.

Flow matching on DATA/latents.npy (encode_clips.py), with captions written afresh for every sample. The text
encoder (train_words.py) stays as it is. A clip's first latent frames are a shorter clip, so the first part
of a run uses mostly single frames, which are quick, then three, then all seven. The checkpoint
DATA/transformer.pt is written every three minutes; if it is there, training goes on from it with a fresh
schedule (`--fresh` starts anew).
"""
import argparse
import json
import random
import time
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer

import starter  # noqa: F401
from denoiser import Denoiser, build_transformer
from draw_clips import as_clip
from machine import minutes_worked, use_idle_cores
from optimisers import Average, Muon, trapezoid
from phrases import caption
from scenes import mirrored
from train_words import build_text_encoder, tokens_of

HELD_OUT = 64
EMPTY_SHARE = 0.1
# Share of the run at which a stage ends, then what it chooses from: latent frames, clips in a batch, weight.
STAGES = ((0.25, ((1, 96, 1),)), (0.4, ((3, 36, 3), (1, 96, 1))), (1.0, ((7, 16, 10), (3, 36, 1), (1, 96, 1))))


class Samples:
    """Batches of latents with fresh captions."""

    def __init__(self, data, device, seed):
        self.latents = torch.from_numpy(np.load(data / "latents.npy")).to(device)
        count = json.loads((data / "latents.json").read_text())["count"]
        entries = json.loads((data / "clips.json").read_text(encoding="utf-8"))[:count]
        self.clips = [as_clip(entry) for entry in entries]
        self.tokenizer = AutoTokenizer.from_pretrained(data / "tokenizer")
        self.encoder = build_text_encoder(len(self.tokenizer)).to(device).eval()
        self.encoder.load_state_dict(torch.load(data / "text_encoder.pt", map_location=device)["encoder"])
        self.device, self.rng = device, random.Random(seed)

    @torch.no_grad()
    def text(self, texts):
        """Text features and the mask of the real tokens."""
        ids, mask = tokens_of(self.tokenizer, texts, self.device)
        return self.encoder(ids, mask).last_hidden_state, mask

    def batch(self, frames, count):
        """Latents of the first frames, text features, mask."""
        latents, texts = [], []
        for _ in range(count):
            number, side = self.rng.randrange(HELD_OUT, len(self.clips)), self.rng.randrange(2)
            clip = mirrored(self.clips[number]) if side else self.clips[number]
            latents.append(self.latents[number, side, :, :frames])
            texts.append("" if self.rng.random() < EMPTY_SHARE else caption(clip, self.rng))
        return torch.stack(latents).float(), *self.text(texts)

    def held_out(self):
        """A fixed batch that training does not use."""
        rng = random.Random(3)
        texts = [caption(clip, rng) for clip in self.clips[:HELD_OUT]]
        return self.latents[:HELD_OUT, 0].float(), *self.text(texts)


def random_sigmas(count, frames):
    """Noise levels: logit-normal, moved towards noise for longer clips, some anywhere."""
    shift = {1: 1.3, 3: 2.0, 7: 4.5}[frames]
    middle = torch.sigmoid(torch.randn(count))
    middle = shift * middle / (1 + (shift - 1) * middle)
    return torch.where(torch.rand(count) < 0.1, torch.rand(count), middle).clamp(0.002, 0.999)


def errors(denoiser, latents, noise, sigma, text, mask):
    """Squared error of the velocity, for each sample."""
    share = sigma[:, None, None, None, None]
    with torch.autocast(latents.device.type, torch.bfloat16):
        output = denoiser((1 - share) * latents + share * noise, sigma, text, mask)
    return (output - (noise - latents)).square().mean((1, 2, 3, 4))


@torch.no_grad()
def validate(denoiser, batch):
    """Mean error on held-out clips with fixed noise, and for four ranges of the noise level."""
    latents, text, mask = batch
    generator = torch.Generator().manual_seed(9)
    noise = torch.randn(latents.shape, generator=generator).to(latents.device)
    sigma = ((torch.randperm(len(latents), generator=generator) + 0.5) / len(latents)).to(latents.device)
    parts = [slice(i, i + 16) for i in range(0, len(latents), 16)]
    error = torch.cat([errors(denoiser, latents[p], noise[p], sigma[p], text[p], mask[p]) for p in parts])
    quarters = [error[(sigma >= q / 4) & (sigma < (q + 1) / 4)].mean().item() for q in range(4)]
    return error.mean().item(), quarters


def stage_at(share, rng):
    """Latent frames and batch size for a step."""
    for end, choices in STAGES:
        if share < end:
            break
    return rng.choices(choices, [choice[2] for choice in choices])[0][:2]


def split_parameters(transformer):
    """The matrices of the blocks for Muon, everything else for AdamW."""
    inner = [p for n, p in transformer.named_parameters() if p.ndim == 2 and n.startswith("blocks")]
    chosen = set(map(id, inner))
    return inner, [p for p in transformer.parameters() if id(p) not in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minutes", type=float, help="of work (see machine.py)", default=60)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--hold", type=float, default=0.5, help="share of the run with the full rate")
    parser.add_argument("--from-share", type=float, help="where in the stages to begin; 0.4 when going on")
    parser.add_argument("--batch-factor", type=int, default=1, help="multiplies all batch sizes")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device, checkpoint = options.device, options.data / "transformer.pt"
    going_on = checkpoint.exists() and not options.fresh
    saved = torch.load(checkpoint, map_location=device) if going_on else {"steps": 0, "seen": 0}
    torch.manual_seed(saved["steps"])
    samples = Samples(options.data, device, saved["steps"])
    transformer = build_transformer().to(device)
    denoiser = Denoiser(transformer)
    if options.compile:
        denoiser.use_compiler()
    inner, outer = split_parameters(transformer)
    muon, adam = Muon(inner), torch.optim.AdamW(outer, betas=(0.9, 0.98), weight_decay=0, eps=1e-10)
    muon.moments = [moment.to(device) for moment in muon.moments]
    average = Average(transformer.parameters(), 0.996)
    if going_on:
        transformer.load_state_dict(saved["transformer"])
        average.load(saved["average"])
        if "muon" in saved:
            muon.load(saved["muon"])
            adam.load_state_dict(saved["adam"])
    first_share = options.from_share if options.from_share is not None else 0.4 if going_on else 0.0
    step, seen, smooth = saved["steps"], saved["seen"], {}
    first = step
    print(f"{sum(p.numel() for p in transformer.parameters()) / 1e6:.2f} M parameters, {len(samples.clips)} clips, after {step} steps", flush=True)

    def save():
        state = {"transformer": transformer.state_dict(), "muon": muon.state(), "adam": adam.state_dict(),
                 "average": average.state(), "steps": step, "seen": seen}
        torch.save(state, checkpoint.with_suffix(".new"))
        checkpoint.with_suffix(".new").rename(checkpoint)

    held_out = samples.held_out()
    start, saved_at = minutes_worked(options.device), time.time()
    while (passed := minutes_worked(options.device) - start) < options.minutes:
        use_idle_cores(options.threads)
        share = passed / options.minutes
        rate = trapezoid(share, options.hold) * min(1, (step - first + 1) / 40)
        frames, count = stage_at(first_share + (1 - first_share) * share, samples.rng)
        latents, text, mask = samples.batch(frames, count * options.batch_factor)
        sigma = random_sigmas(len(latents), frames).to(device)
        loss = errors(denoiser, latents, torch.randn_like(latents), sigma, text, mask).mean()
        transformer.zero_grad()
        loss.backward()
        with torch.autocast(device, torch.bfloat16):
            muon.step(options.rate * rate)
        adam.param_groups[0]["lr"] = 0.67 * options.rate * rate
        adam.step()
        average.update()
        step, seen = step + 1, seen + len(latents)
        smooth[frames] = smooth.get(frames, loss.item()) * 0.97 + 0.03 * loss.item()
        if step % 50 == 0:
            shown = ", ".join(f"{n}: {value:.4f}" for n, value in sorted(smooth.items()))
            print(f"{step} {passed:.1f} min, {seen} samples, loss by frames {shown}, rate {options.rate * rate:.1e}", flush=True)
        if step % 500 == 0:
            with average.applied():
                error, quarters = validate(denoiser, held_out)
            print(f"  held out {error:.4f}, by noise {[round(q, 3) for q in quarters]}", flush=True)
        if time.time() - saved_at > 180:
            save()
            saved_at = time.time()
    save()
    with average.applied():
        error, quarters = validate(denoiser, held_out)
    print(f"finished: {step} steps, {seen} samples, held out {error:.4f}, by noise {[round(q, 3) for q in quarters]}")


if __name__ == "__main__":
    main()
