"""Trains the transformer: `python train_transformer.py DATA --minutes 60`.

Flow matching on the latents of DATA/latents.npy (encode_latents.py), with captions written afresh for every
sample. The text encoder (train_text.py) stays as it is. The checkpoint DATA/transformer.pt is written every
three minutes; `--resume` goes on from it with a fresh schedule.
"""
import argparse
import json
import random
import time
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer

from captions import CLOSINGS, caption
from model import CAPTION, Denoiser, build_text_encoder, build_transformer, text_features
from optimisers import Average, Muon, trapezoid
from train_text import padded
from world import Scene, mirrored

HELD_OUT = 128
EMPTY_SHARE = 0.1
LONG_EVERY = 16


class Samples:
    """Batches of latents with fresh captions."""

    def __init__(self, data, encoder, tokenizer, seed):
        self.latents = np.load(data / "latents.npy")
        scenes = json.loads((data / "latents.json").read_text(encoding="utf-8"))
        self.scenes = [Scene(**scene) for scene in scenes]
        self.encoder, self.tokenizer = encoder, tokenizer
        self.rng = random.Random(seed)

    def text(self, texts, length=CAPTION):
        """Text features and the mask of the real tokens."""
        ids, lengths = padded(self.tokenizer, texts, length)
        with torch.no_grad():
            features = text_features(self.encoder, ids)
        return features, torch.arange(length)[None] < lengths[:, None]

    def caption(self, scene, long):
        """A caption, sometimes empty; a long one gets many closing words."""
        if self.rng.random() < EMPTY_SHARE:
            return ""
        text = caption(scene, self.rng)
        return ", ".join([text, *self.rng.sample(CLOSINGS, 9)]) if long else text

    def batch(self, count, long=False):
        """Latents, text features, mask. In a long batch captions fill 64 tokens instead of 32."""
        latents, texts = [], []
        for _ in range(count):
            number, side = self.rng.randrange(HELD_OUT, len(self.scenes)), self.rng.randrange(2)
            scene = self.scenes[number]
            latents.append(self.latents[number, side])
            texts.append(self.caption(mirrored(scene) if side else scene, long))
        latents = torch.from_numpy(np.stack(latents).astype(np.float32))
        return latents, *self.text(texts, 2 * CAPTION if long else CAPTION)

    def held_out(self):
        """A fixed batch that training does not use."""
        latents = torch.from_numpy(self.latents[:HELD_OUT, 0].astype(np.float32))
        rng = random.Random(3)
        return latents, *self.text([caption(scene, rng) for scene in self.scenes[:HELD_OUT]])


def random_sigmas(count):
    """Noise levels: mostly in the middle, some anywhere."""
    middle = torch.sigmoid(0.3 + 1.1 * torch.randn(count))
    return torch.where(torch.rand(count) < 0.1, torch.rand(count), middle).clamp(0.002, 0.998)


def errors(denoiser, latents, noise, sigma, text, mask):
    """Squared error of the velocity, for each sample."""
    share = sigma[:, None, None]
    output = denoiser((1 - share) * latents + share * noise, 1 - sigma, text, mask)
    return (output - (latents - noise)).square().mean((1, 2))


@torch.no_grad()
def validate(denoiser, batch):
    """Mean error on held-out samples with fixed noise, and for four ranges of the noise level."""
    latents, text, mask = batch
    generator = torch.Generator().manual_seed(9)
    noise = torch.randn(latents.shape, generator=generator)
    sigma = (torch.randperm(len(latents), generator=generator) + 0.5) / len(latents)
    parts = [slice(i, i + 32) for i in range(0, len(latents), 32)]
    error = torch.cat([errors(denoiser, latents[p], noise[p], sigma[p], text[p], mask[p]) for p in parts])
    quarters = [error[(sigma >= q / 4) & (sigma < (q + 1) / 4)].mean().item() for q in range(4)]
    return error.mean().item(), quarters


def split_parameters(transformer):
    """The matrices of the blocks for Muon, everything else for AdamW."""
    inner = [p for n, p in transformer.named_parameters() if p.ndim == 2 and (".attention." in n or "feed_forward" in n)]
    chosen = set(map(id, inner))
    return inner, [p for p in transformer.parameters() if id(p) not in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--hold", type=float, default=0.45, help="share of the run with the full rate")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(options.data / "tokenizer")
    encoder = build_text_encoder(len(tokenizer))
    encoder.load_state_dict(torch.load(options.data / "text_encoder.pt")["encoder"])
    checkpoint = options.data / "transformer.pt"
    saved = torch.load(checkpoint) if options.resume else {"steps": 0, "seen": 0}
    samples = Samples(options.data, encoder, tokenizer, saved["steps"])
    transformer = build_transformer(samples.latents.shape[-1] // 4)
    denoiser = Denoiser(transformer)
    inner, outer = split_parameters(transformer)
    muon, adam = Muon(inner), torch.optim.AdamW(outer, betas=(0.9, 0.98), weight_decay=0, eps=1e-10)
    average = Average(transformer.parameters(), 0.996)
    if options.resume:
        transformer.load_state_dict(saved["transformer"])
        muon.load(saved["muon"])
        adam.load_state_dict(saved["adam"])
        average.load(saved["average"])
        torch.manual_seed(saved["steps"])
    print(f"{sum(p.numel() for p in transformer.parameters()) / 1e6:.2f} M parameters, {len(samples.scenes)} pictures", flush=True)
    step, seen, smooth = saved["steps"], saved["seen"], None
    first = step

    def save():
        state = {"transformer": transformer.state_dict(), "muon": muon.state(), "adam": adam.state_dict(),
                 "average": average.state(), "steps": step, "seen": seen}
        torch.save(state, checkpoint.with_suffix(".new"))
        checkpoint.with_suffix(".new").rename(checkpoint)

    held_out = samples.held_out()
    start = saved_at = time.time()
    while (passed := (time.time() - start) / 60) < options.minutes:
        rate = trapezoid(passed / options.minutes, options.hold) * min(1, (step - first + 1) / 40)
        long = step % LONG_EVERY == LONG_EVERY - 1
        latents, text, mask = samples.batch(options.batch // 2 if long else options.batch, long)
        loss = errors(denoiser, latents, torch.randn_like(latents), random_sigmas(len(latents)), text, mask).mean()
        adam.zero_grad()
        forget_gradients(inner)
        loss.backward()
        muon.step(options.rate * rate)
        adam.param_groups[0]["lr"] = 0.67 * options.rate * rate
        adam.step()
        average.update()
        step, seen = step + 1, seen + len(latents)
        smooth = loss.item() if smooth is None else 0.98 * smooth + 0.02 * loss.item()
        if step % 50 == 0:
            print(f"{step} {passed:.1f} min, {seen} samples, loss {smooth:.4f}, rate {options.rate * rate:.1e}", flush=True)
        if step % 300 == 0:
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


def forget_gradients(parameters):
    """Forgets the gradients of Muon's parameters."""
    for parameter in parameters:
        parameter.grad = None


if __name__ == "__main__":
    main()
