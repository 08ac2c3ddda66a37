"""Writes tiny checkpoints as the folders that are published, with weights made from their names.

`manifest.json` maps each weight file to its seed, metadata and tensors (key -> dtype, shape and, where it is
not 1, scale). With the configurations and the tokenizer it is all that has to be kept: the value of a tensor
is `hash_weights.weight(seed + "." + key, shape, scale)`.
"""

import glob
import json
import os
import re

import quiet  # noqa: F401  (has to come first)

import numpy
import torch
from safetensors.numpy import load_file, save_file

import hash_weights


def read_json(path):
    """The content of a JSON file."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(path, content, **options):
    """Writes a JSON file."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, **options)
        file.write("\n")


def header(path):
    """Metadata and key -> [dtype, shape] of a safetensors file."""
    with open(path, "rb") as file:
        content = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    metadata = content.pop("__metadata__", None)
    return metadata, {key: [entry["dtype"], entry["shape"]] for key, entry in content.items()}


def make_tensors(entry):
    """The tensors that an entry of a manifest describes: F32, or the count of a batch norm, which changes nothing."""
    tensors = {}
    for key, (dtype, shape, *scale) in entry["tensors"].items():
        if dtype == "I64":
            tensors[key] = numpy.zeros(shape, numpy.int64)
            continue
        if dtype != "F32":
            raise ValueError(f"{key} is {dtype}")
        values = hash_weights.weight(f"{entry['seed']}.{key}", tuple(shape), *scale)
        tensors[key] = numpy.ascontiguousarray(values).reshape(shape)
    return tensors


def scale_of(key, rows):
    """The factor of the first row whose pattern matches, as a list that is empty without one."""
    return next(([factor] for pattern, factor in rows if re.search(pattern, key)), [])


def describe(path, seed, rows=()):
    """The entry of a manifest for a weight file on disk, from its header."""
    metadata, tensors = header(path)
    tensors = {key: row + scale_of(key, rows) for key, row in tensors.items()}
    return {"seed": seed, "metadata": metadata, "tensors": tensors}


def restore_old_names(path):
    """Undoes what transformers 5 renamed: published configurations have the names of version 4."""
    config = read_json(path)
    rope = config.pop("rope_parameters", None)
    if rope is not None:
        stretched = {key: value for key, value in rope.items() if key != "rope_theta"}
        is_plain = rope.get("rope_type", "default") == "default"
        config.update(rope_theta=rope["rope_theta"], rope_scaling=None if is_plain else stretched)
    if "dtype" in config:
        config["torch_dtype"] = config.pop("dtype")
    write_json(path, config, indent=2)


def restore_clip_keys(path):
    """Puts back what published weights of CLIP have before every key, and transformers 5 leaves out."""
    metadata, tensors = header(path)
    if "embeddings.position_embedding.weight" in tensors:
        model = "vision_model" if "embeddings.patch_embedding.weight" in tensors else "text_model"
        prefixed = {f"{model}.{key}": value for key, value in load_file(path).items()}
        save_file(prefixed, path, metadata=metadata)


def save(name, tiny, folder, salt="", scales=None):
    """Writes a whole checkpoint with its manifest.json."""
    tiny.pipeline.save_pretrained(folder, safe_serialization=True)
    for component, save_tokenizer in tiny.tokenizers.items():
        save_tokenizer(f"{folder}/{component}")
    for path in glob.glob(f"{folder}/*_encoder*/config.json"):
        restore_old_names(path)
    for path in glob.glob(f"{folder}/*_encoder*/*.safetensors"):
        restore_clip_keys(path)
    manifest = {}
    for path in sorted(glob.glob(f"{folder}/*/*.safetensors")):
        relative = os.path.relpath(path, folder)
        component = relative.split(os.sep)[0]
        seed = hash_weights.salted(salt, f"{name}.{component}")
        entry = describe(path, seed, (scales or {}).get(component, ()))
        manifest[relative] = entry
        save_file(make_tensors(entry), path, metadata=entry["metadata"])
    write_json(f"{folder}/manifest.json", manifest, separators=(",", ":"))


def fill(module, entry):
    """Gives a module the weights that an entry of a manifest describes."""
    tensors = {key: torch.from_numpy(values) for key, values in make_tensors(entry).items()}
    module.load_state_dict(tensors, strict=True)
    return module.eval()
