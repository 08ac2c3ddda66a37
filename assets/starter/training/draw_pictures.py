"""Draws the training pictures: `python draw_pictures.py DATA --count 16000`.

Writes DATA/pictures.npy (count, 128, 128, 3) bytes and DATA/scenes.json. Picture N depends on N alone.
"""
import argparse
import json
import random
from dataclasses import asdict
from pathlib import Path

import numpy as np

from drawing import SIZE, draw
from world import training_scene


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, default=16000)
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    shape = (options.count, SIZE, SIZE, 3)
    pictures = np.lib.format.open_memmap(options.data / "pictures.npy", "w+", np.uint8, shape)
    scenes = []
    for number in range(options.count):
        rng = random.Random(number)
        scene = training_scene(rng)
        scenes.append(asdict(scene))
        pictures[number] = draw(scene, rng)
    pictures.flush()
    with open(options.data / "scenes.json", "w", encoding="utf-8") as file:
        json.dump(scenes, file)
    print(f"drew {options.count} pictures")


if __name__ == "__main__":
    main()
