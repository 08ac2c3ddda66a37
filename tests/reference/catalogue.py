"""Writes ../../presets/models.json: the sizes of published models that Sluice cannot generate with yet, and what a run of
them computes. What it knows of other models follows from its own networks.

It needs no weights and no network: the classes of diffusers and transformers are made from the published
configurations on torch's meta device (`networks.py`) and measured there (`footprints.py`).
"""

import argparse
import itertools
import json
import re
from pathlib import Path

import quiet  # noqa: F401  (has to come first)

import footprints
import networks
import torch

TARGET = Path(__file__).parents[2] / "presets" / "models.json"

# How far the number of living values may be from its formula, which knows one peak and not where another begins.
TOLERANCE = 0.05


def model(id, name, aliases, hub, latents, text, picture, components):
    """A published model.

    `hub`: its repository on Hugging Face. `latents`: channels, pixels a latent, frames a latent and latents a token. `text`: the tokens of the prompt that the
    denoiser sees. A component is its role, its network, and the tokens it sees or the share of the steps it has.
    """
    keys = ("channels", "scale", "frames", "patch")
    return {
        "id": id, "name": name, "aliases": aliases, "hub": hub, "latents": dict(zip(keys, latents)), "text": text,
        "defaults": picture,
        "components": [{"role": role, "network": network, **more} for role, network, more in components],
    }  # fmt: skip


def picture(width, height, steps, guidance, frames=1):
    """What a model is used with when nobody says otherwise."""
    return {"width": width, "height": height, "frames": frames, "steps": steps, "guidance": guidance}


def fixed(tokens):
    """A prompt that is padded or cut to this many tokens."""
    return {"fixed": tokens}


def added(tokens):
    """A prompt with the tokens of a template around it."""
    return {"added": tokens}


def encoder(network, tokens):
    """A text encoder and the tokens it sees."""
    return ("text_encoder", network, {"tokens": tokens})


def denoiser(network, share=1.0):
    """A denoiser and the share of the steps that are its own."""
    return ("denoiser", network, {"share": share})


def autoencoder(network):
    """An autoencoder."""
    return ("autoencoder", network, {})


# Sizes, steps and guidance are those of the models' cards or of their pipelines in diffusers.
MODELS = [
    model(
        "qwen-image", "Qwen-Image", ["qwenimage"], "Qwen/Qwen-Image", (16, 8, 1, 2), added(5), picture(1328, 1328, 50, 4.0),
        [encoder("qwen2.5-vl-7b", added(39)), denoiser("qwen-image"), autoencoder("qwen-image-vae")],
    ),
]  # fmt: skip


def sizes(size):
    """The variables of the formulas: i image tokens, t text tokens, p latents of a frame, f frames of latents."""
    rest = {letter: value for letter, value in size.items() if letter not in "ab"}
    return {("p" if "f" in size else "i"): size["a"] * size["b"], **rest} if "a" in size else rest


def measure(network):
    """The blocks of a network as they stand in the file."""
    with torch.device("meta"):
        module = network.make().eval()
        blocks = footprints.blocks_of(module, network.unfold, network.apart, network.homes)
        runs = [(network.call(module), network.inputs(**size)) for size in network.sizes]
        blocks = footprints.record(module, blocks, runs)
    variables = [sizes(size) for size in network.sizes]
    entries, kept = [], 0
    for block in blocks:
        elements = [count for count, _ in block.tensors]
        entry = {
            "name": block.name,
            "parameters": sum(elements),
            "matrix_parameters": sum(count for count, matrix in block.tensors if matrix),
            "largest_tensor": max(elements),
        }
        if any(block.values):
            once = any(re.fullmatch(pattern, block.name) for pattern in network.once)
            entry["runs"] = "once" if once else "always"
            for key, monomials, tolerance in (
                ("operations", network.operations, 1e-9),
                ("carried", network.values, TOLERANCE),
                ("values", network.values, TOLERANCE),
            ):
                entry[key] = footprints.polynomial(monomials, variables, getattr(block, key), tolerance)
            if once:
                results = footprints.polynomial(network.values, variables, block.results, TOLERANCE)
                kept += results.get("1", 0)
        else:
            entry["runs"] = "never"
        entries.append(entry)
    entries.sort(key=lambda entry: ("never", "once", "always").index(entry["runs"]))
    return {"architecture": network.architecture, "kept_a_call": kept, "blocks": folded(entries)}


def folded(entries):
    """Neighbours that differ in the number in their names alone, as one entry with a count."""

    def pattern(entry):
        return json.dumps({**entry, "name": re.sub(r"\d+", "{}", entry["name"], count=1)})

    result = []
    for _, group in itertools.groupby(entries, pattern):
        group = list(group)
        number = re.search(r"\d+", group[0]["name"])
        if len(group) > 1 and number:
            name = re.sub(r"\d+", "{}", group[0]["name"], count=1)
            group[0] = {"name": name, "first": int(number[0]), "count": len(group), **dict(list(group[0].items())[1:])}
        result.append(group[0])
    return result


def written(content):
    """JSON with a line for each block and each short list."""
    text = json.dumps(content, indent=1) + "\n"
    text = re.sub(r"\n {5,}(\S)", r" \1", text)
    text = re.sub(r"\n {4}([}\]])", r" \1", text)
    return re.sub(r"([\[{])((?:\n {4}[^\[{\n]*)+)\n {3}([}\]])", joined, text)


def joined(match):
    """A list or an object on one line."""
    return " ".join([match[1], *match[2].split(), match[3]])


def main():
    """Writes the file, or compares it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file would change")
    check = parser.parse_args().check
    measured = {}
    for name, network in networks.NETWORKS.items():
        measured[name] = measure(network)
        total = sum(block["parameters"] * block.get("count", 1) for block in measured[name]["blocks"])
        print(f"{name:20} {total:>14,} weights", flush=True)
    text = written({"models": MODELS, "networks": measured})
    if check:
        assert text == TARGET.read_text(), f"{TARGET} is not what would be written"
    else:
        TARGET.write_text(text)


if __name__ == "__main__":
    main()
