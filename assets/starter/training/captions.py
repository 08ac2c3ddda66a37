"""Writes captions for scenes: from "sea at night" to a full sentence, with synonyms, in varied order.

Any attribute may be left out; then the caption leaves it open. What a caption says is always true of its
scene.
"""
TIME_PHRASES = {
    "dawn": ("at dawn", "at sunrise", "in the morning", "at daybreak", "in the early morning"),
    "day": ("during the day", "by day", "in daylight", "at noon", "in the afternoon", "on a bright day", "at midday"),
    "sunset": ("at sunset", "at dusk", "in the evening", "at golden hour", "during sunset", "at sundown"),
    "night": ("at night", "by night", "at midnight", "under the stars", "in the dark", "under a starry sky"),
}
TIME_WORDS = {
    "dawn": ("dawn", "sunrise", "morning", "daybreak", "pink sky"),
    "day": ("day", "daytime", "daylight", "noon", "blue sky", "midday"),
    "sunset": ("sunset", "evening", "dusk", "golden hour", "red sky", "orange sky"),
    "night": ("night", "midnight", "starry night", "night sky", "dark sky", "night time"),
}
PLACES = {
    "sea": ("at sea", "on the sea", "by the sea", "on the ocean", "on the water", "by the ocean", "at the beach", "on an island"),
    "mountains": ("in the mountains", "near the mountains", "in front of mountains", "by the mountains", "in the alps"),
    "desert": ("in the desert", "in the dunes", "on the sand", "in the sand dunes", "in the sahara"),
    "hills": ("in the hills", "on green hills", "in a meadow", "on a hill", "in the countryside", "in a green field", "on the grass"),
    "forest": ("in the forest", "in the woods", "in a forest", "in front of a forest", "among pine trees", "near the forest"),
    "snow": ("in the snow", "in winter", "on a snowy plain", "in a snowy landscape", "in a snow field", "in the arctic"),
}
OVER_PLACES = {
    "sea": ("over the sea", "above the ocean", "over the water"),
    "mountains": ("over the mountains", "above the mountains"),
    "desert": ("over the desert", "above the dunes"),
    "hills": ("over the hills", "over green fields", "above a meadow"),
    "forest": ("over the forest", "above the trees", "over the woods"),
    "snow": ("over the snow", "above a snowy plain"),
}
TERRAIN_WORDS = {
    "sea": ("sea", "the sea", "ocean", "the ocean", "a calm sea", "open water", "seascape", "beach"),
    "mountains": ("mountains", "mountain range", "snowy peaks", "a mountain landscape", "high mountains", "a mountain"),
    "desert": ("desert", "sand dunes", "a sandy desert", "the desert", "dunes"),
    "hills": ("hills", "green hills", "rolling hills", "a meadow", "green fields", "countryside", "grassland"),
    "forest": ("forest", "a pine forest", "woods", "the forest", "pine trees", "the woods"),
    "snow": ("snow", "a snowy plain", "winter landscape", "snow field", "a snowy landscape", "winter"),
}
OBJECTS = {
    "house": ("house", "house", "cottage", "cabin", "home", "hut"),
    "sailboat": ("sailboat", "sailboat", "boat", "sailing boat", "ship", "sailing ship"),
    "balloon": ("hot air balloon", "balloon", "hot-air balloon"),
    "tent": ("tent", "tent", "camping tent"),
    "lighthouse": ("lighthouse", "light house"),
    "tree": ("tree", "tree", "round tree"),
    "palm": ("palm tree", "palm", "coconut palm"),
    "cactus": ("cactus", "cactus", "saguaro cactus"),
}
TREE_WORDS = {"pink": ("cherry tree", "blossoming tree"), "orange": ("autumn tree",), "red": ("autumn tree",), "green": ()}
SIDE_PHRASES = {
    "left": ("on the left", "on the left side", "to the left", "left"),
    "centre": ("in the centre", "in the middle", "in the center"),
    "right": ("on the right", "on the right side", "to the right", "right"),
}
SUN_WORDS = ("the sun", "the sun", "a sun", "sun", "a bright sun", "a yellow sun")
MOON_WORDS = ("the moon", "the moon", "a moon", "moon", "a full moon", "full moon", "a bright moon")
CLOUD_PHRASES = ("with clouds", "cloudy", "clouds", "cloudy sky", "with a cloudy sky", "under clouds", "some clouds")
CLEAR_PHRASES = ("clear sky", "with a clear sky", "no clouds", "cloudless")
OPENINGS = (
    "a picture of", "a painting of", "a photo of", "an image of", "a view of", "an illustration of", "a drawing of",
    "a beautiful", "beautiful", "a small", "a lonely", "a cute", "there is",
)
CLOSINGS = (
    "highly detailed", "4k", "flat design", "minimalist", "illustration", "vector art", "beautiful", "peaceful",
    "landscape", "wallpaper", "calm", "high quality", "art", "digital art", "scenery", "cinematic", "masterpiece",
)


def article(noun):
    """The noun with "a" or "an"."""
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def object_words(scene, rng, name_colour):
    """The object, with its colour if wanted; None where there is none."""
    if scene.thing is None:
        return None
    noun = rng.choice(OBJECTS[scene.thing])
    always_green = scene.thing in ("palm", "cactus")
    if scene.thing == "tree" and rng.random() < 0.15 and TREE_WORDS[scene.colour]:
        noun = rng.choice(TREE_WORDS[scene.colour])
    if name_colour and not (always_green and rng.random() < 0.7):
        noun = f"{scene.colour} {noun}"
    return article(noun) if rng.random() < 0.85 else noun


def disc_words(scene, rng):
    """The sun or moon, often with its side; what is said where there is none."""
    if scene.disc is None:
        if scene.time == "night":
            return rng.choice(("no moon", "without a moon", "moonless"))
        return rng.choice(("no sun", "without the sun"))
    if rng.random() < 0.12:
        if scene.time == "night":
            return rng.choice(("moonlit", "in the moonlight", "moonlight"))
        if scene.time == "day":
            return rng.choice(("sunny", "on a sunny day", "sunny day"))
    words = rng.choice(MOON_WORDS if scene.disc == "moon" else SUN_WORDS)
    if rng.random() < 0.6:
        words += " " + rng.choice(SIDE_PHRASES[scene.disc_side])
    elif rng.random() < 0.3:
        words += " in the sky"
    return words


def sentence(scene, rng, said):
    """One flowing phrase: object, side, place, time, then sun or moon and weather."""
    parts = []
    thing = object_words(scene, rng, "colour" in said) if "thing" in said else None
    if thing:
        parts.append(thing)
        if "side" in said and rng.random() < 0.6:
            parts.append(rng.choice(SIDE_PHRASES[scene.thing_side]))
            said = said - {"side"}
    if "terrain" in said:
        if not thing:
            parts.append(rng.choice(TERRAIN_WORDS[scene.terrain]))
        else:
            choices = OVER_PLACES if scene.thing == "balloon" and rng.random() < 0.6 else PLACES
            parts.append(rng.choice(choices[scene.terrain]))
    if thing and "side" in said:
        parts.append(rng.choice(SIDE_PHRASES[scene.thing_side]))
    tail = []
    if "time" in said:
        if parts:
            time = rng.choice(TIME_PHRASES[scene.time])
            if rng.random() < 0.2:
                parts.insert(0, time + ",")
            else:
                parts.append(time)
        else:
            parts.append(rng.choice(TIME_WORDS[scene.time]))
    if "disc" in said:
        words = disc_words(scene, rng)
        tail.append("with " + words if scene.disc and rng.random() < 0.3 and words[:2] not in ("in", "on") else words)
    if "weather" in said:
        tail.append(rng.choice(CLOUD_PHRASES if scene.weather == "cloudy" else CLEAR_PHRASES))
    rng.shuffle(tail)
    text = " ".join(parts)
    for words in tail:
        comma = "," if text and (rng.random() < 0.65 or not words.startswith(("with", "under", "in "))) else ""
        text = f"{text}{comma} {words}" if text else words
    return text


def listing(scene, rng, said):
    """The attributes as a list with commas, in any order."""
    parts = []
    if "thing" in said and scene.thing:
        words = object_words(scene, rng, "colour" in said)
        parts.append(words + (" " + rng.choice(SIDE_PHRASES[scene.thing_side]) if "side" in said else ""))
    if "terrain" in said:
        parts.append(rng.choice(TERRAIN_WORDS[scene.terrain] + PLACES[scene.terrain]))
    if "time" in said:
        parts.append(rng.choice(TIME_WORDS[scene.time] + TIME_PHRASES[scene.time]))
    if "disc" in said:
        parts.append(disc_words(scene, rng))
    if "weather" in said:
        parts.append(rng.choice(CLOUD_PHRASES if scene.weather == "cloudy" else CLEAR_PHRASES))
    rng.shuffle(parts)
    return ", ".join(parts)


def time_first(scene, rng, said):
    """Short forms that begin with the time: "sunset over the sea", "a night in the desert"."""
    time = rng.choice(TIME_WORDS[scene.time])
    places = OVER_PLACES if rng.random() < 0.6 else PLACES
    text = f"{time} {rng.choice(places[scene.terrain])}"
    thing = object_words(scene, rng, "colour" in said) if "thing" in said else None
    if thing:
        text += rng.choice((", ", " with ")) + thing
        if "side" in said:
            text += " " + rng.choice(SIDE_PHRASES[scene.thing_side])
    if "disc" in said:
        text += ", " + disc_words(scene, rng)
    return text


def caption(scene, rng):
    """A random caption that is true of the scene."""
    chances = {"time": 0.85, "terrain": 0.75, "disc": 0.72, "weather": 0.5 if scene.weather == "cloudy" else 0.08,
               "thing": 0.93, "colour": 0.75, "side": 0.5}
    if rng.random() < 0.2:
        chances = {name: chance * 0.6 for name, chance in chances.items()}
    said = {name for name, chance in chances.items() if rng.random() < chance}
    if scene.thing is None:
        said -= {"thing", "side", "colour"}
    if not said & {"time", "terrain", "thing", "disc", "weather"}:
        said.add(rng.choice(("time", "terrain")))
    style = rng.random()
    if {"time", "terrain"} <= said and style < 0.15:
        text = time_first(scene, rng, said)
    elif style < 0.4:
        text = listing(scene, rng, said)
    else:
        text = sentence(scene, rng, said)
    if rng.random() < 0.1:
        text = f"{rng.choice(OPENINGS)} {text}"
    while rng.random() < 0.1:
        text = f"{text}, {rng.choice(CLOSINGS)}"
    if rng.random() < 0.15:
        text = text[0].upper() + text[1:]
    return text + ("." if rng.random() < 0.05 else "")


def long_caption(scene, rng):
    """A caption with many closing words."""
    return ", ".join([caption(scene, rng), *rng.sample(CLOSINGS, 9)])


def all_phrases():
    """Every phrase of the grammar, for the tokenizer."""
    tables = (TIME_PHRASES, TIME_WORDS, PLACES, OVER_PLACES, TERRAIN_WORDS, OBJECTS, TREE_WORDS, SIDE_PHRASES)
    phrases = [phrase for table in tables for choices in table.values() for phrase in choices]
    lists = (SUN_WORDS, MOON_WORDS, CLOUD_PHRASES, CLEAR_PHRASES, OPENINGS, CLOSINGS)
    return phrases + [phrase for choices in lists for phrase in choices]
