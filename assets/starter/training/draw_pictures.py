"""Draws the training pictures: `python draw_pictures.py DATA --count 16000 --workers 2`.

Writes DATA/pictures.npy (count, 128, 128, 3) bytes and DATA/scenes.json. Picture N depends on N alone.
`--minutes` stops earlier and keeps what is drawn.
"""
import argparse
import json
import multiprocessing
import random
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from drawing import SIZE, draw
from world import Scene, is_held_out, training_scene

CHUNK = 50


def allowed_scenes(data):
    """Number and scene of each drawn picture whose combination training may see."""
    entries = json.loads((data / "scenes.json").read_text(encoding="utf-8"))
    scenes = [Scene(**entry) for entry in entries]
    return [(number, scene) for number, scene in enumerate(scenes) if not is_held_out(scene)]


def draw_chunk(job):
    """Draws some pictures into the file, for a worker; gives back their scenes."""
    path, first, end = job
    pictures, scenes = np.load(path, mmap_mode="r+"), []
    for number in range(first, end):
        rng = random.Random(number)
        scenes.append(training_scene(rng))
        pictures[number] = draw(scenes[-1], rng)
    return scenes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, default=16000)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    start = time.time()
    options.data.mkdir(parents=True, exist_ok=True)
    path, count = options.data / "pictures.npy", options.count
    np.lib.format.open_memmap(path, "w+", np.uint8, (count, SIZE, SIZE, 3)).flush()
    jobs = [(path, first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    scenes = []
    with multiprocessing.Pool(options.workers) as pool:
        for part in pool.imap(draw_chunk, jobs):
            scenes += part
            if time.time() - start > 60 * options.minutes:
                break
    if len(scenes) < count:
        shorter = path.with_suffix(".new.npy")
        np.save(shorter, np.load(path, mmap_mode="r")[:len(scenes)])
        shorter.rename(path)
    with open(options.data / "scenes.json", "w", encoding="utf-8") as file:
        json.dump([asdict(scene) for scene in scenes], file)
    print(f"drew {len(scenes)} pictures in {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
