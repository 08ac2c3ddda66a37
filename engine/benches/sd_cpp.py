"""Compares Sluice with stable-diffusion.cpp on this processor: a step and a decode of Stable Diffusion 1.5, 512x512.

    python engine/benches/sd_cpp.py SLUICE [THREADS]

SLUICE is the program. Needs stable-diffusion-cpp-python, which pip compiles for this processor
(CMAKE_BUILD_PARALLEL_LEVEL=2 pip install stable-diffusion-cpp-python==0.4.7), and 2.2 GB for the checkpoint of random
weights. Each way of stable-diffusion.cpp runs between two runs of Sluice, each in a process of its own; the fastest
step and the fastest decode of each count. Euler without guidance, so that a step is one call of the UNet.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS = 3
SIDE = 512
PROMPT = "a lighthouse on a cliff above the sea at dusk"
WAYS = {
    "as it comes, f16 weights": dict(),
    "as it comes, f32 weights": dict(wtype="f32"),
    "direct convolutions, f16 weights": dict(diffusion_conv_direct=True, vae_conv_direct=True),
}


def ours(program, model, threads, folder):
    """Our seconds of a step and of the decode, and the peak in bytes."""
    report = folder / "ours.json"
    command = [
        program, "bench", "run", "--model", model, "--width", str(SIDE), "--height", str(SIDE), "--steps", str(STEPS),
        "--guidance", "1", "--ways", "resident", "--prompt", PROMPT, "--json", report, "--quiet",
    ]
    environment = dict(os.environ, RAYON_NUM_THREADS=threads)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    row = json.loads(report.read_text())["rows"][0]
    return row["step_seconds"], row["decode_seconds"], row["process_peak"]


def theirs(model, threads, way):
    """The same of stable-diffusion.cpp, in a process of its own."""
    command = [sys.executable, __file__, "--draw", model, threads, json.dumps(way)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return json.loads(lines[-1])


def draw(model, threads, way):
    """Draws with stable-diffusion.cpp and prints what it took."""
    import resource

    from stable_diffusion_cpp import StableDiffusion

    program = StableDiffusion(model_path=model, n_threads=int(threads), vae_decode_only=True, verbose=False, **way)
    ends = []
    program.generate_image(
        prompt=PROMPT, width=SIDE, height=SIDE, cfg_scale=1.0, sample_steps=STEPS, sample_method="euler",
        scheduler="discrete", seed=0, progress_callback=lambda *_: ends.append(time.perf_counter()),
    )
    decoded = time.perf_counter()
    # Called before the first step as well; each later call comes at the end of a step.
    steps = [after - before for before, after in zip(ends, ends[1:])]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps([min(steps), decoded - ends[-1], peak]))


def main(program, threads="2"):
    """Prints the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "sd-1.5"
        make = [program, "bench", "make-checkpoint", "--like", "sd-1.5", "--output", model, "--dtype", "f16", "--quiet"]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        runs = [ours(program, model, threads, folder)]
        rows = {}
        for title, way in WAYS.items():
            rows[title] = theirs(str(model), threads, way)
            runs.append(ours(program, model, threads, folder))
    best = [min(values) for values in zip(*runs)]
    print(f"| {threads} threads | a step (s) | / Sluice | decode (s) | / Sluice | peak (GB) |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for title, (step, decode, peak) in {"Sluice, f32": best, **rows}.items():
        print(f"| {title} | {step:.1f} | {step / best[0]:.2f} | {decode:.1f} | {decode / best[1]:.2f} | {peak / 1e9:.1f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--draw"]:
        draw(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))
    else:
        main(*sys.argv[1:])
