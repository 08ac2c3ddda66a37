"""The clip world: a scene of the image starter and one motion, and how a random clip is chosen.

A fixed tenth of all (time, terrain, motion, direction) combinations never occurs in training, nor do the
combinations that the image starter holds out: `is_held_out` names them.
"""
import hashlib
import random
from dataclasses import dataclass, replace

import starter  # noqa: F401
import world

FRAMES = 25
RATE = 8

# What can move, and the directions it can take. A direction of "time" is a pair of times of day.
DIRECTIONS = {
    "boat": ("left", "right"),
    "balloon": ("left", "right", "up", "down"),
    "clouds": ("left", "right"),
    "disc": ("left", "right", "up", "down"),
    "pan": ("left", "right"),
    "snow": ("down",),
    "time": ("day/night", "sunset/night", "day/sunset", "night/dawn", "night/day", "dawn/day"),
    "still": ("none",),
}
# How often each motion is chosen, where the terrain allows it.
CHANCES = {"boat": 10, "balloon": 2.5, "clouds": 2.5, "disc": 3, "pan": 3, "snow": 1.2, "time": 2.5, "still": 0.6}
SNOWY = ("snow", "mountains", "forest")
BALLOON_COLOURS = world.OBJECT_COLOURS["balloon"]
HELD_OUT_SHARE = 0.1
OTHER_SIDE = {"left": "right", "right": "left"}


@dataclass(frozen=True)
class Clip:
    """A scene, what moves in it, and where to. `scene` is how the clip begins."""

    scene: world.Scene
    motion: str
    direction: str

    @property
    def last_time(self):
        """The time of day in the last frame."""
        return self.direction.split("/")[1] if self.motion == "time" else self.scene.time


def mirrored(clip):
    """The clip seen in a mirror."""
    return Clip(world.mirrored(clip.scene), clip.motion, OTHER_SIDE.get(clip.direction, clip.direction))


def is_held_out(clip):
    """True for what training never sees; a clip and its mirror image are held out together."""
    if clip.motion == "still":
        return world.is_held_out(clip.scene)
    direction = "side" if clip.direction in OTHER_SIDE else clip.direction
    key = f"{clip.scene.time}/{clip.scene.terrain}/{clip.motion}/{direction}".encode()
    share = int.from_bytes(hashlib.sha256(key).digest()[:4], "big") / 2**32
    return share < HELD_OUT_SHARE or world.is_held_out(clip.scene)


def motions_of(scene):
    """The motions a scene allows."""
    motions = ["clouds", "pan", "time", "still"]
    if scene.disc_side:
        motions.append("disc")
    if scene.terrain == "sea":
        motions.append("boat")
    else:
        motions.append("balloon")
    if scene.terrain in SNOWY:
        motions.append("snow")
    return motions


def directions_of(scene, motion):
    """The directions a motion can take: the sun rises at dawn and sets at sunset."""
    if motion == "time":
        return [d for d in DIRECTIONS["time"] if d.startswith(scene.time + "/")]
    if motion == "disc" and scene.time in ("dawn", "sunset"):
        return ["up"] if scene.time == "dawn" else ["down"]
    return DIRECTIONS[motion]


def random_clip(rng):
    """A random clip, held-out combinations included."""
    scene = world.random_scene(rng)
    motions = motions_of(scene)
    motion = rng.choices(motions, [CHANCES[m] for m in motions])[0]
    direction = rng.choice(directions_of(scene, motion))
    return Clip(fitting(scene, motion, direction, rng), motion, direction)


def fitting(scene, motion, direction, rng):
    """The scene with what the motion needs, and without what would hide it."""
    if motion in ("boat", "balloon"):
        thing = "sailboat" if motion == "boat" else "balloon"
        return replace(scene, thing=thing, colour=rng.choice(BALLOON_COLOURS), thing_side="centre", weather="clear",
                       disc_side=rng.choice(("left", "right", None)) if scene.disc_side else None)
    if scene.thing in ("balloon", "sailboat") and motion != "pan" or rng.random() < 0.3:
        scene = replace(scene, thing=None, colour=None, thing_side=None)
    if motion == "clouds":
        return replace(scene, weather="cloudy")
    if motion == "disc":
        sideways = direction in OTHER_SIDE
        return replace(scene, weather="clear", disc_side="centre" if sideways else scene.disc_side)
    if motion == "snow":
        return replace(scene, weather="clear")
    if motion == "pan" and scene.terrain == "sea" and scene.thing is None:
        thing = rng.choice(("lighthouse", "palm", "sailboat"))
        colour = rng.choice(world.OBJECT_COLOURS[thing])
        return replace(scene, thing=thing, colour=colour, thing_side=rng.choice(world.SIDES))
    return scene


def training_clip(rng):
    """A random clip that is not held out."""
    while True:
        clip = random_clip(rng)
        if not is_held_out(clip):
            return clip


if __name__ == "__main__":
    for seed in range(12):
        print(random_clip(random.Random(seed)))
