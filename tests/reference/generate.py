"""Writes the fixtures that the tests read, or checks that they are what would be written."""

import argparse
import os
import shutil
import sys
import tempfile

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
from safetensors.torch import load_file, save_file

import adapters
import cases
import checkpoints
import control_nets
import families
import hash_weights
import image_prompts
import likeness
import modules
import prompts
import pictures
import recording
import samplers
import steering
import tables
import tiny_clips
import walks

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
# How far another processor may be, relative to the largest value of a tensor.
ROUNDED = 2e-5
WEIGHTS = shutil.ignore_patterns("*.safetensors", "*tokenizer*")


def save_tensors(tensors, path):
    """Writes a safetensors file and says how large it is."""
    broken = [name for name, value in tensors.items() if not torch.isfinite(value).all()]
    if broken:
        raise ValueError(f"{path}: not finite: {' '.join(broken)}")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    save_file({name: value.clone().contiguous() for name, value in tensors.items()}, path)
    print(f"{path}: {len(tensors)} tensors, {os.path.getsize(path)} bytes", flush=True)


def save_case(name, case_name, folder):
    """Writes a checkpoint of a family with its weights and returns its pipeline."""
    case = cases.CASES[name][case_name]
    tiny = families.FAMILIES[name](**case.options)
    checkpoints.save(name, tiny, folder, case.salt, case.scales)
    return tiny


def write_run(name, tiny, case, run, checkpoint, out):
    """Writes request.json and the tensors of one run."""
    request = recording.describe(name, case.salt, tiny, run)
    os.makedirs(out, exist_ok=True)
    checkpoints.write_json(f"{out}/request.json", request, indent=2)
    if "source" in request:
        pictures.write(request["source"], out, run.frames)
    if "control_nets" in request:
        control_nets.write_pictures(request["control_nets"], out)
    if "references" in request:
        pictures.write_references(request["references"], out)
    with tempfile.TemporaryDirectory() as refiner:
        if run.refiner:
            save_case(name, run.refiner, refiner)
        if hasattr(run, "redux"):
            save_case("redux", run.redux, refiner)
        recorded = recording.run(type(tiny.pipeline).__name__, checkpoint, request, out, refiner=refiner)
    if "control_nets" in request:
        is_unet = hasattr(tiny.pipeline, "unet")
        # Those for transformers are made from the names of the transformer's tensors.
        for net in request["control_nets"] if is_unet else []:
            control_nets.write(tiny.pipeline.unet, net["name"], f"{out}/../control_nets/{net['name']}")
        recorded = {name: value for name, value in recorded.items() if control_nets.is_kept(name, is_unet)}
    if "image_prompts" in request:
        recorded = {name: value for name, value in recorded.items() if image_prompts.is_kept(name)}
    save_tensors(without_pixels(recorded), f"{out}/golden.safetensors")


def without_pixels(tensors):
    """Leaves out the pixels of images that are in `vae.decode.out` already: the tests make them of that."""
    decoded, pixels = (tensors.get(name) for name in ("vae.decode.out", "output"))
    if decoded is None or pixels is None or not torch.equal((decoded / 2 + 0.5).clamp(0, 1), pixels):
        return tensors
    return {name: value for name, value in tensors.items() if name != "output"}


def write_family(name, out):
    """Writes every checkpoint of a family, without weights, and its runs; the tokenizers are shared."""
    for case_name, case in cases.CASES[name].items():
        with tempfile.TemporaryDirectory() as folder:
            tiny = save_case(name, case_name, folder)
            shutil.copytree(folder, f"{out}/{case_name}/checkpoint", ignore=WEIGHTS)
            for tokenizer in tiny.tokenizers:
                shutil.copytree(f"{folder}/{tokenizer}", f"{out}/{tokenizer}", dirs_exist_ok=True)
            for run_name, run in case.runs.items():
                write_run(name, tiny, case, run, folder, f"{out}/{case_name}/{run_name}")


def write_adapted(case, out):
    """Writes the manifest of an adapter and what a family's default checkpoint computes with it."""
    checkpoint = cases.CASES[case.family][case.checkpoint]
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tiny = save_case(case.family, case.checkpoint, folder)
        entry = adapters.write(case, tiny.pipeline, f"{folder}/adapter.safetensors")
        checkpoints.write_json(f"{out}/manifest.json", {"adapter.safetensors": entry}, separators=(",", ":"))
        request = recording.describe(case.family, checkpoint.salt, tiny, case.run)
        checkpoints.write_json(f"{out}/request.json", request, indent=2)
        load = adapters.loader(case, f"{folder}/adapter.safetensors")
        recorded = recording.run(type(tiny.pipeline).__name__, folder, request, None, load)
    kept = {name: value for name, value in recorded.items() if name in adapters.KEPT or ".out." in name}
    save_tensors(kept, f"{out}/golden.safetensors")


def write_module(module, seed, out, scales=()):
    """Writes configuration and manifest of a network and gives it the weights that these describe."""
    file_name = "diffusion_pytorch_model.safetensors"
    with tempfile.TemporaryDirectory() as folder:
        module.save_pretrained(folder)
        entry = checkpoints.describe(f"{folder}/{file_name}", seed, scales)
        os.makedirs(out)
        shutil.copy(f"{folder}/config.json", out)
    checkpoints.write_json(f"{out}/manifest.json", {file_name: entry}, separators=(",", ":"))
    return checkpoints.fill(module, entry)


def write_autoencoder(name, options, out):
    """Writes configuration, manifest and tensors of one autoencoder."""
    vae = write_module(families.autoencoder_kl(**options), f"autoencoder.{name}", out)
    save_tensors(modules.autoencoder(vae), f"{out}/golden.safetensors")


def write_causal_autoencoder(name, options, out):
    """Writes configuration, manifest and tensors of one autoencoder of clips."""
    vae = write_module(families.autoencoder_wan(**options), f"autoencoder.{name}", out)
    save_tensors(modules.causal_autoencoder(vae), f"{out}/golden.safetensors")


def write_clip_autoencoder(name, options, out):
    """Writes configuration, manifest and tensors of one of LTX-Video's autoencoders."""
    vae = write_module(families.autoencoder_ltx(**options), f"autoencoder.{name}", out)
    tensors = {**modules.clip_autoencoder(vae), **modules.tiled_clip_autoencoder(vae)}
    save_tensors(tensors, f"{out}/golden.safetensors")


def write_transformer(name, network, out):
    """Writes configuration, manifest and tensors of one transformer."""
    module = getattr(diffusers, network.kind)(**network.options)
    seed = hash_weights.salted(network.salt, f"transformer.{name}")
    module = write_module(module, seed, out, network.scales)
    save_tensors(modules.TRANSFORMERS[network.kind](module, network.prompts), f"{out}/golden.safetensors")


def write_tiny_autoencoder(name, options, out):
    """Writes manifest and tensors of the decoder of one tiny autoencoder."""
    vae = diffusers.AutoencoderTiny(**options)
    file_name = "diffusion_pytorch_model.safetensors"
    with tempfile.TemporaryDirectory() as folder:
        vae.save_pretrained(folder)
        entry = checkpoints.describe(f"{folder}/{file_name}", f"autoencoder_tiny.{name}")
    os.makedirs(out)
    checkpoints.write_json(f"{out}/manifest.json", {file_name: entry}, separators=(",", ":"))
    vae = checkpoints.fill(vae, entry)
    latents = modules.tensor("autoencoder_tiny.latents", 2, options["latent_channels"], 3, 5) * 2
    save_tensors({"decode.in": latents, "decode.out": vae.decode(latents).sample}, f"{out}/golden.safetensors")


def write_tiny_clip_autoencoder(name, options, doublings, shape, out):
    """Writes manifest and tensors of the decoder of one tiny autoencoder of clips."""
    with tempfile.TemporaryDirectory() as folder:
        save_file(tiny_clips.Decoder(**options).state_dict(), f"{folder}/{name}.safetensors")
        entry = checkpoints.describe(f"{folder}/{name}.safetensors", f"autoencoder_tiny.{name}")
    os.makedirs(out)
    checkpoints.write_json(f"{out}/manifest.json", {f"{name}.safetensors": entry}, separators=(",", ":"))
    tensors = {"decode.in": modules.tensor(f"autoencoder_tiny.{name}", *shape) * 2}
    for kept in doublings:
        decoder = checkpoints.fill(tiny_clips.Decoder(**options, doublings=kept), entry)
        tensors[f"decode.out.{kept}"] = decoder(tensors["decode.in"])
    save_tensors(tensors, f"{out}/golden.safetensors")


def write_all(out, names):
    """Writes the fixtures of these families and those that belong to none."""
    for name in names:
        shutil.rmtree(f"{out}/{name}", ignore_errors=True)
        write_family(name, f"{out}/{name}")
    for name, options in cases.AUTOENCODERS.items():
        shutil.rmtree(f"{out}/autoencoder/{name}", ignore_errors=True)
        write_autoencoder(name, options, f"{out}/autoencoder/{name}")
    for name, options in cases.CAUSAL_AUTOENCODERS.items():
        shutil.rmtree(f"{out}/autoencoder/{name}", ignore_errors=True)
        write_causal_autoencoder(name, options, f"{out}/autoencoder/{name}")
    for name, options in cases.CLIP_AUTOENCODERS.items():
        shutil.rmtree(f"{out}/autoencoder/{name}", ignore_errors=True)
        write_clip_autoencoder(name, options, f"{out}/autoencoder/{name}")
    for name, network in cases.TRANSFORMERS.items():
        shutil.rmtree(f"{out}/transformer/{name}", ignore_errors=True)
        write_transformer(name, network, f"{out}/transformer/{name}")
    shutil.rmtree(f"{out}/adapters", ignore_errors=True)
    save_tensors(adapters.formulas(), f"{out}/adapters/formulas.safetensors")
    for name, case in adapters.CASES.items():
        write_adapted(case, f"{out}/adapters/{name}")
    checkpoints.write_json(f"{out}/prompts.json", prompts.PROMPTS, indent=1)
    save_tensors(prompts.all_tensors(FIXTURES), f"{out}/prompts.safetensors")
    for name, options in cases.TINY_AUTOENCODERS.items():
        shutil.rmtree(f"{out}/autoencoder_tiny/{name}", ignore_errors=True)
        write_tiny_autoencoder(name, options, f"{out}/autoencoder_tiny/{name}")
    for name, case in cases.TINY_CLIP_AUTOENCODERS.items():
        shutil.rmtree(f"{out}/autoencoder_tiny/{name}", ignore_errors=True)
        write_tiny_clip_autoencoder(name, *case, f"{out}/autoencoder_tiny/{name}")
    checkpoints.write_json(f"{out}/parameters.json", likeness.parameters(), indent=1)
    save_tensors(tables.tensors(), f"{out}/tables/golden.safetensors")
    checkpoints.write_json(f"{out}/tables/configurations.json", tables.configurations(), indent=1)
    save_tensors(steering.tensors(save_case), f"{out}/steered_unets.safetensors")
    save_tensors(samplers.noise(), f"{out}/noise.safetensors")
    save_tensors(samplers.schedules(), f"{out}/schedules.safetensors")
    save_tensors(samplers.steps(), f"{out}/samplers.safetensors")
    save_tensors(walks.steps(), f"{out}/walks.safetensors")
    save_tensors(walks.spacings(), f"{out}/spacings.safetensors")
    save_tensors(modules.functions(), f"{out}/functions.safetensors")


def farthest(kept, made):
    """The largest difference between two safetensors files, relative to the largest value of a tensor."""
    kept, made = load_file(kept), load_file(made)
    if kept.keys() != made.keys():
        return float("inf")
    distances = [0.0]
    for name, value in kept.items():
        if value.shape != made[name].shape:
            return float("inf")
        scale = value.double().abs().max().clamp(min=1e-30)
        distances.append(float((value.double() - made[name].double()).abs().max() / scale))
    return max(distances)


def difference(kept, made):
    """How two files differ, if they do: tensors by more than another processor rounds, other files by a byte."""
    if not os.path.exists(kept):
        return "is new"
    if kept.endswith(".safetensors"):
        by = farthest(kept, made)
        return f"differs by {by:.1e} of the largest value" if by > ROUNDED else None
    with open(kept, "rb") as first, open(made, "rb") as second:
        return None if first.read() == second.read() else "differs"


def check(names):
    """Writes everything to a temporary folder and compares; the number of files that differ."""
    with tempfile.TemporaryDirectory() as folder:
        write_all(folder, names)
        made = [os.path.join(where, file) for where, _, files in os.walk(folder) for file in files]
        found = {path: difference(path.replace(folder, FIXTURES), path) for path in made}
        wrong = {path: how for path, how in found.items() if how}
        for path, how in wrong.items():
            print(f"{os.path.relpath(path, folder)} {how}")
    return len(wrong)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", nargs="*", default=list(cases.CASES), help="default: all")
    parser.add_argument("--check", action="store_true", help="write nothing, compare with the fixtures")
    parser.add_argument("--out", default=FIXTURES, help="where to write, if not to the fixtures")
    given = parser.parse_args()
    if given.check:
        sys.exit(1 if check(given.family) else 0)
    write_all(given.out, given.family)


if __name__ == "__main__":
    main()
