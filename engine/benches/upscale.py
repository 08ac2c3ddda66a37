"""Compares Sluice with PyTorch on enlarging one picture: seconds, PyTorch's divided by ours, and memory.

    python engine/benches/upscale.py target/release/sluice MODEL.safetensors [THREADS] [SIDE]

Needs torch and spandrel. Each program runs in a process of its own with the same number of threads, in turns; the fastest
of each counts. Ours is what the engine says of the stage, which reads the weights from disk; PyTorch's is a call of the
network in f32 without gradients, after one that warms up.
"""
import json
import os
import subprocess
import sys
import tempfile

ROUNDS = 3


def theirs(model, side):
    """Seconds of a call of PyTorch, printed."""
    import time

    import spandrel
    import torch
    from safetensors.torch import load_file

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    state = {name: value.float() for name, value in load_file(model).items()}
    network = spandrel.ModelLoader().load_from_state_dict(state).model.eval()
    picture, best = torch.rand(1, 3, side, side), float("inf")
    with torch.inference_mode():
        for _ in range(3):
            start = time.perf_counter()
            network(picture)
            best = min(best, time.perf_counter() - start)
    print(json.dumps({"seconds": best}))


def picture(side, folder):
    """A picture with noise, in a file."""
    import numpy
    from PIL import Image

    path = os.path.join(folder, "in.png")
    Image.fromarray(numpy.random.default_rng(1).integers(0, 255, (side, side, 3), numpy.uint8)).save(path)
    return path


def measured(command, threads):
    """What a command prints, and the most memory that it took, in bytes."""
    environment = dict(os.environ, RAYON_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines = [json.loads(line) for line in process.stdout.read().splitlines() if line.startswith("{")]
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    return lines, usage.ru_maxrss * 1024


def ours(program, model, path, threads):
    """Seconds of the stage, and the most memory of the process."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.png")
        command = [program, "upscale", path, "--model", model, "--scale", "4", "--output", out, "--json"]
        lines, memory = measured([*command, "--threads", threads], threads)
    seconds = next(line["seconds"] for line in lines if line.get("event") == "stage_finished")
    return seconds, memory


def main():
    """The command line."""
    program, model, *rest = sys.argv[1:]
    threads, side = (rest + ["2", "512"][len(rest) :])[:2]
    with tempfile.TemporaryDirectory() as folder:
        path, runs = picture(int(side), folder), []
        for _ in range(ROUNDS):
            lines, memory = measured([sys.executable, __file__, "theirs", model, side], threads)
            runs.append([ours(program, model, path, threads), (lines[0]["seconds"], memory)])
    (mine, my_memory), (other, other_memory) = [tuple(map(min, zip(*column))) for column in zip(*runs)]
    print(f"| {side}² to four times, {threads} threads | Sluice (s) | PyTorch (s) | PyTorch / Sluice | memory (GB) | of PyTorch's |")
    print("|---|---|---|---|---|---|")
    name = os.path.basename(model)
    print(f"| {name} | {mine:.2f} | {other:.2f} | {other / mine:.2f} | {my_memory / 1e9:.2f} | {my_memory / other_memory:.2f} |")


if __name__ == "__main__":
    if sys.argv[1] == "theirs":
        theirs(sys.argv[2], int(sys.argv[3]))
    else:
        main()
