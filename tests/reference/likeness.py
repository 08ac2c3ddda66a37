"""Names and shapes of the tensors of models that Sluice writes with random weights and does not draw with."""

import json
import os

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
import transformers

CONFIGURATIONS = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "presets", "configurations.json"
)
MODELS = ("qwen-image", "wan-2.2-5b")


def configuration(parts, name):
    """A part's own small configuration over that of the part it is like."""
    part = parts[name]
    config, tiny = configuration(parts, part["like"]) if "like" in part else ({}, {})
    return {**config, **part["config"]}, {**tiny, **part.get("tiny", {})}


def published(name):
    """The name in published files, which transformers changes as it reads them."""
    return name.replace("model.language_model.", "model.").replace("model.visual.", "visual.")


def tensors(part, config):
    """The names and shapes, without those that share their values with another."""
    with torch.device("meta"):
        if part["library"] == "diffusers":
            model = getattr(diffusers, part["class"]).from_config(config)
        else:
            kind = getattr(transformers, part["class"])
            model = kind(kind.config_class(**{key: value for key, value in config.items() if key != "architectures"}))
    state = dict(model.named_parameters())
    return {published(name): list(value.shape) for name, value in sorted(state.items())}


def listed():
    """The list: model, folder, name and shape."""
    with open(CONFIGURATIONS, encoding="utf-8") as file:
        known = json.load(file)
    models = {}
    for model in MODELS:
        models[model] = {}
        for folder, name in known["models"][model]["parts"].items():
            config, tiny = configuration(known["parts"], name)
            models[model][folder] = tensors(known["parts"][name], {**config, **tiny})
    return models
