"""Writes captions for clips: the image starter's phrases for the scene, with what moves and where to.

Any attribute may be left out; then the caption leaves it open. What a caption says is always true of its
clip.
"""
import starter  # noqa: F401
from captions import (
    CLEAR_PHRASES, CLOUD_PHRASES, OVER_PLACES, PLACES, SIDE_PHRASES, TERRAIN_WORDS, TIME_PHRASES, TIME_WORDS, disc_words, object_words,
)
from captions import all_phrases as picture_phrases

WHERE = {
    "left": ("left", "to the left", "from right to left", "leftwards", "towards the left"),
    "right": ("right", "to the right", "from left to right", "rightwards", "towards the right"),
}
BOAT_VERBS = ("moving", "sailing", "drifting", "going", "travelling")
BALLOON_VERBS = {
    "left": ("moving", "drifting", "floating", "flying"), "right": ("moving", "drifting", "floating", "flying"),
    "up": ("rising", "going up", "floating up", "moving up", "ascending", "flying up", "taking off", "rising into the sky"),
    "down": ("sinking", "going down", "floating down", "moving down", "descending", "coming down", "landing", "falling slowly"),
}
DISC_VERBS = {
    "left": ("moving", "crossing the sky", "wandering", "travelling"), "right": ("moving", "crossing the sky", "wandering", "travelling"),
    "up": ("rising", "going up", "moving up", "coming up", "climbing", "rising into the sky"),
    "down": ("setting", "going down", "moving down", "sinking", "descending"),
}
CLOUD_VERBS = ("clouds moving", "clouds drifting", "clouds floating", "drifting clouds, moving", "clouds passing", "clouds blown", "the clouds move", "clouds drift")
PAN_VERBS = ("camera pans", "the camera pans", "camera panning", "pan", "panning shot", "the camera moves", "camera moving", "a slow pan", "camera turns")
SNOW_VERBS = ("snow falling", "falling snow", "it is snowing", "snowfall", "snowflakes falling", "snow is falling", "snowing", "snowflakes fall from the sky")
FROM_TO = {
    "dawn": ("dawn", "sunrise", "morning"), "day": ("day", "noon", "daylight", "afternoon"),
    "sunset": ("sunset", "evening", "dusk"), "night": ("night", "darkness", "midnight"),
}
TURNS = ("{} turns to {}", "{} turning into {}", "from {} to {}", "{} becomes {}", "{} fades into {}", "time lapse from {} to {}", "{} changing to {}")
OTHER_TURNS = {
    "day/night": ("night falls", "it gets dark", "day turns to night", "night is falling"),
    "sunset/night": ("the last light fades into night", "dusk fades into night"),
    "day/sunset": ("evening comes", "the day ends", "evening is coming"),
    "night/dawn": ("dawn breaks", "a new day begins, dawn", "dawn is breaking"),
    "night/day": ("it gets light", "night turns to day", "the night ends, day comes"),
    "dawn/day": ("the morning gets brighter", "morning turns to day", "the day begins"),
}
STILL = ("still", "nothing moves", "a still shot", "static camera", "no movement", "motionless")
WAVES = ("gentle waves", "waves", "small waves", "with waves", "waves moving", "waves on the water")
OPENINGS = (
    "a video of", "a clip of", "a film of", "footage of", "a short video of", "an animation of", "a video showing", "a scene with", "a view of",
)
CLOSINGS = (
    "highly detailed", "4k", "flat design", "minimalist", "vector art", "beautiful", "peaceful", "smooth animation", "calm",
    "high quality", "cinematic", "time lapse", "loop", "animated", "scenery", "landscape",
)


def motion_words(clip, rng):
    """What moves and where to, as a phrase of its own; for boats and balloons only the verb."""
    where = rng.choice(WHERE[clip.direction]) if clip.direction in WHERE else ""
    if clip.motion == "boat":
        return f"{rng.choice(BOAT_VERBS)} {where}"
    if clip.motion == "balloon":
        return f"{rng.choice(BALLOON_VERBS[clip.direction])} {where}".strip()
    if clip.motion == "clouds":
        return f"{rng.choice(CLOUD_VERBS)} {where}"
    if clip.motion == "disc":
        return f"the {clip.scene.disc} {rng.choice(DISC_VERBS[clip.direction])} {where}".strip()
    if clip.motion == "pan":
        return f"{rng.choice(PAN_VERBS)} {where}"
    if clip.motion == "snow":
        return rng.choice(SNOW_VERBS)
    if clip.motion == "time":
        first, last = clip.direction.split("/")
        if rng.random() < 0.4:
            return rng.choice(OTHER_TURNS[clip.direction])
        return rng.choice(TURNS).format(rng.choice(FROM_TO[first]), rng.choice(FROM_TO[last]))
    return rng.choice(STILL)


def subject(clip, rng, said):
    """The object with what it does and where, or the terrain alone."""
    scene = clip.scene
    thing = object_words(scene, rng, "colour" in said) if "thing" in said else None
    words = [thing] if thing else []
    if thing and clip.motion in ("boat", "balloon"):
        if "motion" in said:
            words.append(motion_words(clip, rng))
    elif thing and "side" in said:
        words.append(rng.choice(SIDE_PHRASES[scene.thing_side]))
    if "terrain" in said:
        if not words:
            words.append(rng.choice(TERRAIN_WORDS[scene.terrain]))
        else:
            table = OVER_PLACES if scene.thing == "balloon" and rng.random() < 0.6 else PLACES
            words.append(rng.choice(table[scene.terrain]))
    if "time" in said:
        time = rng.choice(TIME_PHRASES[scene.time] if words else TIME_WORDS[scene.time])
        if rng.random() < 0.2:
            words.insert(0, time + ("," if words else ""))
        else:
            words.append(time)
    return " ".join(words)


def remarks(clip, rng, said):
    """Sun or moon, weather, waves: phrases of their own."""
    scene, parts = clip.scene, []
    if "disc" in said:
        parts.append(disc_words(scene, rng))
    if "weather" in said:
        parts.append(rng.choice(CLOUD_PHRASES if scene.weather == "cloudy" else CLEAR_PHRASES))
    if "waves" in said:
        parts.append(rng.choice(WAVES))
    return parts


def choose(clip, rng):
    """What the caption says."""
    scene = clip.scene
    chances = {"motion": 0.93, "time": 0.85, "terrain": 0.85, "disc": 0.3, "weather": 0.35 if scene.weather == "cloudy" else 0.06,
               "thing": 0.9, "colour": 0.75, "side": 0.4, "waves": 0.2}
    if rng.random() < 0.15:
        chances = {name: chance * (1 if name == "motion" else 0.6) for name, chance in chances.items()}
    said = {name for name, chance in chances.items() if rng.random() < chance}
    if scene.thing is None:
        said -= {"thing", "side", "colour"}
    if clip.motion in ("boat", "balloon") and "motion" in said:
        said.add("thing")
    if clip.motion == "disc" and "motion" in said or clip.motion == "time":
        said.discard("disc")
    if clip.motion == "clouds":
        said.discard("weather")
    if clip.motion == "time" and "motion" in said:
        said.discard("time")
    if clip.motion == "still" and rng.random() < 0.5:
        said.discard("motion")
    if scene.terrain != "sea":
        said.discard("waves")
    if not said & {"time", "terrain", "thing", "motion"}:
        said.add("terrain")
    return said


def caption(clip, rng, said=None):
    """A random caption that is true of the clip."""
    said = choose(clip, rng) if said is None else said
    own = "motion" in said and not (clip.motion in ("boat", "balloon") and clip.scene.thing)
    parts = [subject(clip, rng, said)]
    if own:
        parts.insert(rng.choice((0, 1, 1)), motion_words(clip, rng))
    extra = remarks(clip, rng, said)
    rng.shuffle(extra)
    parts = [part for part in parts + extra if part]
    text = parts[0]
    for part in parts[1:]:
        joined = rng.random() < 0.25 and not part.startswith(("with", "under", "in ", "on ", "at "))
        text += (" with " if joined and part in extra else ", ") + part
    if rng.random() < 0.1:
        text = f"{rng.choice(OPENINGS)} {text}"
    while rng.random() < 0.1:
        text = f"{text}, {rng.choice(CLOSINGS)}"
    if rng.random() < 0.2:
        text = text[0].upper() + text[1:]
    return text + ("." if rng.random() < 0.08 else "")


def all_phrases():
    """Every phrase of the grammar, for the tokenizer."""
    tables = (WHERE, BALLOON_VERBS, DISC_VERBS, FROM_TO, OTHER_TURNS)
    phrases = [phrase for table in tables for choices in table.values() for phrase in choices]
    lists = (BOAT_VERBS, CLOUD_VERBS, PAN_VERBS, SNOW_VERBS, STILL, WAVES, OPENINGS, CLOSINGS)
    phrases += [phrase for choices in lists for phrase in choices] + [turn.replace("{}", "day") for turn in TURNS]
    return picture_phrases() + phrases


def said_about(clip, said):
    """The clip with what the caption leaves open set to None, as a dictionary."""
    scene = clip.scene
    moving = clip.motion if "motion" in said else None
    return {
        "time": scene.time if "time" in said or moving == "time" else None,
        "terrain": scene.terrain if "terrain" in said else None,
        "motion": moving, "direction": clip.direction if moving else None,
    }
