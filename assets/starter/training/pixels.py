"""Reads time of day, terrain and sun or moon from the pixels of a picture; PIXELS.md says the rules in words.

`python pixels.py MODEL` calibrates the rules on pictures drawn afresh, counts how often they are right on
others, and writes pixels.json (here), and MODEL/examples/ with MODEL/examples.json.
"""
import argparse
import json
import random
from pathlib import Path

import numpy as np
from PIL import Image

from drawing import DISC, draw
from world import TERRAINS, TIMES, random_scene

TABLE = Path(__file__).with_name("pixels.json")
SKY_ROWS = (0, 8)
LAND_STRIPS = ((62, 72), (86, 94), (118, 128))
DISC_COLUMNS = range(20, 109, 2)
DISC_ROWS = range(20, 63, 2)
DISC_INSIDE = 8
DISC_RING = (15, 19)
DISC_TOLERANCE = 45
DISC_CONTRAST = 40


def strip_colour(picture, rows):
    """The median of each channel over some whole rows."""
    return np.median(picture[rows[0]:rows[1]].reshape(-1, 3).astype(float), axis=0)


def nearest(colour, table):
    """The name whose reference is nearest (sum of squared differences)."""
    return min(table, key=lambda name: ((colour - np.array(table[name])) ** 2).sum())


def land_colours(picture):
    """The nine numbers that tell the terrain."""
    return np.concatenate([strip_colour(picture, rows) for rows in LAND_STRIPS])


def disc_masks():
    """Masks of 39x39 pixels for the inside of a disc and the ring around it."""
    reach = DISC_RING[1]
    y, x = np.mgrid[-reach:reach + 1, -reach:reach + 1]
    distance = np.sqrt(x * x + y * y)
    return distance <= DISC_INSIDE, (distance >= DISC_RING[0]) & (distance <= DISC_RING[1])


def find_disc(picture, time):
    """The centre (x, y) of the sun or moon, or None: the place that stands out most from what is around it."""
    reach, best, place = DISC_RING[1], DISC_CONTRAST, None
    inside, ring = disc_masks()
    for y in DISC_ROWS:
        for x in DISC_COLUMNS:
            window = picture[y - reach:y + reach + 1, x - reach:x + reach + 1].astype(float)
            middle = window[inside].mean(axis=0)
            if np.abs(middle - np.array(DISC[time])).max() > DISC_TOLERANCE:
                continue
            contrast = np.sqrt(((middle - window[ring].mean(axis=0)) ** 2).sum())
            if contrast >= best:
                best, place = contrast, (x, y)
    return place


def read(picture, table):
    """Time, terrain, celestial ("sun", "moon" or None) and its side."""
    time = nearest(strip_colour(picture, SKY_ROWS), table["sky"])
    terrain = nearest(land_colours(picture), table["land"][time])
    disc = find_disc(picture, time)
    side = None if disc is None else "left" if disc[0] < 47 else "right" if disc[0] > 81 else "centre"
    celestial = None if disc is None else "moon" if time == "night" else "sun"
    return {"time": time, "terrain": terrain, "celestial": celestial, "side": side}


def calibrate(count=1500):
    """Reference colours: the means over drawn pictures."""
    sky, land = {t: [] for t in TIMES}, {t: {g: [] for g in TERRAINS} for t in TIMES}
    for number in range(count):
        rng = random.Random(f"calibrate {number}")
        scene = random_scene(rng)
        picture = draw(scene, rng)
        sky[scene.time].append(strip_colour(picture, SKY_ROWS))
        land[scene.time][scene.terrain].append(land_colours(picture))

    def mean(rows):
        return [round(float(v)) for v in np.mean(rows, axis=0)]

    return {
        "sky": {t: mean(sky[t]) for t in TIMES},
        "land": {t: {g: mean(land[t][g]) for g in TERRAINS} for t in TIMES},
        "disc": {t: list(DISC[t]) for t in TIMES},
    }


def measure(table, count=600):
    """Shares of drawn pictures read rightly."""
    right = {"time": 0, "terrain": 0, "celestial": 0, "side": 0}
    for number in range(count):
        rng = random.Random(f"measure {number}")
        scene = random_scene(rng)
        wanted = {"time": scene.time, "terrain": scene.terrain, "celestial": scene.disc, "side": scene.disc_side}
        found = read(draw(scene, rng), table)
        for name in right:
            right[name] += found[name] == wanted[name]
    return {name: value / count for name, value in right.items()}


def write_examples(model, count=12):
    """Twelve drawn pictures with their labels, each time of day three times."""
    folder = model / "examples"
    folder.mkdir(exist_ok=True)
    entries, number = [], 0
    while len(entries) < count:
        rng = random.Random(f"example {number}")
        number += 1
        scene = random_scene(rng)
        time, terrain = TIMES[len(entries) % 4], TERRAINS[(len(entries) + len(entries) // 6) % 6]
        if (scene.time, scene.terrain) != (time, terrain) or (scene.disc is None) != (len(entries) % 4 == 3 and len(entries) != 3):
            continue
        name = f"{len(entries) + 1:02}.png"
        Image.fromarray(draw(scene, rng)).save(folder / name, optimize=True)
        entries.append({"file": f"examples/{name}", "time": time, "terrain": terrain, "celestial": scene.disc})
    (model / "examples.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    options = parser.parse_args()
    table = calibrate()
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    print(measure(table))
    write_examples(options.model)


if __name__ == "__main__":
    main()
