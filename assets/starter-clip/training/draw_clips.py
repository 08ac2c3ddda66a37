"""Draws clips: `python draw_clips.py DATA --count 3000` writes DATA/clips.npy and DATA/clips.json.

The first 64 are for measuring only. Held-out combinations are not drawn.
"""
import argparse
import json
import multiprocessing
import random
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from animation import draw_clip
from scenes import FRAMES, Clip, training_clip
from world import Scene


def as_clip(entry):
    """A clip from an entry of clips.json."""
    return Clip(Scene(**entry["scene"]), entry["motion"], entry["direction"])


def drawn(job):
    """One clip, for a worker."""
    return draw_clip(*job)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", default="clips")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    start = time.time()
    clips = [training_clip(random.Random(f"{options.seed} {number}")) for number in range(options.count)]
    (options.data / "clips.json").write_text(json.dumps([asdict(clip) for clip in clips]), encoding="utf-8")
    shape = (options.count, FRAMES, 128, 128, 3)
    frames = np.lib.format.open_memmap(options.data / "clips.npy", "w+", np.uint8, shape)
    jobs = [(clip, f"{options.seed} {number}") for number, clip in enumerate(clips)]
    with multiprocessing.Pool(options.workers) as pool:
        for number, clip in enumerate(pool.imap(drawn, jobs, chunksize=4)):
            frames[number] = clip
            if number % 500 == 499:
                print(f"{number + 1} clips, {time.time() - start:.0f} s", flush=True)
    frames.flush()


if __name__ == "__main__":
    main()
