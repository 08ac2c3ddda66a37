"""Draws held-out captions with the finished model and reads the pictures: `python evaluate.py MODEL`.

`--write` first writes MODEL/held_out.json: captions of combinations that training never saw. `--sheet
FILE.png` saves the pictures, `--count` takes only the first captions, `--seeds` draws each of them more often.
"""
import argparse
import json
import multiprocessing
import random
import time as clock
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from diffusers import FlowMatchEulerDiscreteScheduler, ZImagePipeline
from PIL import Image

from captions import listing, sentence
from drawing import COLOURS, THING_LIGHT
from pixels import TABLE, read
from world import is_held_out, random_scene

HELD_OUT = 96
SHEET_COLUMNS = 12


def held_out_captions(count=HELD_OUT):
    """Captions that name time, terrain and object (and mostly sun or moon) of held-out combinations."""
    rng = random.Random("held out")
    entries, used = [], Counter()
    while len(entries) < count:
        scene = random_scene(rng)
        key = (scene.time, scene.terrain)
        confusing = scene.thing == "balloon" and scene.colour == "yellow"  # its light stripe is as bright as the sun
        if confusing or not is_held_out(scene) or used[key] > count // 16:
            continue
        said = {"time", "terrain", "thing", "colour"}
        name_disc = scene.disc is not None and rng.random() < 0.85
        said |= {"disc"} if name_disc else set()
        said |= {"side"} if rng.random() < 0.4 else set()
        style = sentence if rng.random() < 0.7 else listing
        used[key] += 1
        entries.append({
            "prompt": style(scene, rng, said), "seed": 1000 + len(entries), "time": scene.time, "terrain": scene.terrain,
            "celestial": scene.disc if name_disc else None, "thing": scene.thing, "colour": scene.colour,
        })
    return entries


def shows_colour(picture, entry):
    """Whether enough pixels have the object's colour in this light (not for what is green)."""
    lit = np.array(COLOURS[entry["colour"]]) * THING_LIGHT[entry["time"]]
    near = np.abs(picture[16:116].astype(int) - lit).max(axis=2) < 40
    return bool(near.sum() >= 120)


def draw_all(pipeline, entries, steps, guidance, batch):
    """One picture for each entry, each with its own seed."""
    pictures = []
    for first in range(0, len(entries), batch):
        part = entries[first:first + batch]
        generators = [torch.Generator().manual_seed(entry["seed"]) for entry in part]
        drawn = pipeline(
            prompt=[entry["prompt"] for entry in part], height=128, width=128, num_inference_steps=steps,
            guidance_scale=guidance, generator=generators, max_sequence_length=128,
        ).images
        pictures += [np.asarray(picture) for picture in drawn]
    return np.stack(pictures)


def judge(entries, pictures, readings):
    """Share of right answers per attribute, and what went wrong."""
    right, asked, wrong = Counter(), Counter(), []
    for entry, picture, found in zip(entries, pictures, readings):
        for name in ("time", "terrain", "celestial"):
            if entry[name] is None:
                continue
            asked[name] += 1
            right[name] += found[name] == entry[name]
            if found[name] != entry[name]:
                wrong.append(f"{name} {found[name]} for: {entry['prompt']}")
        if entry.get("colour") not in (None, "green"):
            asked["colour"] += 1
            right["colour"] += shows_colour(picture, entry)
    return {name: (right[name] / asked[name], asked[name]) for name in asked}, wrong


def save_sheet(pictures, path):
    """All pictures in rows."""
    rows = [list(pictures[i:i + SHEET_COLUMNS]) for i in range(0, len(pictures), SHEET_COLUMNS)]
    rows[-1] += [np.zeros_like(pictures[0])] * (SHEET_COLUMNS - len(rows[-1]))
    Image.fromarray(np.concatenate([np.concatenate(row, 1) for row in rows], 0)).save(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--count", type=int)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--guidance", type=float, default=2.0)
    parser.add_argument("--shift", type=float)
    parser.add_argument("--seeds", type=int, default=1, help="pictures for each caption; a second table counts them all")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1, help="that read the pictures")
    parser.add_argument("--prompts", nargs="+", help="draw these instead, without judging them")
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = options.model / "held_out.json"
    if options.write:
        path.write_text(json.dumps(held_out_captions(), indent=1) + "\n", encoding="utf-8")
    readers = multiprocessing.Pool(options.workers)
    pipeline = ZImagePipeline.from_pretrained(options.model, torch_dtype=torch.float32).to(options.device)
    pipeline.set_progress_bar_config(disable=True)
    if options.shift:
        config = pipeline.scheduler.config
        pipeline.scheduler = FlowMatchEulerDiscreteScheduler.from_config(config, shift=options.shift)
    if options.prompts:
        entries = [{"prompt": prompt, "seed": number} for number, prompt in enumerate(options.prompts)]
    else:
        entries = json.loads(path.read_text(encoding="utf-8"))[:options.count]
    count = len(entries)
    entries = [{**entry, "seed": entry["seed"] + 1000 * more} for more in range(options.seeds) for entry in entries]
    now = clock.process_time if options.device == "cpu" else clock.time
    start = now()
    pictures = draw_all(pipeline, entries, options.steps, options.guidance, options.batch)
    unit = "s of one core" if options.device == "cpu" else "s"
    print(f"{(now() - start) / len(entries):.2f} {unit} for a picture in batches of {options.batch}")
    if options.sheet:
        save_sheet(pictures[:count], options.sheet)
    if options.prompts:
        return
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    readings = readers.starmap(read, [(picture, table) for picture in pictures])
    for part in (count, len(entries))[:options.seeds]:
        shares, wrong = judge(entries[:part], pictures, readings)
        for name, (share, asked) in shares.items():
            print(f"{name}: {100 * share:.1f} % of {asked}")
        print("\n".join(wrong))


if __name__ == "__main__":
    main()
