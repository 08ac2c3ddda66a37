"""Reads time of day, terrain and motion from the pixels of a clip; MOTION.md says the rules in words.

`python motion.py` counts how often the rules are right on drawn clips.
"""
import json
import random

import numpy as np

import starter  # noqa: F401
from animation import draw_clip
from pixels import SKY_ROWS, TABLE, land_colours, nearest, strip_colour
from scenes import DIRECTIONS, random_clip

# Rows in which each motion is measured.
ROWS = {"boat": (40, 124), "balloon": (0, 112), "clouds": (0, 44), "disc": (0, 80), "pan": (56, 128), "snow": (0, 128)}
CHANGED = 6
CHANGED_IN_PAN = 3
SLOWEST = 0.4
PAN_COLUMNS = 0.35
SNOW_CELLS = 0.5
STILL_SHARE = 0.02


def blurred(frames):
    """Frames as floats, each pixel the mean of 3x3 around it, twice."""
    x = frames.astype(np.float32)
    for _ in range(2):
        for axis in (1, 2):
            x = (np.roll(x, 1, axis) + x + np.roll(x, -1, axis)) / 3
    return x


def speed(frames, rows, least=CHANGED):
    """How fast what changes moves, in pixels a frame: (across, down), and which pixels changed at least once.

    Least squares over all pixels that change by more than `least` between two frames, in all colours.
    """
    x = frames[:, rows[0]:rows[1]]
    over_time = np.diff(x, axis=0)
    middle = (x[1:] + x[:-1]) / 2
    across = (np.roll(middle, -1, 2) - np.roll(middle, 1, 2)) / 2
    down = (np.roll(middle, -1, 1) - np.roll(middle, 1, 1)) / 2
    across[:, :, [0, -1]] = down[:, :, [0, -1]] = across[:, [0, -1]] = down[:, [0, -1]] = 0
    changed = np.abs(over_time).max(-1) > least
    if changed.sum() < 20:
        return (0.0, 0.0), changed.any(0)
    t, u, v = over_time[changed].ravel(), across[changed].ravel(), down[changed].ravel()
    matrix = np.array([[u @ u, u @ v], [u @ v, v @ v]], np.float64) + 1e-3 * np.eye(2) * len(u)
    solved = np.linalg.solve(matrix, -np.array([u @ t, v @ t], np.float64))
    return tuple(solved), changed.any(0)


def way(across, down):
    """The direction of a speed, or None where it is too slow to tell."""
    if max(abs(across), abs(down)) < SLOWEST:
        return None
    if abs(across) >= abs(down):
        return "right" if across > 0 else "left"
    return "down" if down > 0 else "up"


def read_motion(frames, motion):
    """The direction in which a kind of thing moves in a clip, or None where it does not."""
    soft = blurred(frames)
    if motion == "still":
        return "none" if speed(soft, (0, 80))[1].mean() < STILL_SHARE else None
    (across, down), changed = speed(soft, ROWS[motion], CHANGED_IN_PAN if motion == "pan" else CHANGED)
    if motion == "pan":
        found = way(-across, 0)
        return found if changed.any(0).mean() >= PAN_COLUMNS else None
    if motion == "snow":
        cells = changed.reshape(8, 16, 8, 16).any((1, 3)).mean()
        return "down" if cells >= SNOW_CELLS and way(0, down) == "down" else None
    if motion in ("boat", "clouds"):
        return way(across, 0)
    return way(across, down)


def read_time(frame, table):
    """The time of day of a frame."""
    return nearest(strip_colour(frame, SKY_ROWS), table["sky"])


def read_terrain(frame, time, table):
    """The terrain of a frame whose time is known."""
    return nearest(land_colours(frame), table["land"][time])


def read(frames, motion, table):
    """Time (in the first frame), terrain and the direction of a motion. A change of time is read from both ends."""
    first, last = read_time(frames[0], table), read_time(frames[-1], table)
    direction = f"{first}/{last}" if motion == "time" else read_motion(frames, motion)
    return {"time": first, "terrain": read_terrain(frames[0], first, table), "direction": direction}


def load_table():
    """The reference colours of the image starter."""
    return json.loads(TABLE.read_text(encoding="utf-8"))


def main(count=400):
    table, right, asked, wrong = load_table(), {}, {}, []
    for number in range(count):
        clip = random_clip(random.Random(f"read {number}"))
        found = read(draw_clip(clip, f"read {number}"), clip.motion, table)
        wanted = {"time": clip.scene.time, "terrain": clip.scene.terrain, "direction": clip.direction}
        for name in wanted:
            key = f"direction of {clip.motion}" if name == "direction" else name
            asked[key] = asked.get(key, 0) + 1
            right[key] = right.get(key, 0) + (found[name] == wanted[name])
            if found[name] != wanted[name]:
                wrong.append(f"{clip.scene} {clip.motion} {clip.direction}: {name} read as {found[name]}")
    for key in ("time", "terrain", *(f"direction of {motion}" for motion in DIRECTIONS)):
        print(f"{key}: {right[key]} of {asked[key]}")
    print("\n".join(wrong))


if __name__ == "__main__":
    main()
