"""Times the transformer of a checkpoint in diffusers and writes what it took as JSON.

One process a mode, so that the peak of its memory is that mode's own. A step is one call of the transformer with a
whole batch, without autograd. Modes:

  resident       all weights on the device
  model-offload  the weights come before the first step and go after the last; that is part of the steps' time
  group-offload  blocks come one by one, copied on a stream of their own where there is a card
  leaf-offload   the same layer by layer
"""

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path

# What was brought along, see packaging/README.md. What the machine has of its own comes first.
if os.environ.get("SLUICE_BENCH_WHEELS"):
    sys.path.append(os.environ["SLUICE_BENCH_WHEELS"])

import diffusers
import torch

LATENT = 8
PATCH = 2


def flux(config, request, dtype, device):
    """The arguments of FLUX.1's transformer."""
    rows, columns = request.height // (LATENT * PATCH), request.width // (LATENT * PATCH)
    image, batch = rows * columns, request.batch
    text = request.tokens or 512

    def noise(*shape):
        return torch.randn(*shape, dtype=dtype, device=device)

    grid = torch.zeros(rows, columns, 3, device=device)
    grid[..., 1] += torch.arange(rows, device=device)[:, None]
    grid[..., 2] += torch.arange(columns, device=device)[None, :]
    return {
        "hidden_states": noise(batch, image, config.in_channels),
        "encoder_hidden_states": noise(batch, text, config.joint_attention_dim),
        "pooled_projections": noise(batch, config.pooled_projection_dim),
        "timestep": torch.full((batch,), 0.5, dtype=dtype, device=device),
        "guidance": torch.full((batch,), 3.5, device=device) if config.guidance_embeds else None,
        "img_ids": grid.reshape(image, 3).to(dtype),
        "txt_ids": torch.zeros(text, 3, dtype=dtype, device=device),
        "return_dict": False,
    }


def z_image(config, request, dtype, device):
    """The arguments of Z-Image's transformer: lists, one entry a picture."""
    sides = request.height // LATENT, request.width // LATENT

    def noise(*shape):
        return [torch.randn(*shape, dtype=dtype, device=device) for _ in range(request.batch)]

    return {
        "x": noise(config.in_channels, 1, *sides),
        "t": torch.full((request.batch,), 0.5, dtype=dtype, device=device),
        "cap_feats": noise(request.tokens or 20, config.cap_feat_dim),
        "return_dict": False,
    }


def unet(config, request, dtype, device):
    """The arguments of the UNet of Stable Diffusion and SDXL, with both branches of guidance."""
    batch, tokens = 2 * request.batch, request.tokens or 77

    def noise(*shape):
        return torch.randn(*shape, dtype=dtype, device=device)

    added = {"text_embeds": noise(batch, 1280), "time_ids": torch.zeros(batch, 6, dtype=dtype, device=device)}
    return {
        "sample": noise(batch, config.in_channels, request.height // LATENT, request.width // LATENT),
        "timestep": torch.tensor(500, device=device),
        "encoder_hidden_states": noise(batch, tokens, config.cross_attention_dim),
        "added_cond_kwargs": added if config.addition_embed_type else None,
        "return_dict": False,
    }


INPUTS = {"FluxTransformer2DModel": flux, "ZImageTransformer2DModel": z_image, "UNet2DConditionModel": unet}


def decode(request, dtype, device):
    """Seconds to decode one picture, and the peak of VRAM meanwhile."""
    model = diffusers.AutoencoderKL.from_pretrained(request.model / "vae", torch_dtype=dtype).eval().to(device)
    sides = request.height // LATENT, request.width // LATENT
    latents = torch.randn(1, model.config.latent_channels, *sides, dtype=dtype, device=device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    times = []
    with torch.inference_mode():
        for _ in range(3):
            started = time.perf_counter()
            model.decode(latents, return_dict=False)[0].float().cpu()
            times.append(time.perf_counter() - started)
    peak = torch.cuda.max_memory_allocated() if device.type == "cuda" else None
    return {"decode_seconds": min(times), "decode_peak": peak}


def peak_of_process():
    """Bytes that this process held at most, since the last call of `forget_peak` where there is one."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def forget_peak():
    """Counts the peak anew: what loading takes beside the weights is not what running takes."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError as error:
        print(f"the peak of RAM includes loading: {error}", file=sys.stderr)


def place(model, mode, device):
    """Puts the weights where a mode has them before the first step."""
    if mode == "resident":
        model.to(device)
    elif mode in ("group-offload", "leaf-offload"):
        streamed = device.type == "cuda"
        block = {"offload_type": "block_level", "num_blocks_per_group": 1}
        kind = block if mode == "group-offload" else {"offload_type": "leaf_level"}
        cpu = torch.device("cpu")
        model.enable_group_offload(onload_device=device, offload_device=cpu, use_stream=streamed, **kind)


def run(model, mode, inputs, steps, device):
    """Seconds of each step, with what a mode does before and after them."""
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    times = []
    with torch.inference_mode():
        for step in range(steps):
            wait()
            started = time.perf_counter()
            if mode == "model-offload" and step == 0:
                model.to(device)
            model(**inputs)
            if mode == "model-offload" and step == steps - 1:
                model.to("cpu")
            wait()
            times.append(time.perf_counter() - started)
    return times


def main():
    """Measures one mode."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="a checkpoint that `sluice bench make-checkpoint` wrote")
    parser.add_argument("--mode", default="resident", choices=("resident", "model-offload", "group-offload", "leaf-offload"))
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--height", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--tokens", type=int, help="tokens of the prompt; those of the model's pipeline if absent")
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float16", "float32"))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--json", type=Path)
    request = parser.parse_args()

    torch.manual_seed(0)
    device, dtype = torch.device(request.device), getattr(torch, request.dtype)
    folder = next(folder for part in ("transformer", "unet") if (folder := request.model / part).is_dir())
    name = json.loads((folder / "config.json").read_text())["_class_name"]
    if name not in INPUTS:
        parser.error(f"{name} is not known here, only {' and '.join(INPUTS)}")
    model = getattr(diffusers, name).from_pretrained(folder, torch_dtype=dtype).eval()
    loading = peak_of_process()
    forget_peak()
    inputs = INPUTS[name](model.config, request, dtype, device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    place(model, request.mode, device)
    # What is compiled, tuned and pinned once is not a step's time.
    run(model, request.mode, inputs, 2, device)
    times = run(model, request.mode, inputs, request.steps, device)
    # Loading and unloading are spread over the steps where that is what a mode does.
    step = sum(times) / len(times) if request.mode == "model-offload" else sorted(times)[len(times) // 2]
    result = {
        "mode": request.mode, "class": name, "step_seconds": step, "steps_seconds": times,
        "process_peak": peak_of_process(), "loading_peak": loading,
        "weights": sum(weight.numel() * weight.element_size() for weight in model.parameters()),
        "torch": torch.__version__, "diffusers": diffusers.__version__,
    }  # fmt: skip
    if device.type == "cuda":
        result |= {
            "device": torch.cuda.get_device_name(), "peak_allocated": torch.cuda.max_memory_allocated(),
            "peak_reserved": torch.cuda.max_memory_reserved(),
        }  # fmt: skip
    if request.mode == "resident":
        del model, inputs
        result |= decode(request, dtype, device)
    text = json.dumps(result, indent=1)
    if request.json:
        request.json.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
