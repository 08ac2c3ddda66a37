"""Draws a clip as 25 frames of 128x128 pixels, with the image starter's drawing.

The land and the sky are drawn once, on canvases three times as large, and moved; what moves on its own is
drawn in every frame. A change of the time of day is a blend of two clips.
"""
import math
import random
from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw

import starter  # noqa: F401
from drawing import CLOUD, COLOURS, LANDS, SCALE, SIDE_X, SIZE, THINGS, Canvas
from drawing import disc_place, draw_cloud, draw_island, draw_sky, mix
from scenes import FRAMES

WIDE = SIZE * SCALE
KEY = (255, 0, 255)
# How far things travel during a clip, in pixels.
TRAVEL = {"boat": 54, "balloon": 44, "clouds": 44, "pan": 56}
DISC_TRAVEL = {"left": 60, "right": 60, "up": 36, "down": 36}
SIGN = {"left": -1, "right": 1, "up": -1, "down": 1}


class Stage(Canvas):
    """A canvas whose pen can be moved by (dx, dy) pixels."""

    dx = dy = 0.0

    def polygon(self, points, colour):
        super().polygon([(x + self.dx, y + self.dy) for x, y in points], colour)

    def ellipse(self, x, y, rx, ry, colour):
        super().ellipse(x + self.dx, y + self.dy, rx, ry, colour)

    def box(self, x0, y0, x1, y1, colour):
        super().box(x0 + self.dx, y0 + self.dy, x1 + self.dx, y1 + self.dy, colour)

    def show(self, image):
        """Puts an image of the canvas's size on it."""
        self.image = image.copy()
        self.pen = ImageDraw.Draw(self.image)


class Film:
    """A clip at one time of day. `seed` decides everything that varies."""

    def __init__(self, clip, seed):
        self.clip, self.scene, self.seed = clip, clip.scene, seed
        rng = random.Random(f"places {seed}")
        self.disc = disc_place(self.scene, rng) if self.scene.disc_side else None
        self.clouds = self.cloud_places(rng) if self.scene.weather == "cloudy" else []
        self.thing = (SIDE_X[self.scene.thing_side or "centre"] + rng.uniform(-4, 4), 113 + rng.uniform(-1.5, 1.5))
        self.pace = rng.uniform(0.9, 1.1)
        self.flakes = [(rng.uniform(0, SIZE), rng.uniform(0, SIZE), rng.uniform(1.5, 2.1), rng.uniform(0, 6)) for _ in range(26)]
        self.glints = [(rng.uniform(0, 10) + 21 * n - 50, 86 + 6.5 * (n * 3 % 6), rng.uniform(0, 6)) for n in range(11)]
        self.sky = self.land = None

    def cloud_places(self, rng):
        """Up to three clouds."""
        places = (("left", 24, 24), ("centre", 64, 14), ("right", 104, 25))
        hidden = self.disc is not None and self.disc[1] < 40 and self.clip.motion != "clouds"
        return [(x + rng.uniform(-4, 4), y + rng.uniform(-2, 2)) for side, x, y in places
                if not (hidden and side == self.scene.disc_side)]

    def travelled(self, motion, share):
        """The shift (dx, dy) of what moves, `share` of the way through the clip; the middle is at 0."""
        if self.clip.motion != motion:
            return 0.0, 0.0
        direction = self.clip.direction
        length = DISC_TRAVEL[direction] if motion == "disc" else TRAVEL[motion]
        way = self.pace * length * (share - 0.5) * SIGN[direction]
        if motion == "pan":
            way = -way
        if direction in ("left", "right"):
            return way, 0.0
        return 0.0, way + (4 if motion == "disc" else 0)

    def draw_land(self, disc):
        """The land on a transparent ground: an image and its mask."""
        canvas = Stage(self.scene, random.Random(f"land {self.seed}"))
        canvas.start(np.full((SIZE, SIZE, 3), KEY, np.uint8))
        LANDS[self.scene.terrain](canvas, disc)
        mask = Image.fromarray(((np.asarray(canvas.image) != KEY).any(2) * 255).astype(np.uint8))
        return canvas.image, mask

    def shifted(self, image, dx):
        """The image moved by dx pixels, continued by its mirror image."""
        wide = Image.new(image.mode, (3 * WIDE, WIDE))
        flipped = image.transpose(Image.FLIP_LEFT_RIGHT)
        for number, part in enumerate((flipped, image, flipped)):
            wide.paste(part, (number * WIDE, 0))
        left = WIDE - round(dx * SCALE)
        return wide.crop((left, 0, left + WIDE, WIDE))

    def frame(self, number):
        """One frame as floats (128, 128, 3)."""
        share, scene = number / (FRAMES - 1), self.scene
        disc = self.disc
        if disc:
            dx, dy = self.travelled("disc", share)
            disc = (disc[0] + dx, disc[1] + dy, disc[2])
        moving = disc != self.disc
        canvas = Stage(scene, random.Random(0))
        if moving or self.sky is None:
            draw_sky(canvas, disc)
            self.sky = canvas.image
        canvas.show(self.sky)
        pan = self.travelled("pan", share)[0]
        canvas.dx = pan + self.travelled("clouds", share)[0]
        for x, y in self.clouds:
            draw_cloud(canvas, x, y)
        canvas.dx = 0.0
        if self.land is None or moving and scene.terrain == "sea":
            self.land = self.draw_land(disc)
        image, mask = self.land
        if pan and scene.terrain != "sea":
            image, mask = self.shifted(image, pan), self.shifted(mask, pan)
        canvas.image.paste(image, (0, 0), mask)
        canvas.dx = pan
        if scene.terrain == "sea":
            self.draw_glints(canvas, number)
        if scene.thing:
            self.draw_thing(canvas, number, share)
        if self.clip.motion == "snow":
            self.draw_flakes(canvas, number)
        return np.asarray(canvas.image.resize((SIZE, SIZE), Image.BOX)).astype(np.float32)

    def draw_glints(self, canvas, number):
        """Small waves that rise and sink where they are."""
        near = mix(canvas.land((60, 152, 206)), (255, 255, 255), 0.25 if self.scene.time != "night" else 0.1)
        for x, y, phase in self.glints:
            swing = math.sin(2 * math.pi * number / 12 + phase)
            canvas.ellipse(x, y + 1.5 * swing, 7 + 2.5 * swing, 1.2, near)

    def draw_thing(self, canvas, number, share):
        """The object of the scene, moved if it is what moves; boats rock a little."""
        scene, (x, y) = self.scene, self.thing
        dx, dy = self.travelled("boat", share)
        if scene.thing == "balloon":
            dx, dy = self.travelled("balloon", share)
            dy += 4 if self.clip.motion == "balloon" else 0
        if scene.thing == "sailboat":
            dy += 1.2 * math.sin(2 * math.pi * number / 12)
        canvas.dx, canvas.dy = canvas.dx + dx, dy
        if scene.terrain == "sea" and scene.thing not in ("sailboat", "balloon"):
            draw_island(canvas, x, y)
        THINGS[scene.thing](canvas, x, y, COLOURS[scene.colour])
        canvas.dx = canvas.dy = 0.0

    def draw_flakes(self, canvas, number):
        """Snowflakes that fall about two pixels a frame and sway."""
        colour = mix(CLOUD[self.scene.time], (255, 255, 255), 0.7)
        for x, y, r, phase in self.flakes:
            fallen = (y + (1.6 + 0.5 * r) * self.pace * number * 0.8) % (SIZE + 8) - 4
            canvas.ellipse(x + 2 * math.sin(number / 5 + phase), fallen, r, r, colour)


def draw_clip(clip, seed):
    """The frames of a clip as bytes (25, 128, 128, 3)."""
    film = Film(clip, seed)
    frames = [film.frame(number) for number in range(FRAMES)]
    if clip.motion == "time":
        later = Film(replace(clip, scene=replace(clip.scene, time=clip.last_time)), seed)
        for number in range(FRAMES):
            share = min(1.0, max(0.0, (number - 2) / (FRAMES - 5)))
            share = share * share * (3 - 2 * share)
            frames[number] = frames[number] * (1 - share) + later.frame(number) * share
    return np.clip(np.round(np.stack(frames)), 0, 255).astype(np.uint8)
