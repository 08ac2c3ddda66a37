"""The picture world: which attributes a scene has, and how a random scene is chosen.

A scene is a `Scene`; `random_scene` draws one from the training distribution. A fixed tenth of all
(time, terrain, object, colour) combinations never occur in training: `is_held_out` names them.
"""
import hashlib
import random
from dataclasses import dataclass, replace

TIMES = ("dawn", "day", "sunset", "night")
TERRAINS = ("sea", "mountains", "desert", "hills", "forest", "snow")
SIDES = ("left", "centre", "right")
WEATHERS = ("clear", "cloudy")

OBJECT_COLOURS = {
    "house": ("red", "orange", "yellow", "blue", "purple", "white"),
    "sailboat": ("red", "orange", "yellow", "blue", "purple", "white"),
    "balloon": ("red", "orange", "yellow", "blue", "purple", "white"),
    "tent": ("red", "orange", "yellow", "blue", "purple", "white"),
    "lighthouse": ("red", "blue", "white"),
    "tree": ("green", "red", "orange", "pink"),
    "palm": ("green",),
    "cactus": ("green",),
}

# What can stand where; a name that comes twice is twice as likely.
TERRAIN_OBJECTS = {
    "sea": ("sailboat", "sailboat", "sailboat", "lighthouse", "lighthouse", "palm", "balloon", "house"),
    "mountains": ("house", "tree", "tent", "balloon"),
    "desert": ("cactus", "cactus", "palm", "tent", "balloon"),
    "hills": ("house", "tree", "tree", "balloon", "tent"),
    "forest": ("house", "tent", "balloon"),
    "snow": ("house", "tent", "balloon", "tree"),
}

OBJECT_CHANCE = 0.72
DISC_CHANCE = 0.8
CLOUD_CHANCE = 0.3
HELD_OUT_SHARE = 0.09


@dataclass(frozen=True)
class Scene:
    """One scene. `disc` is the sun, or at night the moon; its side and the object's are in SIDES or None."""

    time: str
    terrain: str
    weather: str
    disc_side: str | None
    thing: str | None
    colour: str | None
    thing_side: str | None

    @property
    def disc(self):
        """The kind of disc in the sky: "sun", "moon" or None."""
        if self.disc_side is None:
            return None
        return "moon" if self.time == "night" else "sun"


def mirrored(scene):
    """The scene seen in a mirror."""
    other = {"left": "right", "right": "left", "centre": "centre", None: None}
    return replace(scene, disc_side=other[scene.disc_side], thing_side=other[scene.thing_side])


def is_held_out(scene):
    """True for the combinations of time, terrain, object and colour that training never sees."""
    if scene.thing is None:
        return False
    key = f"{scene.time}/{scene.terrain}/{scene.thing}/{scene.colour}".encode()
    return int.from_bytes(hashlib.sha256(key).digest()[:4], "big") < HELD_OUT_SHARE * 2**32


def disc_is_low(scene):
    """The sun stands low at dawn and at sunset, so an object on the same side would hide it."""
    return scene.time in ("dawn", "sunset")


def random_scene(rng):
    """A random scene, held-out combinations included."""
    time, terrain = rng.choice(TIMES), rng.choice(TERRAINS)
    thing = colour = thing_side = None
    if rng.random() < OBJECT_CHANCE:
        thing = rng.choice(TERRAIN_OBJECTS[terrain])
        colour = rng.choice(OBJECT_COLOURS[thing])
        thing_side = rng.choice(SIDES)
    disc_side = rng.choice(SIDES) if rng.random() < DISC_CHANCE else None
    weather = "cloudy" if rng.random() < CLOUD_CHANCE else "clear"
    scene = Scene(time, terrain, weather, disc_side, thing, colour, thing_side)
    hidden = disc_side is not None and disc_side == thing_side and (thing == "balloon" or disc_is_low(scene))
    if hidden:
        scene = replace(scene, disc_side=rng.choice([side for side in SIDES if side != thing_side]))
    return scene


def training_scene(rng):
    """A random scene whose combination is not held out."""
    while True:
        scene = random_scene(rng)
        if not is_held_out(scene):
            return scene


if __name__ == "__main__":
    total = held = 0
    for time in TIMES:
        for terrain in TERRAINS:
            for thing in sorted(set(TERRAIN_OBJECTS[terrain])):
                for colour in OBJECT_COLOURS[thing]:
                    total += 1
                    held += is_held_out(Scene(time, terrain, "clear", None, thing, colour, "left"))
    print(f"{held} of {total} combinations are held out")
    print(random_scene(random.Random(0)))
