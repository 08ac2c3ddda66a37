"""Draws a scene as a 128x128 picture: smooth skies, layered silhouettes, at most one large object.

Coordinates are pixels of the finished picture (0 to 128); everything is drawn on a canvas three times as
large and scaled down. What varies from picture to picture is small on purpose (a few silhouettes with
slight changes, a fixed map of stars), so that a small model can learn it exactly.
"""
import math

import numpy as np
from PIL import Image, ImageDraw

SIZE = 128
SCALE = 3
SIDE_X = {"left": 30, "centre": 64, "right": 98}

# Sky colours from the top to the horizon.
SKY = {
    "dawn": ((134, 150, 222), (236, 164, 200), (255, 214, 178)),
    "day": ((52, 132, 226), (112, 188, 246), (198, 232, 252)),
    "sunset": ((88, 38, 122), (226, 70, 96), (255, 164, 70)),
    "night": ((12, 16, 58), (26, 36, 100), (62, 76, 150)),
}
DISC = {"dawn": (255, 238, 130), "day": (255, 228, 84), "sunset": (255, 232, 124), "night": (250, 246, 226)}
GLOW = {"dawn": (255, 226, 160), "day": (250, 244, 200), "sunset": (255, 176, 84), "night": (120, 136, 206)}
CLOUD = {"dawn": (255, 232, 236), "day": (255, 255, 255), "sunset": (250, 146, 128), "night": (74, 86, 146)}
# How the light of each time colours the land, and how it colours objects (kept readable).
LAND_LIGHT = {"dawn": (0.98, 0.86, 0.92), "day": (1, 1, 1), "sunset": (0.86, 0.60, 0.58), "night": (0.36, 0.42, 0.68)}
THING_LIGHT = {"dawn": (1, 0.93, 0.95), "day": (1, 1, 1), "sunset": (0.94, 0.80, 0.76), "night": (0.62, 0.64, 0.86)}
# How much of the horizon's colour distant land takes.
HAZE = {"dawn": 0.45, "day": 0.35, "sunset": 0.35, "night": 0.30}
HORIZON = {"sea": 80, "mountains": 84, "desert": 80, "hills": 80, "forest": 84, "snow": 82}
LOW_DISC_Y = {"sea": 58, "mountains": 34, "desert": 50, "hills": 52, "forest": 34, "snow": 46}
COLOURS = {
    "red": (220, 44, 44), "orange": (248, 130, 30), "yellow": (252, 200, 32), "blue": (40, 100, 220),
    "purple": (142, 66, 190), "white": (250, 248, 244), "green": (44, 150, 70), "pink": (250, 140, 180),
}
LAMP = (255, 226, 130)
STARS = (
    (10, 14), (27, 30), (38, 8), (52, 22), (70, 10), (84, 28), (97, 9), (112, 22), (121, 40), (16, 46), (62, 40),
    (104, 44), (44, 48),
)


def mix(first, second, share):
    """The colour between two, `share` of the second."""
    return tuple(a + (b - a) * share for a, b in zip(first, second))


class Canvas:
    """The picture under work, and the light of its scene."""

    def __init__(self, scene, rng):
        self.scene, self.rng = scene, rng
        self.image = None
        self.pen = None
        self.haze = SKY[scene.time][2] if scene.time != "night" else SKY["night"][1]

    def start(self, pixels):
        """Puts a float picture of the finished size on the canvas."""
        small = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
        self.image = small.resize((SIZE * SCALE, SIZE * SCALE), Image.BICUBIC)
        self.pen = ImageDraw.Draw(self.image)

    def land(self, colour, depth=0.0):
        """A colour of the land in this light; depth 0 is near, 1 as far as it gets."""
        lit = tuple(c * l for c, l in zip(colour, LAND_LIGHT[self.scene.time]))
        return mix(lit, self.haze, depth * HAZE[self.scene.time])

    def thing(self, colour):
        """A colour of an object in this light."""
        return tuple(c * l for c, l in zip(colour, THING_LIGHT[self.scene.time]))

    def polygon(self, points, colour):
        self.pen.polygon([(x * SCALE, y * SCALE) for x, y in points], fill=whole(colour))

    def ellipse(self, x, y, rx, ry, colour):
        box = [(x - rx) * SCALE, (y - ry) * SCALE, (x + rx) * SCALE, (y + ry) * SCALE]
        self.pen.ellipse(box, fill=whole(colour))

    def box(self, x0, y0, x1, y1, colour):
        self.pen.rectangle([x0 * SCALE, y0 * SCALE, x1 * SCALE - 1, y1 * SCALE - 1], fill=whole(colour))

    def below(self, curve, colour):
        """Fills everything below a curve y = curve(x)."""
        points = [(x, curve(x)) for x in range(-2, SIZE + 3, 2)]
        self.polygon(points + [(SIZE + 2, SIZE + 2), (-2, SIZE + 2)], colour)


def whole(colour):
    """A colour as whole numbers from 0 to 255."""
    return tuple(int(min(255, max(0, round(c)))) for c in colour)


def disc_place(scene, rng):
    """Centre and radius of the sun or moon."""
    x = SIDE_X[scene.disc_side] + rng.uniform(-3, 3)
    low = scene.time in ("dawn", "sunset")
    y = LOW_DISC_Y[scene.terrain] if low else 26
    return x, y + rng.uniform(-2, 2), 11.0


def draw_sky(canvas, disc):
    """The gradient of the sky, the glow of the disc, the stars, the disc itself."""
    scene = canvas.scene
    top, middle, bottom = SKY[scene.time]
    horizon = HORIZON[scene.terrain]
    y, x = np.mgrid[0:SIZE, 0:SIZE] + 0.5
    rows = np.clip(y / horizon, 0, 1)[..., None]
    upper = np.array(top) + (np.array(middle) - top) * np.clip(rows / 0.55, 0, 1)
    pixels = upper + (np.array(bottom, float) - middle) * np.clip((rows - 0.55) / 0.45, 0, 1)
    if disc:
        distance = np.hypot(x - disc[0], y - disc[1])[..., None]
        strength = {"dawn": 0.55, "day": 0.5, "sunset": 0.75, "night": 0.55}[scene.time]
        glow = strength * np.exp(-((distance / 30) ** 2))
        pixels = pixels + (np.array(GLOW[scene.time]) - pixels) * glow
    canvas.start(pixels)
    if scene.time == "night" and scene.weather == "clear":
        draw_stars(canvas, disc)
    if disc:
        canvas.ellipse(*disc[:2], disc[2], disc[2], DISC[scene.time])
        if scene.time == "night":
            for dx, dy, r in ((-3.5, -3, 2.6), (3.5, 1.5, 2.2), (-1.5, 5, 1.7)):
                canvas.ellipse(disc[0] + dx, disc[1] + dy, r, r, (222, 216, 196))


def draw_stars(canvas, disc):
    """The stars: always the same map, but for those too close to the moon."""
    for number, (x, y) in enumerate(STARS):
        if disc and math.hypot(x - disc[0], y - disc[1]) < 20:
            continue
        r = 1.5 if number % 3 == 0 else 1.1
        canvas.ellipse(x, y, r, r, (255, 250, 226))


def draw_clouds(canvas, disc):
    """Up to three large clouds, where neither the disc nor a balloon is."""
    scene, rng = canvas.scene, canvas.rng
    for side, x, y in (("left", 24, 22), ("centre", 64, 13), ("right", 104, 24)):
        if side == scene.disc_side and disc[1] < 40:
            continue
        if scene.thing == "balloon" and side == scene.thing_side:
            continue
        draw_cloud(canvas, x + rng.uniform(-3, 3), y + rng.uniform(-2, 2))


def draw_cloud(canvas, x, y):
    """One cloud with a flat bottom and a shaded foot."""
    colour = CLOUD[canvas.scene.time]
    foot = mix(colour, SKY[canvas.scene.time][1], 0.35)
    for shift, paint in ((1.6, foot), (0, colour)):
        canvas.ellipse(x - 10, y + 3 + shift, 9, 5.5, paint)
        canvas.ellipse(x + 11, y + 3 + shift, 8.5, 5, paint)
        canvas.ellipse(x - 2, y - 1 + shift, 9, 8, paint)
        canvas.ellipse(x + 6, y + 1 + shift, 7, 6.5, paint)


def waves(rng, height, swing, length):
    """A smooth curve around `height`; its phase is one of four, slightly changed."""
    phase = rng.randrange(4) * math.pi / 2 + rng.uniform(-0.25, 0.25)
    return lambda x: height + swing * math.sin(2 * math.pi * x / length + phase)


def draw_sea(canvas, disc):
    """Water in bands that darken towards the viewer, and the light of the disc on it."""
    scene, horizon = canvas.scene, HORIZON["sea"]
    near, far = canvas.land((16, 84, 160)), mix(canvas.land((60, 152, 206)), SKY[scene.time][2], 0.25)
    rows = np.clip((np.arange(SIZE) + 0.5 - horizon) / (SIZE - horizon), 0, 1)[:, None, None] ** 0.7
    water = np.broadcast_to(np.array(far) + (np.array(near) - far) * rows, (SIZE, SIZE, 3)).copy()
    if disc:
        x = np.arange(SIZE)[None, :, None] + 0.5
        width = 8 + 12 * rows
        shine = 0.75 * np.exp(-(((x - disc[0]) / width) ** 2)) * (1 - 0.75 * rows)
        water += (np.array(mix(DISC[scene.time], GLOW[scene.time], 0.5)) - water) * shine
    strip = Image.fromarray(np.clip(water, 0, 255).astype(np.uint8)).resize(canvas.image.size, Image.BICUBIC)
    box = (0, horizon * SCALE, SIZE * SCALE, SIZE * SCALE)
    canvas.image.paste(strip.crop(box), box)
    if disc:
        light = mix(DISC[scene.time], GLOW[scene.time], 0.3)
        for y, rx in ((85, 10), (92, 7), (99, 12), (107, 8)):
            canvas.ellipse(disc[0], y, rx, 1.3, mix(light, tuple(water[y, int(disc[0])]), 0.35))


PEAKS = (
    ((-8, 60), (22, 46), (44, 62), (70, 40), (96, 62), (116, 48), (140, 62)),
    ((-12, 50), (12, 62), (40, 38), (66, 62), (92, 48), (112, 60), (138, 44)),
)


def draw_mountains(canvas, disc):
    """A hazy range, a near range with caps of snow, and dark teal foothills."""
    rng = canvas.rng
    shift, flip = rng.uniform(-3, 3), rng.random() < 0.5
    kind = rng.randrange(2)
    back = [(x + 16 + shift, y - 2) for x, y in PEAKS[1 - kind]]
    back = [(-20, 60)] + back + [(160, 60)]
    front = [(x + shift, y + 10) for x, y in PEAKS[kind]]
    if flip:
        back, front = ([(SIZE - x, y) for x, y in reversed(points)] for points in (back, front))
    canvas.polygon(back + [(180, 130), (-50, 130)], canvas.land((128, 140, 190), 1.0))
    rock, shade, snow = (canvas.land(c, 0.2) for c in ((98, 104, 146), (74, 80, 122), (244, 248, 255)))
    canvas.polygon(front + [(180, 130), (-50, 130)], rock)
    for number, (x, y) in enumerate(front):
        neighbours = [front[i] for i in (number - 1, number + 1) if 0 <= i < len(front)]
        if len(neighbours) < 2 or any(y >= n[1] for n in neighbours):
            continue
        foot = 92
        right = (x + (foot - y) * 1.0, foot)
        canvas.polygon([(x, y), right, (x - 4, foot)], shade)
        cap = ((0, -0.5), (-13.5, 13), (-6, 10), (-1, 16), (5, 10), (13.5, 13))
        canvas.polygon([(x + dx, y + dy) for dx, dy in cap], snow)
    canvas.below(waves(rng, 92, 3, 150), canvas.land((64, 128, 118)))
    canvas.below(waves(rng, 106, 3, 120), canvas.land((42, 98, 96)))


def draw_desert(canvas, disc):
    """Three dunes, each lit on one side."""
    rng = canvas.rng
    canvas.below(waves(rng, 82, 4, 110), canvas.land((226, 172, 110), 0.6))
    canvas.below(waves(rng, 92, 5, 140), canvas.land((242, 194, 116)))
    canvas.below(waves(rng, 110, 4, 160), canvas.land((222, 162, 84)))


def draw_hills(canvas, disc):
    """Rolling green hills, brighter towards the viewer."""
    rng = canvas.rng
    canvas.below(waves(rng, 79, 6, 90), canvas.land((92, 164, 112), 0.8))
    canvas.below(waves(rng, 88, 6, 120), canvas.land((112, 190, 84)))
    canvas.below(waves(rng, 106, 5, 150), canvas.land((142, 208, 76)))


def draw_pine(canvas, x, foot, height, colour):
    """A pine of three triangles."""
    half = height * 0.30
    for top, bottom, wide in ((0, 0.46, 0.62), (0.24, 0.74, 0.82), (0.5, 1.0, 1.0)):
        y0, y1 = foot - height * (1 - top), foot - height * (1 - bottom)
        canvas.polygon([(x, y0), (x - half * wide, y1), (x + half * wide, y1)], colour)


def draw_forest(canvas, disc):
    """Two rows of pines and a dark forest floor."""
    rng = canvas.rng
    shift = rng.uniform(-3, 3)
    for number in range(10):
        draw_pine(canvas, -6 + number * 15.5 + shift, 92, 36 + 6 * (number % 2), canvas.land((58, 124, 104), 0.9))
    canvas.below(lambda x: 86, canvas.land((40, 104, 82), 0.5))
    shift = rng.uniform(-3, 3)
    flip = rng.randrange(2)
    for number in range(7):
        tall = 50 if number % 2 == flip else 40
        draw_pine(canvas, -2 + number * 22 + shift, 102, tall, canvas.land((24, 88, 62), 0.1))
    canvas.below(waves(rng, 100, 2, 150), canvas.land((36, 92, 48)))
    canvas.below(waves(rng, 112, 2, 120), canvas.land((48, 106, 46)))


def draw_snow(canvas, disc):
    """Soft white plains with blue shadows."""
    rng = canvas.rng
    canvas.below(waves(rng, 82, 5, 120), canvas.land((196, 216, 240), 0.5))
    canvas.below(waves(rng, 93, 4, 150), canvas.land((222, 234, 250)))
    canvas.below(waves(rng, 109, 3, 130), canvas.land((246, 250, 255)))


LANDS = {
    "sea": draw_sea, "mountains": draw_mountains, "desert": draw_desert, "hills": draw_hills,
    "forest": draw_forest, "snow": draw_snow,
}


def draw_island(canvas, x, y):
    """A small island of sand for what cannot swim."""
    canvas.ellipse(x, y + 3, 27, 6.5, canvas.thing((178, 140, 92)))
    canvas.ellipse(x, y + 1.5, 26, 5.5, canvas.thing((240, 208, 142)))


def draw_house(canvas, x, y, colour):
    wall, roof = canvas.thing(colour), canvas.thing((84, 56, 62))
    dark = mix(wall, (20, 20, 50), 0.22)
    window = LAMP if canvas.scene.time in ("night", "sunset") else canvas.thing((190, 226, 250))
    canvas.box(x + 8, y - 40, x + 14, y - 24, mix(roof, (0, 0, 0), 0.2))
    canvas.box(x - 18, y - 22, x + 18, y, wall)
    canvas.box(x + 9, y - 22, x + 18, y, dark)
    canvas.polygon([(x - 24, y - 21), (x, y - 42), (x + 24, y - 21)], roof)
    canvas.box(x - 12, y - 16, x - 3, y - 7, window)
    canvas.box(x + 2, y - 15, x + 9, y, mix(roof, (0, 0, 0), 0.25))


def draw_sailboat(canvas, x, y, colour):
    sail, hull = canvas.thing(colour), canvas.thing((110, 66, 48))
    canvas.polygon([(x + 1, y - 54), (x + 1, y - 11), (x + 24, y - 11)], sail)
    canvas.polygon([(x - 2, y - 46), (x - 2, y - 11), (x - 19, y - 11)], mix(sail, (255, 255, 255), 0.35))
    canvas.polygon([(x - 24, y - 8), (x + 26, y - 8), (x + 16, y + 3), (x - 16, y + 3)], hull)


def draw_balloon(canvas, x, y, colour):
    envelope = canvas.thing(colour)
    if canvas.scene.time == "night":
        envelope = mix(envelope, LAMP, 0.2)
    light = mix(envelope, (255, 255, 255), 0.5)
    y = 36
    canvas.polygon([(x - 17, y + 8), (x + 17, y + 8), (x + 5, y + 26), (x - 5, y + 26)], envelope)
    canvas.ellipse(x, y, 19, 19, envelope)
    canvas.ellipse(x, y + 1, 7.5, 19, light)
    canvas.polygon([(x - 6, y + 10), (x + 6, y + 10), (x + 2, y + 26), (x - 2, y + 26)], light)
    canvas.box(x - 5, y + 29, x + 5, y + 36, canvas.thing((120, 76, 44)))


def draw_tent(canvas, x, y, colour):
    cloth = canvas.thing(colour)
    inside = LAMP if canvas.scene.time in ("night", "sunset") else mix(cloth, (20, 10, 20), 0.7)
    canvas.polygon([(x - 8, y - 33), (x + 14, y - 33), (x + 30, y), (x - 28, y)], mix(cloth, (20, 20, 50), 0.3))
    canvas.polygon([(x - 8, y - 34), (x - 28, y), (x + 14, y)], cloth)
    canvas.polygon([(x - 8, y - 22), (x - 16, y), (x + 1, y)], inside)


def draw_lighthouse(canvas, x, y, colour):
    wall = canvas.thing(colour if colour != COLOURS["white"] else (250, 248, 244))
    stripe = canvas.thing(COLOURS["white"]) if colour != COLOURS["white"] else canvas.thing((120, 130, 150))
    lamp = canvas.thing((250, 232, 150)) if canvas.scene.time == "day" else LAMP
    roof = canvas.thing((70, 60, 84))

    def tower(low, high, paint):
        """A slice of the tower between two heights above its foot."""
        half = [10 - 4 * h / 46 for h in (low, high)]
        points = [(x - half[0], y - low), (x - half[1], y - high), (x + half[1], y - high), (x + half[0], y - low)]
        canvas.polygon(points, paint)

    tower(0, 44, wall)
    tower(10, 20, stripe)
    tower(30, 38, stripe)
    canvas.box(x - 8, y - 47, x + 8, y - 44, roof)
    canvas.box(x - 5, y - 55, x + 5, y - 47, lamp)
    canvas.polygon([(x - 8, y - 55), (x, y - 62), (x + 8, y - 55)], roof)


def draw_tree(canvas, x, y, colour):
    leaves = canvas.thing(colour)
    shade, trunk = mix(leaves, (30, 20, 60), 0.22), canvas.thing((110, 70, 46))
    canvas.polygon([(x - 4, y), (x - 3, y - 26), (x + 3, y - 26), (x + 4, y)], trunk)
    for dx, dy, r, paint in ((-11, -24, 11, shade), (11, -24, 11, shade), (0, -30, 15, leaves), (-8, -32, 11, leaves), (8, -34, 11, leaves)):
        canvas.ellipse(x + dx, y + dy, r, r, paint)


def draw_palm(canvas, x, y, colour):
    leaf, trunk = canvas.thing((46, 150, 74)), canvas.thing((140, 94, 56))
    dark = mix(leaf, (10, 40, 50), 0.3)
    canvas.polygon([(x - 4, y), (x - 1, y - 40), (x + 4, y - 40), (x + 3, y)], trunk)
    top = (x + 1, y - 41)
    for dx, dy, paint in ((-22, 8, dark), (22, 8, dark), (-24, -5, leaf), (24, -5, leaf), (-11, -15, leaf), (12, -15, leaf)):
        tip = (top[0] + dx, top[1] + dy)
        bend = (top[0] + dx * 0.55, top[1] + dy * 0.5 - 6)
        canvas.polygon([top, bend, tip, (bend[0], bend[1] + 8), (top[0], top[1] + 3)], paint)


def draw_cactus(canvas, x, y, colour):
    body = canvas.thing((52, 150, 84))

    def limb(x0, y0, x1, y1, r):
        """A thick line with round ends."""
        canvas.ellipse(x0, y0, r, r, body)
        canvas.ellipse(x1, y1, r, r, body)
        canvas.box(min(x0, x1) - (r if x0 == x1 else 0), min(y0, y1) - (r if y0 == y1 else 0),
                   max(x0, x1) + (r if x0 == x1 else 0), max(y0, y1) + (r if y0 == y1 else 0), body)

    limb(x, y, x, y - 42, 6)
    limb(x, y - 16, x - 16, y - 16, 4)
    limb(x - 16, y - 16, x - 16, y - 30, 4)
    limb(x, y - 22, x + 15, y - 22, 4)
    limb(x + 15, y - 22, x + 15, y - 36, 4)


THINGS = {
    "house": draw_house, "sailboat": draw_sailboat, "balloon": draw_balloon, "tent": draw_tent,
    "lighthouse": draw_lighthouse, "tree": draw_tree, "palm": draw_palm, "cactus": draw_cactus,
}


def draw_thing(canvas):
    """The object of the scene."""
    scene, rng = canvas.scene, canvas.rng
    x = SIDE_X[scene.thing_side] + rng.uniform(-2, 2)
    y = 113 + rng.uniform(-1.5, 1.5)
    if scene.terrain == "sea" and scene.thing not in ("sailboat", "balloon"):
        draw_island(canvas, x, y)
    THINGS[scene.thing](canvas, x, y, COLOURS[scene.colour])


def draw(scene, rng):
    """The picture of a scene as an array of bytes (128, 128, 3)."""
    canvas = Canvas(scene, rng)
    disc = disc_place(scene, rng) if scene.disc_side else None
    draw_sky(canvas, disc)
    if scene.weather == "cloudy":
        draw_clouds(canvas, disc)
    LANDS[scene.terrain](canvas, disc)
    if scene.thing:
        draw_thing(canvas)
    return np.asarray(canvas.image.resize((SIZE, SIZE), Image.BOX))
