"""Trains the transformer: `python train_clips.py DATA --minutes 60`.

Flow matching on DATA/latents.npy (encode_clips.py), with captions written afresh for every sample. The text
encoder (train_words.py) stays as it is. A clip's first latent frames are a shorter clip, so the first part
of a run uses mostly single frames, which are quick, then three, then all seven. The checkpoint
DATA/transformer.pt is written every three minutes; if it is there, training goes on from it with a fresh
schedule (`--fresh` starts anew).

Which way a boat goes changes the error of most samples by a thousandth, so a run learns everything else first.
At the highest noise levels nothing but the caption says it: a run with `--least-noise 0.8 --change-weight 10`
learns it in minutes, and one without settles it.
"""
import argparse
import json
import random
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer

import starter  # noqa: F401
from denoiser import Denoiser, build_transformer
from draw_clips import as_clip
from machine import minutes_worked, use_idle_cores
from optimisers import Average, Muon, trapezoid
from phrases import caption, choose
from scenes import OTHER_SIDE, mirrored
from train_words import build_text_encoder, tokens_of

HELD_OUT = 64
EMPTY_SHARE = 0.1
# Left and right are what is hardest to learn: of whole clips, this share moves sideways, and this share is snow.
SIDEWAYS_SHARE = 0.55
SNOW_SHARE = 0.05
# How much more the error counts where latents change over time, at noise levels from CHANGE_FROM on: moving things are
# small, and what is noisier than that decides which way they go.
CHANGE_WEIGHT = 4.0
PLACE_WEIGHT = 0.1
WORDS_WEIGHT = 0.05
# Down and across.
WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
CHANGE_FROM = 0.5
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
        training = range(HELD_OUT, len(self.clips))
        self.sideways = [n for n in training if self.clips[n].direction in OTHER_SIDE]
        self.snowing = [n for n in training if self.clips[n].motion == "snow"]

    @torch.no_grad()
    def text(self, texts):
        """Text features and the mask of the real tokens."""
        ids, mask = tokens_of(self.tokenizer, texts, self.device)
        return self.encoder(ids, mask).last_hidden_state, mask

    def number(self, frames):
        """A random clip of those to train on."""
        share = self.rng.random()
        if share < SIDEWAYS_SHARE:
            return self.rng.choice(self.sideways)
        if frames > 1 and share < SIDEWAYS_SHARE + SNOW_SHARE:
            return self.rng.choice(self.snowing)
        return self.rng.randrange(HELD_OUT, len(self.clips))

    def batch(self, frames, count):
        """Latents of the first frames, how much each counts, the ways that captions tell, text features, mask."""
        latents, ways, texts = [], [], []
        for _ in range(count):
            number, side = self.number(frames), self.rng.randrange(2)
            clip = mirrored(self.clips[number]) if side else self.clips[number]
            latents.append(self.latents[number, side])
            said = set() if self.rng.random() < EMPTY_SHARE else choose(clip, self.rng)
            ways.append(WAYS.get(clip.direction, (0, 0)) if "motion" in said else (0, 0))
            texts.append(caption(clip, self.rng, said) if said else "")
        ways = torch.tensor(ways, dtype=torch.float32, device=self.device)
        whole = torch.stack(latents).float()
        return whole[:, :, :frames], changing(whole)[:, :, :frames], ways, *self.text(texts)

    def held_out(self):
        """A fixed batch that training does not use."""
        rng = random.Random(3)
        texts = [caption(clip, rng) for clip in self.clips[:HELD_OUT]]
        return self.latents[:HELD_OUT, 0].float(), *self.text(texts)

    def wrong_way(self):
        """Held-out clips that move sideways, each with a caption that says so and one that says the other side."""
        numbers = [n for n, clip in enumerate(self.clips[:HELD_OUT]) if clip.direction in OTHER_SIDE]
        texts = []
        for said in (lambda clip: clip, lambda clip: replace(clip, direction=OTHER_SIDE[clip.direction])):
            texts.append([caption(said(self.clips[n]), random.Random(f"way {n}"), {"motion", "thing", "time", "terrain"}) for n in numbers])
        return self.latents[numbers, 0].float(), self.text(texts[0]), self.text(texts[1])


def random_sigmas(count, frames, least):
    """Noise levels: logit-normal, moved towards noise for longer clips, some anywhere; or evenly from `least` to 1."""
    if least is not None:
        return (least + (1 - least) * torch.rand(count)).clamp(max=0.999)
    shift = {1: 1.3, 3: 2.0, 7: 4.5}[frames]
    middle = torch.sigmoid(torch.randn(count))
    middle = shift * middle / (1 + (shift - 1) * middle)
    return torch.where(torch.rand(count) < 0.1, torch.rand(count), middle).clamp(0.002, 0.999)


def changing(latents):
    """Where a clip changes over time (…, 1, frames, height, width), from 0 to 1."""
    change = (latents - latents.mean(-3, keepdim=True)).square().mean(-4, keepdim=True)
    return change / (change + 0.1)


def errors(denoiser, latents, noise, sigma, text, mask, weights=1.0):
    """Squared error of the velocity, for each sample."""
    share = sigma[:, None, None, None, None]
    with torch.autocast(latents.device.type, torch.bfloat16):
        output = denoiser((1 - share) * latents + share * noise, sigma, text, mask)
    return (weights * (output - (noise - latents)).square()).mean((1, 2, 3, 4))


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


@torch.no_grad()
def ways_told(denoiser, batch):
    """For four noise levels, the error with the caption of the other side over that with the right one, of latents that change."""
    latents, right, wrong = batch
    generator = torch.Generator().manual_seed(10)
    noise = torch.randn(latents.shape, generator=generator).to(latents.device)
    ratios = []
    for level in (0.97, 0.9, 0.8, 0.6):
        sigma = torch.full((len(latents),), level, device=latents.device)
        found = [errors(denoiser, latents, noise, sigma, *said, changing(latents)) for said in (right, wrong)]
        ratios.append(round((found[1].sum() / found[0].sum()).item(), 3))
    return ratios


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
    parser.add_argument("--least-noise", type=float, help="only noise levels from here to 1: teaches what a caption alone decides, such as ways")
    parser.add_argument("--change-weight", type=float, default=CHANGE_WEIGHT)
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
    denoiser.to(device)
    inner, outer = split_parameters(transformer)
    place_adam = torch.optim.Adam(denoiser.placing.parameters(), 3e-3)
    muon, adam = Muon(inner), torch.optim.AdamW(outer, betas=(0.9, 0.98), weight_decay=0, eps=1e-10)
    muon.moments = [moment.to(device) for moment in muon.moments]
    average = Average(transformer.parameters(), 0.996)
    if going_on:
        transformer.load_state_dict(saved["transformer"])
        average.load(saved["average"])
        if "muon" in saved:
            muon.load(saved["muon"])
            adam.load_state_dict(saved["adam"])
        if "placing" in saved and saved["placing"]["bias"].shape == denoiser.placing.bias.shape:
            denoiser.placing.load_state_dict(saved["placing"])
    first_share = options.from_share if options.from_share is not None else 0.4 if going_on else 0.0
    step, seen, smooth = saved["steps"], saved["seen"], {}
    first = step
    print(f"{sum(p.numel() for p in transformer.parameters()) / 1e6:.2f} M parameters, {len(samples.clips)} clips, after {step} steps", flush=True)

    def save():
        state = {"transformer": transformer.state_dict(), "muon": muon.state(), "adam": adam.state_dict(),
                 "average": average.state(), "placing": denoiser.placing.state_dict(), "steps": step, "seen": seen}
        torch.save(state, checkpoint.with_suffix(".new"))
        checkpoint.with_suffix(".new").rename(checkpoint)

    held_out, wrong_way = samples.held_out(), samples.wrong_way()
    start, saved_at = minutes_worked(options.device), time.time()
    while (passed := minutes_worked(options.device) - start) < options.minutes:
        use_idle_cores(options.threads)
        share = passed / options.minutes
        rate = trapezoid(share, options.hold) * min(1, (step - first + 1) / 40)
        frames, count = stage_at(first_share + (1 - first_share) * share, samples.rng)
        latents, change, ways, text, mask = samples.batch(frames, count * options.batch_factor)
        sigma = random_sigmas(len(latents), frames, options.least_noise).to(device)
        weights = 1 + options.change_weight * (sigma >= CHANGE_FROM).float()[:, None, None, None, None] * change
        loss = errors(denoiser, latents, torch.randn_like(latents), sigma, text, mask, weights).mean()
        misplaced = denoiser.misplaced(latents, ways)
        denoiser.zero_grad()
        (loss + PLACE_WEIGHT * misplaced.sum() + WORDS_WEIGHT * denoiser.unread).backward()
        with torch.autocast(device, torch.bfloat16):
            muon.step(options.rate * rate)
        adam.param_groups[0]["lr"] = 0.67 * options.rate * rate
        adam.step()
        place_adam.step()
        average.update()
        step, seen = step + 1, seen + len(latents)
        smooth[frames] = smooth.get(frames, loss.item()) * 0.97 + 0.03 * loss.item()
        if step % 50 == 0:
            shown = ", ".join(f"{n}: {value:.4f}" for n, value in sorted(smooth.items()))
            places = [round(part, 2) for part in misplaced.tolist()]
            print(f"{step} {passed:.1f} min, {seen} samples, loss by frames {shown}, misplaced {places}, unread {denoiser.unread.item():.2f}, rate {options.rate * rate:.1e}", flush=True)
        if step % 100 == 0:
            with average.applied():
                error, quarters = validate(denoiser, held_out)
                told = ways_told(denoiser, wrong_way)
            print(f"  held out {error:.4f}, by noise {[round(q, 3) for q in quarters]}, other side {told}", flush=True)
        if time.time() - saved_at > 180:
            save()
            saved_at = time.time()
    save()
    with average.applied():
        error, quarters = validate(denoiser, held_out)
    print(f"finished: {step} steps, {seen} samples, held out {error:.4f}, by noise {[round(q, 3) for q in quarters]}")


if __name__ == "__main__":
    main()
