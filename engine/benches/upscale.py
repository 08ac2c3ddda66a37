"""Compares Sluice with PyTorch on enlarging one picture to four times: seconds, PyTorch's divided by ours, and memory.

    python engine/benches/upscale.py target/release/sluice [--only NAME…] [--size PIXELS] [--threads COUNT] [--model FILE]

Needs torch and spandrel 0.4.2. All upscalers but the one that comes with Sluice have the shapes of published ones and random
weights. Those that Sluice refuses are named and left out. Each program runs in a process of its own with the same number of
threads, in turns; the fastest run of each counts, and the least peak of memory. Ours is what the engine says of the stage,
which reads the weights from disk; PyTorch's is a call of the network in f32 without gradients. It is called three times in a
process, or until 20 seconds have passed, so that slow networks are not warmed up.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
CALLS = 3
ENOUGH = 20
FACTOR = 4
SHIPPED = Path(__file__).parents[2] / "assets/upscaler/realesr-animevideov3-x4.safetensors"
TITLES = {
    "shipped": "realesr-animevideov3, the one that comes with Sluice",
    "compact": "Compact, 64 wide, 32 convolutions",
    "span": "SPAN, 48 wide",
    "esrgan": "ESRGAN, 64 wide, 23 blocks",
    "realplksr": "RealPLKSR, 64 wide, 28 blocks",
    "dat-light": "DAT light",
    "dat-s": "DAT-S",
    "swinir-s": "SwinIR-S",
    "swinir-m": "SwinIR-M",
    "hat-s": "HAT-S",
    "hat": "HAT",
}


class Refused(Exception):
    """A command failed: its exit status, and what it said."""


def network(name):
    """A network with the shape of a published one, and random weights."""
    from spandrel.architectures.Compact import Compact
    from spandrel.architectures.DAT import DAT
    from spandrel.architectures.ESRGAN import ESRGAN
    from spandrel.architectures.HAT import HAT
    from spandrel.architectures.PLKSR import RealPLKSR
    from spandrel.architectures.SPAN import SPAN
    from spandrel.architectures.SwinIR import SwinIR

    six = [6] * 6
    dat = dict(upscale=FACTOR, expansion_factor=2.0, img_size=64)
    swinir = dict(upscale=FACTOR, window_size=8, mlp_ratio=2.0, img_size=64)
    hat = dict(upscale=FACTOR, depths=six, num_heads=six, window_size=16, mlp_ratio=2.0, img_size=64)
    return {
        "compact": lambda: Compact(num_feat=64, num_conv=32, upscale=FACTOR),
        "span": lambda: SPAN(num_in_ch=3, num_out_ch=3, feature_channels=48, upscale=FACTOR),
        "esrgan": lambda: ESRGAN(num_filters=64, num_blocks=23, scale=FACTOR),
        "realplksr": lambda: RealPLKSR(dim=64, n_blocks=28, upscaling_factor=FACTOR, kernel_size=17),
        "dat-light": lambda: DAT(
            embed_dim=60, depth=[18], num_heads=[6], split_size=[8, 32], resi_connection="3conv",
            upsampler="pixelshuffledirect", **dat,
        ),
        "dat-s": lambda: DAT(embed_dim=180, depth=six, num_heads=six, split_size=[8, 16], **dat),
        "swinir-s": lambda: SwinIR(
            embed_dim=60, depths=[6] * 4, num_heads=[6] * 4, upsampler="pixelshuffledirect", **swinir
        ),
        "swinir-m": lambda: SwinIR(embed_dim=180, depths=six, num_heads=six, upsampler="nearest+conv", **swinir),
        "hat-s": lambda: HAT(embed_dim=144, compress_ratio=24, squeeze_factor=24, **hat),
        "hat": lambda: HAT(embed_dim=180, compress_ratio=3, squeeze_factor=30, **hat),
    }[name]()


def make(name, path):
    """Writes the file of a network."""
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(0)
    save_file({key: value.clone() for key, value in network(name).state_dict().items()}, path)


def theirs(model, side):
    """Seconds of a call of PyTorch, printed."""
    import spandrel
    import torch
    from safetensors.torch import load_file

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    state = {name: value.float() if value.is_floating_point() else value for name, value in load_file(model).items()}
    called = spandrel.ModelLoader().load_from_state_dict(state).model.eval()
    picture, best, begun = torch.rand(1, 3, int(side), int(side)), float("inf"), time.perf_counter()
    with torch.inference_mode():
        for _ in range(CALLS):
            start = time.perf_counter()
            called(picture)
            best = min(best, time.perf_counter() - start)
            if time.perf_counter() - begun > ENOUGH:
                break
    print(json.dumps({"seconds": best}))


def picture(side, folder):
    """A picture with noise, in a file."""
    import numpy
    from PIL import Image

    path = folder / "in.png"
    Image.fromarray(numpy.random.default_rng(1).integers(0, 255, (side, side, 3), numpy.uint8)).save(path)
    return path


def measured(command, threads, folder):
    """What a command prints, and the most memory that it took, in bytes."""
    environment = dict(os.environ, RAYON_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
    said = folder / "said.txt"
    with open(said, "w", encoding="utf-8") as file:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=file, text=True)
        lines = [json.loads(line) for line in process.stdout if line.startswith("{")]
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise Refused(f"{command[0]}: status {os.waitstatus_to_exitcode(status)}: {said.read_text(encoding='utf-8').strip()}")
    return lines, usage.ru_maxrss * 1024


def our_run(given, model, path, folder):
    """Seconds of the stage, and the most memory of the process."""
    command = [
        given.program, "upscale", path, "--model", model, "--scale", str(FACTOR), "--output", folder / "out.png", "--json",
        "--threads", given.threads,
    ]
    lines, memory = measured(command, given.threads, folder)
    return next(line["seconds"] for line in lines if line.get("event") == "stage_finished"), memory


def their_run(given, model, folder):
    """The same for PyTorch."""
    lines, memory = measured([sys.executable, __file__, "--theirs", model, str(given.size)], given.threads, folder)
    return lines[0]["seconds"], memory


def row(given, model, title, path, folder):
    """The row of an upscaler."""
    runs = [(our_run(given, model, path, folder), their_run(given, model, folder)) for _ in range(given.rounds)]
    (mine, my_memory), (other, other_memory) = [tuple(map(min, zip(*column))) for column in zip(*runs)]
    return f"| {title} | {mine:.2f} | {other:.2f} | {other / mine:.2f} | {my_memory / 1e9:.2f} | {other_memory / 1e9:.2f} |"


def models(given, folder):
    """The titles of the upscalers and their files, which are written when their turn comes."""
    if given.model:
        yield given.model.name, given.model
        return
    for name in given.only:
        if name == "shipped":
            yield TITLES[name], SHIPPED
            continue
        path = folder / f"{name}.safetensors"
        # Memory that this process once took would count as that of the processes that it starts.
        subprocess.run([sys.executable, "-W", "ignore", __file__, "--make", name, path], check=True)
        yield TITLES[name], path
        path.unlink()


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", nargs="+", choices=TITLES, default=list(TITLES), metavar="NAME", help=", ".join(TITLES))
    parser.add_argument("--size", type=int, default=512, metavar="PIXELS", help="a side of the picture")
    parser.add_argument("--threads", default="2", metavar="COUNT")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="COUNT")
    parser.add_argument("--model", type=Path, metavar="FILE", help="measure this upscaler")
    given = parser.parse_args()
    print(f"| {given.size}² to four times, {given.threads} threads, f32 | Sluice (s) | PyTorch (s) | PyTorch / Sluice | memory (GB) | PyTorch's (GB) |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, refused = picture(given.size, folder), []
        for title, model in models(given, folder):
            try:
                print(row(given, model, title, path, folder), flush=True)
            except Refused as error:
                refused.append(f"{title}: {error}")
    print("\n".join(refused))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--theirs"]:
        theirs(*sys.argv[2:])
    elif sys.argv[1:2] == ["--make"]:
        make(*sys.argv[2:])
    else:
        main()
