"""Measures what a ControlNet adds to a step, beside the time of its own forward pass, with Sluice and with diffusers.

    python engine/benches/control_net.py target/release/sluice [--only NAME…] [--size PIXELS] [--threads COUNT]

Needs torch and diffusers (versions in tests/reference/requirements.txt), 24 GB of memory for SDXL, and 15 GB of disk for
checkpoints of random weights in f16, which both programs compute with in f32. The model of FLUX.1 has two blocks of each
kind at full width and its ControlNet one; the others are whole. Only SD 1.5 runs with guidance.

Every run is a process of its own; they take turns and the fastest step of each counts. Sluice's own pass is the time that
its telemetry has for the blocks of the ControlNet in a step. The pass of diffusers embeds the map, too, which Sluice does
once before the first step.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROUNDS = 3
STEPS = 3
FLUX_BLOCKS = 2
T5_TOKENS = 512
NET = "control_net."


@dataclass
class Case:
    """A model and how it is run."""

    title: str
    like: str
    size: int
    branches: int


CASES = {
    "sd-1.5": Case("SD 1.5", "sd-1.5", 256, 2),
    "sdxl": Case("SDXL", "sdxl", 512, 1),
    "flux": Case("FLUX.1, four blocks", "flux.1-dev", 512, 1),
}


def tensors_in(path):
    """Names and shapes of the tensors of a safetensors file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return {name: entry["shape"] for name, entry in header.items() if name != "__metadata__"}


def filled(path, is_kept):
    """Writes random weights into a file that has none, for the tensors that are kept."""
    import torch
    from safetensors.torch import save_file

    def values(name, shape):
        """Norms and biases are constant."""
        if len(shape) > 1:
            return torch.randn(shape, dtype=torch.float16) * 0.02
        return torch.full(shape, 0.0 if name.endswith("bias") else 1.0, dtype=torch.float16)

    shapes = tensors_in(path)
    path.unlink()
    save_file({name: values(name, shape) for name, shape in shapes.items() if is_kept(name)}, path, {"format": "pt"})


def with_few_blocks(model):
    """Fills a FLUX.1 model without weights, with a part of its blocks."""
    for path in model.rglob("*.safetensors"):
        # transformer_blocks.7.… is block 7.
        filled(path, lambda name: "transformer_blocks." not in name or int(name.split(".")[1]) < FLUX_BLOCKS)
    config = model / "transformer" / "config.json"
    shape = dict(num_layers=FLUX_BLOCKS, num_single_layers=FLUX_BLOCKS)
    config.write_text(json.dumps(json.loads(config.read_text()) | shape))


def make(name, program, folder):
    """Writes the model of a case and a ControlNet for it."""
    import torch
    from diffusers import ControlNetModel, FluxControlNetModel, FluxTransformer2DModel, UNet2DConditionModel

    model, is_flux = Path(folder) / "model", name == "flux"
    command = [program, "bench", "make-checkpoint", "--like", CASES[name].like, "--output", model, "--dtype", "f16", "--quiet"]
    command += ["--text-layers", "1", "--hollow"] if is_flux else ["--text-layers", "2"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    torch.manual_seed(0)
    if is_flux:
        with_few_blocks(model)
        config = dict(FluxTransformer2DModel.load_config(model, subfolder="transformer"), num_layers=1, num_single_layers=1)
        net = FluxControlNetModel.from_config(config)
    else:
        net = ControlNetModel.from_unet(UNet2DConditionModel.from_pretrained(model, subfolder="unet", torch_dtype=torch.float16))
    net.half().save_pretrained(Path(folder) / "net")


def unet_calls(case, size, model, net):
    """Functions of a step alone, of the ControlNet, and of a step with what that gives."""
    import torch
    from diffusers import ControlNetModel, UNet2DConditionModel

    unet = UNet2DConditionModel.from_pretrained(model, subfolder="unet", torch_dtype=torch.float32).eval()
    net = ControlNetModel.from_pretrained(net, torch_dtype=torch.float32).eval()
    count, latents = case.branches, size // 8
    inputs = dict(
        sample=torch.randn(count, 4, latents, latents), timestep=500, return_dict=False,
        encoder_hidden_states=torch.randn(count, 77, unet.config.cross_attention_dim),
    )
    if unet.config.addition_embed_type:
        inputs["added_cond_kwargs"] = dict(text_embeds=torch.randn(count, 1280), time_ids=torch.full((count, 6), float(size)))
    image = torch.rand(count, 3, size, size)

    def steered(given):
        """With what the ControlNet gives."""
        return unet(down_block_additional_residuals=given[0], mid_block_additional_residual=given[1], **inputs)

    return lambda: unet(**inputs), lambda: net(controlnet_cond=image, **inputs), steered


def flux_calls(case, size, model, net):
    """The same for FLUX.1."""
    import torch
    from diffusers import FluxControlNetModel, FluxTransformer2DModel

    transformer = FluxTransformer2DModel.from_pretrained(model, subfolder="transformer", torch_dtype=torch.float32).eval()
    net = FluxControlNetModel.from_pretrained(net, torch_dtype=torch.float32).eval()
    side, count = size // 16, case.branches
    places = torch.zeros(side * side, 3)
    places[:, 1], places[:, 2] = torch.arange(side * side) // side, torch.arange(side * side) % side
    inputs = dict(
        hidden_states=torch.randn(count, side * side, 64), encoder_hidden_states=torch.randn(count, T5_TOKENS, 4096),
        pooled_projections=torch.randn(count, 768), timestep=torch.full((count,), 0.5), img_ids=places,
        txt_ids=torch.zeros(T5_TOKENS, 3), guidance=torch.full((count,), 3.5), return_dict=False,
    )
    image = torch.randn(count, side * side, 64)

    def steered(given):
        """With what the ControlNet gives."""
        return transformer(controlnet_block_samples=given[0], controlnet_single_block_samples=given[1], **inputs)

    return lambda: transformer(**inputs), lambda: net(controlnet_cond=image, **inputs), steered


def theirs(name, size, folder, threads):
    """Prints the seconds of a step alone and with the ControlNet, and of the ControlNet, with diffusers."""
    import torch

    torch.set_num_threads(int(threads))
    calls = flux_calls if name == "flux" else unet_calls
    alone, own, steered = calls(CASES[name], int(size), Path(folder) / "model", Path(folder) / "net")

    def taken(call, *given):
        """The seconds of a call, and its result."""
        start = time.perf_counter()
        result = call(*given)
        return time.perf_counter() - start, result

    rows = []
    with torch.no_grad():
        for _ in range(STEPS + 1):
            passed, given = taken(own)
            rows.append((taken(alone)[0], passed + taken(steered, given)[0], passed))
    print(json.dumps([min(column) for column in zip(*rows[1:])]))


def said(command, threads):
    """The last line that a command prints."""
    environment = dict(os.environ, RAYON_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]


def our_steps(given, name, folder, is_steered):
    """Seconds of our fastest step, and of the blocks of the ControlNet in the step in which they took the least."""
    case, telemetry = CASES[name], folder / "run.jsonl"
    size = str(given.size or case.size)
    command = [
        given.program, "generate", "--model", folder / "model", "--prompt", "a lighthouse", "--seed", "1",
        "--width", size, "--height", size, "--steps", str(STEPS), "--dtype", "f32", "--threads", given.threads,
        "--telemetry", telemetry, "--output", folder / "out.png", "--quiet",
    ]
    command += [] if name == "flux" else ["--guidance", "7" if case.branches == 2 else "1"]
    if is_steered:
        command += ["--control-net", folder / "net", "--control-image", folder / "map.png"]
    said(command, given.threads)
    lines = [json.loads(line) for line in telemetry.read_text().splitlines()]
    # A run that changes its plan has several; blocks are named in the one before them.
    names, own, steps = [], [], []
    for line in lines:
        if line["kind"] == "plan":
            names = [[block["name"] for block in component["blocks"]] for component in line["components"]]
        if line["kind"] == "block" and names[line["component"]][line["block"]].startswith(NET):
            own.append((line["at"], line["compute"]))
        if line["kind"] == "step":
            begun = line["at"] - line["took"]
            passed = sum(compute for at, compute in own if begun <= at <= line["at"])
            steps.append((line["took"] / 1e6, passed / 1e6))
    return tuple(map(min, zip(*steps)))


def row(given, name, folder):
    """The row of a case."""
    from PIL import Image

    size = given.size or CASES[name].size
    subprocess.run([sys.executable, "-W", "ignore", __file__, "--make", name, given.program, folder], check=True)
    Image.linear_gradient("L").resize((size, size)).convert("RGB").save(folder / "map.png")
    alone, steered, other = [], [], []
    reference = [sys.executable, "-W", "ignore", __file__, "--theirs", name, str(size), folder, given.threads]
    for _ in range(given.rounds):
        alone.append(our_steps(given, name, folder, False)[0])
        steered.append(our_steps(given, name, folder, True))
        other.append(json.loads(said(reference, given.threads)))
    before, (after, own) = min(alone), map(min, zip(*steered))
    their_before, their_after, their_own = map(min, zip(*other))
    added, their_added = after - before, their_after - their_before
    ours = f"{before:.2f} | {after:.2f} | {added:.2f} | {own:.2f} | {added / own:.2f}"
    beside = f"{their_before:.2f} | {their_after:.2f} | {their_added:.2f} | {their_own:.2f} | {added / their_own:.2f}"
    return f"| {CASES[name].title}, {size}² | {ours} | {beside} |"


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--size", type=int, metavar="PIXELS", help="a side of the image, for all cases")
    parser.add_argument("--threads", default="2", metavar="COUNT")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="COUNT")
    given = parser.parse_args()
    ours = "Sluice: alone (s) | with it | it adds | its blocks | adds / blocks"
    print(f"| {given.threads} threads, f32 | {ours} | diffusers: alone | with it | it adds | its pass | Sluice adds / its pass |")
    print(f"| --- |{' ---: |' * 10}", flush=True)
    for name in given.only:
        folder = Path(tempfile.mkdtemp())
        try:
            print(row(given, name, folder), flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--theirs"]:
        theirs(*sys.argv[2:])
    elif sys.argv[1:2] == ["--make"]:
        make(*sys.argv[2:])
    else:
        main()
