"""Encodes the pictures: `python encode_latents.py DATA` writes DATA/latents.npy and DATA/latents.json (scenes).

Each picture is encoded as it is and mirrored: (count, 2, 64 patches, 4 * channels), half precision,
normalised the way the pipeline expects. Held-out combinations are left out.
"""
import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL

from model import to_patches
from train_vae import as_batch
from world import Scene, is_held_out

BATCH = 16


@torch.no_grad()
def encode(vae, pictures):
    """Patches of the normalised latents of some pictures."""
    mean = vae.encoder(as_batch(pictures)).chunk(2, 1)[0].contiguous()
    return to_patches((mean - vae.config.shift_factor) * vae.config.scaling_factor)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, help="how many pictures (all)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    vae = AutoencoderKL.from_pretrained(options.data / "vae").to(memory_format=torch.channels_last)
    pictures = np.load(options.data / "pictures.npy", mmap_mode="r")
    scenes = json.loads((options.data / "scenes.json").read_text(encoding="utf-8"))
    allowed = [number for number, scene in enumerate(scenes) if not is_held_out(Scene(**scene))][:options.count]
    shape = (len(allowed), 2, 64, 4 * vae.config.latent_channels)
    latents = np.zeros(shape, np.float16)
    start = time.time()
    for first in range(0, len(allowed), BATCH):
        batch = pictures[allowed[first:first + BATCH]]
        latents[first:first + BATCH, 0] = encode(vae, batch).numpy()
        latents[first:first + BATCH, 1] = encode(vae, np.ascontiguousarray(batch[:, :, ::-1])).numpy()
    np.save(options.data / "latents.npy", latents)
    (options.data / "latents.json").write_text(json.dumps([scenes[number] for number in allowed]), encoding="utf-8")
    print(f"{shape}, mean {latents.mean(dtype=np.float64):.3f}, deviation {latents[:500].astype(np.float32).std():.3f}, {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
