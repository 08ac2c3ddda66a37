"""How many weights each published component has."""

import json
import os

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
import transformers
from diffusers.pipelines.deprecated import wuerstchen

import lens

CONFIGURATIONS = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "presets", "configurations.json"
)


def configuration(parts, name):
    """A part's own small configuration over that of the part it is like."""
    part = parts[name]
    config, tiny = configuration(parts, part["like"]) if "like" in part else ({}, {})
    return {**config, **part["config"]}, {**tiny, **part.get("tiny", {})}


def network(part, config):
    """A component without values."""
    with torch.device("meta"):
        if part["library"] != "transformers":
            library = {"diffusers": diffusers, "lens": lens, "wuerstchen": wuerstchen}[part["library"]]
            return getattr(library, part["class"]).from_config(config)
        kind = getattr(transformers, part["class"])
        return kind(kind.config_class(**{key: value for key, value in config.items() if key != "architectures"}))


def presets():
    """The published configurations."""
    with open(CONFIGURATIONS, encoding="utf-8") as file:
        return json.load(file)


def parameters():
    """How many weights the files of each published component have: model and folder."""
    known, models = presets(), {}
    for model in known["models"]:
        models[model["id"]] = {}
        for folder, name in model["parts"].items():
            component = network(known["parts"][name], configuration(known["parts"], name)[0])
            shared = set(dict(component.named_parameters(remove_duplicate=False)))
            shared -= set(dict(component.named_parameters()))
            stored = component.state_dict().items()
            models[model["id"]][folder] = sum(value.numel() for name, value in stored if name not in shared)
    return models
