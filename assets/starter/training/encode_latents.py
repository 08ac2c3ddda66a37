"""Encodes the pictures: `python encode_latents.py DATA` writes DATA/latents.npy and DATA/latents.json (scenes).

Each picture is encoded as it is and mirrored: (count, 2, 64 patches, 4 * channels), half precision,
normalised the way the pipeline expects. Held-out combinations are left out.
"""
import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL

from draw_pictures import allowed_scenes
from model import to_patches
from train_vae import as_batch

BATCH = 16


@torch.no_grad()
def encode(vae, batch):
    """Patches of the normalised latents of some pictures."""
    mean = vae.encoder(batch).chunk(2, 1)[0].contiguous()
    return to_patches((mean - vae.config.shift_factor) * vae.config.scaling_factor)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, help="how many pictures (all)")
    parser.add_argument("--batch-factor", type=int, default=1, help="multiplies the batch size")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    vae = AutoencoderKL.from_pretrained(options.data / "vae").to(options.device, memory_format=torch.channels_last)
    pictures = np.load(options.data / "pictures.npy", mmap_mode="r")
    allowed = allowed_scenes(options.data)[:options.count]
    numbers = [number for number, _ in allowed]
    shape = (len(allowed), 2, 64, 4 * vae.config.latent_channels)
    latents = np.zeros(shape, np.float16)
    start, size = time.time(), BATCH * options.batch_factor
    for first in range(0, len(allowed), size):
        batch = as_batch(torch.from_numpy(pictures[numbers[first:first + size]]).to(options.device))
        sides = torch.stack((encode(vae, batch), encode(vae, batch.flip(-1))), 1)
        latents[first:first + size] = sides.half().cpu().numpy()
    np.save(options.data / "latents.npy", latents)
    scenes = [asdict(scene) for _, scene in allowed]
    (options.data / "latents.json").write_text(json.dumps(scenes), encoding="utf-8")
    print(f"{shape}, mean {latents[:500].mean(dtype=np.float64):.3f}, deviation {latents[:500].astype(np.float32).std():.3f}, {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
