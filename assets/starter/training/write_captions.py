"""Writes captions ahead, so that a GPU need not wait for them: `python write_captions.py DATA --workers 8`.

DATA/captions.npy holds the token numbers of some captions for each picture that training may see, as it is and
mirrored: (count, 2, each, 32). DATA/long_captions.npy holds one long caption: (count, 2, 1, 64).
"""
import argparse
import multiprocessing
import os
import random
import time
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer

from captions import caption, long_caption
from draw_pictures import allowed_scenes
from model import CAPTION
from train_text import padded
from world import mirrored

CHUNK = 100


def start_worker(data):
    """Gives a worker its tokenizer."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)
    start_worker.tokenizer = AutoTokenizer.from_pretrained(data / "tokenizer")


def write_chunk(job):
    """Token numbers of the captions and of the long captions of some scenes."""
    scenes, each = job
    short, long = [], []
    for number, scene in scenes:
        rng = random.Random(f"captions {number}")
        for side in (scene, mirrored(scene)):
            short += [caption(side, rng) for _ in range(each)]
            long.append(long_caption(side, rng))
    parts = []
    for texts, length, count in ((short, CAPTION, each), (long, 2 * CAPTION, 1)):
        ids = padded(start_worker.tokenizer, texts, length)[0]
        parts.append(ids.numpy().astype(np.int16).reshape(len(scenes), 2, count, length))
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--each", type=int, default=6)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    start = time.time()
    scenes = allowed_scenes(options.data)
    jobs = [(scenes[first:first + CHUNK], options.each) for first in range(0, len(scenes), CHUNK)]
    with multiprocessing.Pool(options.workers, start_worker, (options.data,)) as pool:
        parts = pool.map(write_chunk, jobs, chunksize=1)
    for name, arrays in zip(("captions", "long_captions"), zip(*parts)):
        np.save(options.data / f"{name}.npy", np.concatenate(arrays))
    print(f"captions for {len(scenes)} pictures in {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
