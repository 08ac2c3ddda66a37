"""Encodes the clips: `python encode_clips.py DATA` writes DATA/latents.npy, normalised as the pipeline expects.

Each clip is encoded as it is and mirrored: (count, 2, channels, frames, height, width), half precision. It
goes on where it stopped, unless the encoder has changed since.
"""
import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKLWan

import autoencoder
from autoencoder import CHANNELS, encode
from machine import use_idle_cores
from train_autoencoder import as_batch


@torch.no_grad()
def normalised(vae, clips):
    """The latents (batch, channels, frames, height, width) that the transformer works on."""
    with torch.autocast(clips.device.type, torch.bfloat16):
        latents = encode(vae, clips)[0]
    mean, deviation = (torch.tensor(getattr(vae.config, n), device=clips.device) for n in ("latents_mean", "latents_std"))
    return ((latents - mean) / deviation).permute(0, 4, 1, 2, 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, help="how many clips (all)")
    parser.add_argument("--batch", type=int, default=1, help="clips at once")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.compile:
        autoencoder.use_compiler()
    vae = AutoencoderKLWan.from_pretrained(options.data / "vae").to(options.device)
    store = np.load(options.data / "clips.npy", mmap_mode="r")[:options.count]
    path, done_path = options.data / "latents.npy", options.data / "latents.json"
    frames, side = (store.shape[1] - 1) // 4 + 1, store.shape[2] // 8
    shape = (len(store), 2, CHANNELS, frames, side, side)
    mean = list(vae.config.latents_mean)
    before = json.loads(done_path.read_text()) if done_path.exists() else {}
    same = before.get("latents_mean") == mean and np.load(path, mmap_mode="r").shape == shape
    done = before["count"] if same else 0
    latents = np.lib.format.open_memmap(path, "r+" if done else "w+", np.float16, shape)
    start = time.time()
    for first in range(done, len(store), options.batch):
        use_idle_cores(options.threads)
        clips = as_batch(torch.tensor(store[first:first + options.batch], device=options.device))
        sides = [normalised(vae, side).half().cpu().numpy() for side in (clips, clips.flip(3))]
        end = first + len(clips)
        latents[first:end] = np.stack(sides, 1)
        if end // 100 > first // 100 or end == len(store):
            done_path.write_text(json.dumps({"count": end, "latents_mean": mean}))
            print(f"{end} clips, {time.time() - start:.0f} s", flush=True)
    latents.flush()
    print("mean and deviation:", latents[:200].mean(dtype=np.float64), latents[:200].astype(np.float32).std())


if __name__ == "__main__":
    main()
