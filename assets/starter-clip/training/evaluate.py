"""Generates held-out captions with the finished model and reads the clips: `python evaluate.py MODEL`.

`--write` first writes MODEL/held_out.json: 60 captions of combinations that training never saw. `--sheet
FILE.png` saves five frames of every clip, `--count` takes only the first captions.
"""
import argparse
import json
import random
import time as clock
from pathlib import Path

import numpy as np
import torch
from diffusers import WanPipeline
from PIL import Image

from machine import use_idle_cores
from motion import load_table, read
from phrases import caption
from scenes import FRAMES, is_held_out, random_clip

# How many of the 60 captions ask for each motion.
SHARES = {"boat": 11, "balloon": 11, "clouds": 8, "disc": 10, "pan": 9, "snow": 3, "time": 8}
SHEET_FRAMES = (0, 6, 12, 18, 24)
SHEET_COLUMNS = 3


def held_out_captions():
    """Captions that name time, terrain and motion (and mostly the object) of held-out combinations."""
    rng = random.Random("held out clips")
    entries, left = [], dict(SHARES)
    while any(left.values()):
        clip = random_clip(rng)
        if not is_held_out(clip) or not left.get(clip.motion):
            continue
        left[clip.motion] -= 1
        said = {"motion", "terrain", "colour"} | ({"time"} if clip.motion != "time" else set())
        if clip.scene.thing and (clip.motion in ("boat", "balloon") or rng.random() < 0.7):
            said.add("thing")
        entries.append({
            "prompt": caption(clip, rng, said), "seed": 1000 + len(entries), "time": clip.scene.time, "terrain": clip.scene.terrain,
            "motion": clip.motion, "direction": clip.direction, "thing": clip.scene.thing, "colour": clip.scene.colour,
        })
    rng.shuffle(entries)
    return entries


def generate(pipeline, entries, steps, guidance, device, batch):
    """One clip for each entry, each with its own seed."""
    clips = []
    for first in range(0, len(entries), batch):
        part = entries[first:first + batch]
        if device == "cpu":
            use_idle_cores(torch.get_num_threads())
        frames = pipeline(
            [entry["prompt"] for entry in part], height=128, width=128, num_frames=FRAMES, num_inference_steps=steps,
            guidance_scale=guidance, generator=[torch.Generator().manual_seed(entry["seed"]) for entry in part], output_type="np",
        ).frames
        clips.extend(np.clip(np.round(frame * 255), 0, 255).astype(np.uint8) for frame in frames)
    return clips


def save_sheet(clips, path):
    """Five frames of every clip."""
    strips = [np.concatenate([clip[number] for number in SHEET_FRAMES], 1) for clip in clips]
    while len(strips) % SHEET_COLUMNS:
        strips.append(np.zeros_like(strips[0]))
    rows = [np.concatenate(strips[i:i + SHEET_COLUMNS], 1) for i in range(0, len(strips), SHEET_COLUMNS)]
    Image.fromarray(np.concatenate(rows)).save(path)


def judge(entries, clips):
    """How many of each attribute are right, and what is wrong, in words."""
    table, right, wrong = load_table(), {"time": 0, "terrain": 0, "direction": 0}, []
    for entry, clip in zip(entries, clips):
        found = read(clip, entry["motion"], table)
        for name in right:
            right[name] += found[name] == entry[name]
            if found[name] != entry[name]:
                wrong.append(f"{entry['prompt']!r}: {name} {entry[name]} read as {found[name]}")
    return right, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--count", type=int)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--guidance", type=float, default=4.0)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--type", default="float32", help="of the weights: float32 or bfloat16")
    parser.add_argument("--prompts", nargs="+", help="generate these instead, without judging them")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    path = options.model / "held_out.json"
    if options.write:
        path.write_text(json.dumps(held_out_captions(), indent=1) + "\n", encoding="utf-8")
    pipeline = WanPipeline.from_pretrained(options.model, torch_dtype=getattr(torch, options.type)).to(options.device)
    pipeline.set_progress_bar_config(disable=True)
    if options.prompts:
        entries = [{"prompt": prompt, "seed": number} for number, prompt in enumerate(options.prompts)]
    else:
        entries = json.loads(path.read_text(encoding="utf-8"))[:options.count]
    start = clock.time()
    clips = generate(pipeline, entries, options.steps, options.guidance, options.device, options.batch)
    print(f"{(clock.time() - start) / len(entries):.2f} s for a clip in batches of {options.batch}")
    if options.sheet:
        save_sheet(clips, options.sheet)
    if not options.prompts:
        right, wrong = judge(entries, clips)
        for name, value in right.items():
            print(f"{name}: {value} of {len(entries)}")
        print(f"all: {100 * sum(right.values()) / (3 * len(entries)):.1f} %")
        print("\n".join(wrong))


if __name__ == "__main__":
    main()
