"""Measures how long Stable Diffusion 1.5 takes from files that are not in the system's cache to an image of 64x64 in one
step, beside the time of reading those files alone, with Sluice and with diffusers.

    python engine/benches/load.py SLUICE [THREADS]

SLUICE is the program. Needs torch and diffusers (versions in tests/reference/requirements.txt), Linux, whose cache of a file
can be emptied without rights, and 7 GB of disk for checkpoints of random weights. Every run is a process of its own; they
take turns and the fastest of each counts. Sluice's seconds are those of the run, which loads and draws, and those of the
whole process, which also measures the processor; diffusers' are those of loading and drawing after its imports.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
WEIGHTS = "diffusion_pytorch_model"
SHARDS = 3


def files_of(model):
    """The files of a model."""
    return [path for path in Path(model).rglob("*") if path.is_file()]


def forget(model):
    """Empties the cache of the files of a model."""
    for path in files_of(model):
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def read(model):
    """Seconds of reading all files."""
    piece, start = memoryview(bytearray(8 << 20)), time.perf_counter()
    for path in files_of(model):
        with open(path, "rb", buffering=0) as file:
            while file.readinto(piece):
                pass
    return time.perf_counter() - start


def measured(command, threads):
    """What a command prints, its seconds, and the most memory that it took, in bytes."""
    environment = dict(os.environ, RAYON_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed: {text}")
    return text, time.perf_counter() - start, usage.ru_maxrss * 1024


def ours(program, model, threads, folder):
    """Seconds of our run and of its process, and the peak in bytes."""
    command = [
        program, "generate", "--model", model, "--width", "64", "--height", "64", "--steps", "1", "--seed", "1",
        "--prompt", "a lighthouse", "--output", folder / "image.png",
    ]
    text, seconds, peak = measured(command, threads)
    amount, unit = re.search(r"done in ([\d.]+) (s|ms)\b", text).groups()
    return float(amount) * {"s": 1, "ms": 1e-3}[unit], seconds, peak


def theirs(model, threads):
    """Seconds of loading and drawing with diffusers, and the peak in bytes."""
    text, _, peak = measured([sys.executable, "-W", "ignore", __file__, "--draw", model, threads], threads)
    return float(text.splitlines()[-1]), peak


def draw(model, threads):
    """Loads with diffusers, draws, and prints the seconds."""
    import torch
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import CLIPTextModel

    torch.set_num_threads(int(threads))
    start = time.perf_counter()
    with torch.no_grad():
        encoder = CLIPTextModel.from_pretrained(model, subfolder="text_encoder", dtype=torch.float32)
        embeddings = encoder(torch.full((2, 77), 320)).last_hidden_state
        unet = UNet2DConditionModel.from_pretrained(model, subfolder="unet", torch_dtype=torch.float32)
        latents = unet(torch.randn(2, 4, 8, 8), 500, embeddings).sample[:1]
        autoencoder = AutoencoderKL.from_pretrained(model, subfolder="vae", torch_dtype=torch.float32)
        autoencoder.decode(latents)
    print(time.perf_counter() - start)


def made(program, folder):
    """Models by title, and whether diffusers reads them."""
    whole, shards, packed = (folder / name for name in ("whole", "shards", "packed"))
    command = [program, "bench", "make-checkpoint", "--like", "sd1.5", "--output", whole, "--dtype", "f16", "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    from safetensors import safe_open
    from safetensors.torch import save_file

    shutil.copytree(whole, shards)
    stored = shards / "unet" / f"{WEIGHTS}.safetensors"
    places = {}
    with safe_open(stored, "pt") as tensors:
        names = list(tensors.keys())
        share = -(-len(names) // SHARDS)
        for number in range(SHARDS):
            part = names[number * share:(number + 1) * share]
            name = f"{WEIGHTS}-{number + 1:05}-of-{SHARDS:05}.safetensors"
            save_file({own: tensors.get_tensor(own) for own in part}, stored.with_name(name), {"format": "pt"})
            places |= dict.fromkeys(part, name)
    stored.with_name(f"{WEIGHTS}.safetensors.index.json").write_text(json.dumps(dict(metadata={}, weight_map=places)))
    stored.unlink()

    for name in ("diffusion_models", "text_encoders", "vae"):
        (packed / name).mkdir(parents=True)
    command = [program, "convert", whole / "unet", packed / "diffusion_models" / "unet-Q8_0.gguf", "--type", "q8_0", "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    shutil.copy(whole / "text_encoder" / "model.safetensors", packed / "text_encoders" / "clip_l.safetensors")
    shutil.copy(whole / "vae" / f"{WEIGHTS}.safetensors", packed / "vae" / "vae.safetensors")
    return {
        "a folder, f16": (whole, whole, True),
        f"{SHARDS} shards, f16": (shards, shards, True),
        "GGUF, Q8_0": (packed, packed / "diffusion_models" / "unet-Q8_0.gguf", False),
    }


def main(program, threads="2"):
    """Prints the table."""
    print(f"| {threads} threads | read alone (s) | run (s) | / reading | from the cache (s) | process (s) | peak (GB) | diffusers (s) | / run | its peak (GB) |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, (files, model, is_read_by_both) in made(program, folder).items():
            alone, own, warm, other = [], [], [], []
            for _ in range(ROUNDS):
                forget(files)
                alone.append(read(files))
                forget(files)
                own.append(ours(program, model, threads, folder))
                warm.append(ours(program, model, threads, folder)[0])
                if is_read_by_both:
                    forget(files)
                    other.append(theirs(str(model), threads))
            alone, warm, (run, process, peak) = min(alone), min(warm), (min(side) for side in zip(*own))
            row = f"{alone:.2f} | {run:.2f} | {run / alone:.2f} | {warm:.2f} | {process:.2f} | {peak / 1e9:.2f}"
            beside = "– | – | –"
            if other:
                seconds, its_peak = (min(side) for side in zip(*other))
                beside = f"{seconds:.2f} | {seconds / run:.2f} | {its_peak / 1e9:.2f}"
            print(f"| {title} | {row} | {beside} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--draw":
        draw(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
