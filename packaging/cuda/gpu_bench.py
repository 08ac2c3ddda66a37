"""Measures Sluice on a card, PyTorch beside it, and says whether the goals are met. See `gpu-bench`.

Parts:
  1  link and matrix products: the two ceilings
  2  exactness: latents of every step, streamed and resident, for FLUX.1's and Z-Image's shapes
  3  the seed workload: Z-Image, 688x1024, 12 steps, 4 pictures, under budgets, beside synchronous and prefix residency
  4  FLUX.1-dev, 1024x1024, under budgets
  5  the same transformers in diffusers: resident, model offload, group offload with a stream
  6  forecasts against what was measured, of all that was run
  7  the kernels: what each computes and how fast, then parts 3 and 4 in short without them
  8  tiny checkpoints of all families: the image in f32 beside the CPU's, and in bf16 with and without streaming
  9  SDXL, 1024x1024, under a budget, and its UNet and autoencoder in diffusers

Weights are random and of the published shapes. Text encoders are as wide as published and have one layer each: the
prompt goes through the whole pipeline, and what the denoiser is told has its true shape.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
GB = 1 << 30
WAYS = "resident,streamed,synchronous,prefix"

# A workload: the model it is like, its size, and the budgets in GB.
Z_IMAGE = {"like": "z-image", "width": 688, "height": 1024, "steps": 12, "batch": 4, "budgets": (8, 12, 16)}
FLUX = {"like": "flux.1-dev", "width": 1024, "height": 1024, "steps": 6, "batch": 1, "budgets": (8, 12, 16, 24)}
SDXL = {"like": "sdxl", "width": 1024, "height": 1024, "steps": 6, "batch": 1, "budgets": (4, 8)}
EXACT = {"width": 512, "height": 512, "steps": 3, "batch": 2, "budgets": (8,)}
TINY = {"width": 128, "height": 128, "steps": 3, "batch": 2}

DIFFUSERS_MODES = ("resident", "model-offload", "group-offload")
SHORT_DIFFUSERS_MODES = ("resident", "group-offload")


# One model of each family, or several where they differ.
FAMILIES = (
    "sd1.5", "sd2.1", "sdxl", "sd3-medium", "sd3.5-medium", "flux.1-dev", "flux.2-klein-4b", "flux.2-dev", "z-image", "chroma1-hd",
    "qwen-image", "qwen-image-edit-2509", "qwen-image-2.1", "anima", "krea-2-turbo", "hidream-i1-full", "longcat-image",
    "ernie-image", "lens", "wan-2.1-1.3b", "wan-2.2-5b", "wan-2.2-14b", "ltx-video", "stable-cascade", "wuerstchen",
)  # fmt: skip
# Streamed as much as possible, and as little memory as possible.
STREAMED = (["--offload", "layer_streaming"], ["--offload", "layer_streaming", "--optimize-for", "memory"])


class OutOfTime(Exception):
    """No time is left in this call."""


class Bench:
    """One call: what it was asked for, and what all calls have measured."""

    def __init__(self, args):
        self.args = args
        self.deadline = time.monotonic() + args.limit
        self.results = json.loads(args.json.read_text()) if args.json.is_file() else {}
        self.device = ["--card", "rtx-3060"] if args.device == "cpu" else []
        # Whether something was not measured.
        self.failed = False
        # Whether the engine uses its kernels.
        self.kernels = True
        args.scratch.mkdir(parents=True, exist_ok=True)

    def left(self):
        """Seconds that are left."""
        seconds = self.deadline - time.monotonic()
        if seconds < 5:
            raise OutOfTime
        return seconds

    def execute(self, command):
        """Runs a program to its end; says how it ended."""
        print("$", *(str(word) for word in command), flush=True)
        settings = os.environ | {"SLUICE_CUDA_KERNELS": "1" if self.kernels else "0"}
        try:
            return subprocess.run(command, timeout=self.left(), check=False, env=settings).returncode
        except subprocess.TimeoutExpired:
            raise OutOfTime from None

    def measured(self, command):
        """Runs a program that writes JSON to the file named after `--json`; nothing if it wrote none."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "out.json"
            code = self.execute([*command, "--json", file])
            if file.is_file():
                return json.loads(file.read_text())
        print(f"nothing was measured: exit code {code}", flush=True)
        self.failed = True
        return None

    def folder(self, like):
        """Where the checkpoint of a model's shape is."""
        return self.args.scratch / (f"{like}-tiny" if self.args.tiny else like)

    def checkpoint(self, like):
        """The checkpoint of a model's shape, written where it is not there."""
        folder = self.folder(like)
        if not (folder / "model_index.json").is_file():
            small = ["--tiny"] if self.args.tiny else []
            make = [self.args.program, "bench", "make-checkpoint", "--like", like, "--output", folder]
            if self.execute([*make, "--text-layers", "1", *small]) != 0:
                sys.exit(f"there is no checkpoint of {like}'s shape")
        return folder

    def drop(self, like):
        """Makes room on the disk for the next checkpoint."""
        if self.args.one_at_a_time:
            shutil.rmtree(self.folder(like), ignore_errors=True)

    def sluice(self, workload, ways, budgets, *options):
        """Runs a workload in Sluice."""
        command = [self.args.program, "bench", "run", "--model", self.checkpoint(workload["like"]), "--placements", ways]
        for option in ("width", "height", "steps", "batch"):
            command += [f"--{option}", str(workload[option])]
        if budgets:
            command += ["--budgets", ",".join(budgets)]
        command += ["--dtype", "bf16", "--min-free-vram", "0", *self.device, *options]
        command += ["--attention", "tiled" if self.kernels else "math"]
        # Decoding takes most of a tiny run, unless tiles are tiny too.
        return self.measured([*command, *(["--vae-tile-size", "8"] if self.args.tiny else [])])

    def budgets(self, workload, peak):
        """A workload's budgets; parts of what it takes resident where the model is tiny."""
        if self.args.tiny:
            return [f"{int(peak * share)}B" for share in (0.6, 0.9)]
        budgets = [str(budget) for budget in workload["budgets"]]
        return [budgets[0], "16"] if self.args.short and len(budgets) > 1 else budgets

    def resident_peak(self, workload):
        """Bytes that a tiny workload takes with all weights on the device."""
        if not self.args.tiny:
            return 0
        measured = self.sluice({**workload, "steps": 1}, "resident", [])
        return measured["rows"][0].get("peak", 0) if measured else 0

    def keep(self, name, result):
        """Adds what was measured to what earlier calls have."""
        if result is not None:
            self.results[name] = {"at": time.strftime("%Y-%m-%d %H:%M:%S"), "device": self.args.device, **result}
            self.args.json.write_text(json.dumps(self.results, indent=1) + "\n")

    def small(self, workload):
        """A workload that takes a moment, where that is asked for."""
        if self.args.short:
            workload = {**workload, "steps": min(workload["steps"], 5)}
        return {**workload, **TINY} if self.args.tiny else workload


def link(bench):
    """Part 1."""
    bench.keep("link", bench.measured([bench.args.program, "bench", "link", *bench.device]))


def exactness(bench):
    """Part 2."""
    for base in (Z_IMAGE, FLUX):
        workload = bench.small({**base, **EXACT})
        budgets = bench.budgets(workload, bench.resident_peak(workload))
        bench.keep(f"exactness {base['like']}", bench.sluice(workload, WAYS, budgets, "--check"))
        bench.drop(base["like"])


def streaming(bench, base, name, ways):
    """Parts 3 and 4. What is foretold knows one run of each kind."""
    workload = bench.small(base)
    budgets = bench.budgets(workload, bench.resident_peak(workload))
    bench.keep(name, bench.sluice(workload, ways, budgets, "--repeats", "2"))
    bench.drop(base["like"])


def seed_workload(bench):
    """Part 3."""
    streaming(bench, Z_IMAGE, "seed", WAYS)


def flux(bench):
    """Part 4."""
    streaming(bench, FLUX, "flux", "resident,streamed")


def diffusers(bench):
    """Part 5: the modes of diffusers, then Sluice within what its streaming took."""
    for base in (FLUX, Z_IMAGE):
        workload = bench.small(base)
        folder = bench.checkpoint(workload["like"])
        modes = {}
        for mode in SHORT_DIFFUSERS_MODES if bench.args.short else DIFFUSERS_MODES:
            command = [sys.executable, HERE / "diffusers_bench.py", folder, "--mode", mode, "--steps", "4"]
            for option in ("width", "height", "batch"):
                command += [f"--{option}", str(workload[option])]
            measured = bench.measured([*command, "--device", bench.args.device])
            if measured:
                modes[mode] = measured
        vram = modes.get("group-offload", {}).get("peak_reserved", 0)
        if bench.args.device == "cpu":
            vram = int(bench.resident_peak(workload) * 0.9)
        rows = None
        if vram:
            rows = bench.sluice({**workload, "steps": 5}, "resident,streamed", [f"{vram}B"], "--repeats", "2")
        bench.keep(f"diffusers {base['like']}", {"modes": modes, "sluice": rows})
        bench.drop(base["like"])


def sdxl(bench):
    """Part 9. What is foretold knows one run of each kind."""
    workload = bench.small(SDXL)
    budgets = bench.budgets(workload, bench.resident_peak(workload))[:1]
    rows = bench.sluice(workload, "resident,streamed", budgets, "--repeats", "2")
    command = [sys.executable, HERE / "diffusers_bench.py", bench.folder("sdxl"), "--mode", "resident", "--steps", "4"]
    command += ["--width", str(workload["width"]), "--height", str(workload["height"]), "--device", bench.args.device]
    bench.keep("diffusers sdxl", {"modes": {"resident": bench.measured(command)}, "sluice": rows})
    bench.drop("sdxl")


def kernels(bench):
    """Part 7."""
    if bench.args.device == "cpu":
        print("the kernels need a card")
        return
    trials = bench.measured([bench.args.program, "bench", "kernels"])
    if trials is None:
        return
    bench.keep("kernels", {"trials": trials})
    bench.kernels = False
    for base, name in ((Z_IMAGE, "seed"), (FLUX, "flux")):
        workload = bench.small({**base, "budgets": base["budgets"][:1], "steps": 5})
        budgets = bench.budgets(workload, bench.resident_peak(workload))
        result = bench.sluice(workload, "resident,streamed", budgets, "--repeats", "2")
        bench.keep(f"{name} without kernels", result)
        bench.drop(base["like"])
    bench.kernels = True


def family(bench, like):
    """What a tiny checkpoint of a model draws on the device, beside the CPU and streamed."""
    import numpy as np
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / like
        environment = os.environ | {"XDG_DATA_HOME": folder}
        size = ["--width", "256", "--height", "256", "--steps", "2"]
        if like.startswith(("wan", "ltx")):
            size += ["--frames", "9"]

        def run(*command):
            done = subprocess.run(
                [bench.args.program, *command], timeout=bench.left(), check=False, env=environment, capture_output=True, text=True
            )
            if done.returncode:
                raise RuntimeError((done.stderr or done.stdout).strip())

        def draw(*options):
            picture = Path(folder) / "picture.png"
            given = ["--model", model, "--prompt", "a fox", "--seed", "3", "--min-free-vram", "0", "--quiet"]
            run("generate", *given, "--output", picture, *size, *options)
            return np.asarray(Image.open(picture).convert("RGB")).astype(int)

        try:
            run("bench", "make-checkpoint", "--like", like, "--output", model, "--tiny", "--text-layers", "1", "--quiet")
            own, others = draw("--dtype", "f32", *bench.device), draw("--dtype", "f32", "--cpu")
            whole = draw("--dtype", "bf16", *bench.device)
            streamed = [draw("--dtype", "bf16", *bench.device, *options) for options in STREAMED]
        except RuntimeError as error:
            return {"failure": str(error)}
        except subprocess.TimeoutExpired:
            raise OutOfTime from None
        return {
            "most": int(abs(own - others).max()), "mean": float(abs(own - others).mean()),
            "exact": all(bool((image == whole).all()) for image in streamed),
        }  # fmt: skip


def families(bench):
    """Part 8."""
    with ThreadPoolExecutor(max(1, min(6, (os.cpu_count() or 2) // 2))) as pool:
        found = dict(zip(FAMILIES, pool.map(lambda like: family(bench, like), FAMILIES)))
    bench.failed |= any("failure" in one for one in found.values())
    bench.keep("families", {"families": found})


PARTS = {1: link, 2: exactness, 3: seed_workload, 4: flux, 5: diffusers, 7: kernels, 8: families, 9: sdxl}


def gb(value):
    """Bytes in GB of 2^30."""
    return f"{value / GB:.2f}" if value else "-"


def table(heading, rows):
    """A table in plain text."""
    rows = [heading, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heading))]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))


def rows_of(result):
    """The rows of a workload that were drawn, none if nothing was measured."""
    return [row for row in (result or {}).get("rows", []) if "failure" not in row]


def show_rows(title, result):
    """The rows of a workload."""
    print(f"\n{title}")
    heading = ["way", "budget GB", "step s", "floor s", "step/floor", "peak GB", "RAM GB", "moved GB", "stall s", "link GB/s"]
    table(heading, [
        [
            row["way"], gb(row["budget"]), f"{row['step_seconds']:.3f}", f"{row['floor_seconds']:.3f}",
            f"{row['over_floor']:.3f}", gb(row["peak"]), gb(row["process_peak"]), gb(row["step_bytes"]),
            f"{row['step_stall_seconds']:.3f}",
            f"{row['link_bytes_per_second'] / 1e9:.1f}" if row["step_bytes"] else "-",
        ]
        for row in rows_of(result)
    ])  # fmt: skip
    for row in result.get("rows", []):
        if "failure" in row:
            print(f"{row['way']} within {gb(row['budget'])} GB: {row['failure']}")


def show_diffusers(model, result):
    """diffusers and Sluice side by side."""
    print(f"\n{model}: a step of the transformer in diffusers and in Sluice")
    rows = [
        [
            "diffusers " + mode, f"{one['step_seconds']:.3f}", f"{one.get('decode_seconds', 0):.3f}", gb(one.get("peak_allocated")),
            gb(one.get("peak_reserved")), gb(one["process_peak"]),
        ]
        for mode, one in result["modes"].items()
    ]  # fmt: skip
    rows += [
        [
            "sluice " + row["way"], f"{row['step_seconds']:.3f}", f"{row['decode_seconds']:.3f}", gb(row["peak"]), "-",
            gb(row["process_peak"]),
        ]
        for row in rows_of(result.get("sluice"))
    ]  # fmt: skip
    table(["", "step s", "decode s", "VRAM GB", "reserved GB", "RAM GB"], rows)


def show_trials(trials):
    """What each kernel computes and how fast."""
    print("\nkernels")
    rows = [
        [
            one["name"], one["dtype"], f"{one['error']:.1e}", f"{one['plain_error']:.1e}", "yes" if one["is_right"] else "NO",
            f"{one['seconds'] * 1e6:.0f}", f"{one['plain_seconds'] * 1e6:.0f}", f"{one['plain_seconds'] / one['seconds']:.2f}",
        ]
        for one in trials
    ]  # fmt: skip
    table(["", "dtype", "error", "without it", "right", "us", "without it", "times as fast"], rows)


def show_families(families):
    """Differences of images from those of the CPU, in levels of 255, and whether streaming changes a bit."""
    print("\nTiny checkpoints, f32 beside the CPU, bf16 streamed")
    rows = [[like, one["most"], f"{one['mean']:.4f}", "yes" if one["exact"] else "NO"] for like, one in families.items() if "most" in one]
    table(["", "most", "mean", "same bits"], rows)
    for like, one in families.items():
        if "failure" in one:
            print(f"{like}: {one['failure']}")


def goals(results):
    """Each goal with what was measured, and whether it is met; nothing where nothing was measured."""
    for name in ("seed", "flux"):
        for row in rows_of(results.get(name)):
            if row["way"] == "streamed":
                yield f"{name}, {gb(row['budget'])} GB: step at most 1.05 of its floor", row["over_floor"], row["over_floor"] <= 1.05
    for name, result in results.items():
        if name.startswith("exactness") and result.get("exact") is not None:
            yield f"{name}: the same latents", result["exact"], result["exact"]
        if not name.startswith("diffusers"):
            continue
        own = {row["way"]: row for row in rows_of(result.get("sluice"))}
        modes = result["modes"]
        if "resident" in own and "resident" in modes:
            ratio = own["resident"]["step_seconds"] / modes["resident"]["step_seconds"]
            yield f"{name}: resident step no slower than PyTorch's", ratio, ratio <= 1
        if "streamed" in own and "group-offload" in modes:
            other = modes["group-offload"]
            ratio = other["step_seconds"] / own["streamed"]["step_seconds"]
            yield f"{name}: streamed at least 1.5 times as fast", ratio, ratio >= 1.5
            ratio = own["streamed"]["process_peak"] / other["process_peak"]
            yield f"{name}: at most 0.4 of its RAM", ratio, ratio <= 0.4


def forecasts(results):
    """Part 6: by how much forecasts of peak and step are off, of all rows."""
    for name, result in results.items():
        rows = rows_of(result) or rows_of(result.get("sluice") if isinstance(result, dict) else None)
        for row in rows:
            peak = row["predicted_peak"] / row["peak"] - 1 if row["peak"] else 0.0
            step = row["predicted_step_seconds"] / row["step_seconds"] - 1 if row["step_seconds"] else 0.0
            yield [name, row["way"], gb(row["budget"]), f"{peak:+.1%}", f"{step:+.1%}", abs(peak) <= 0.05 and abs(step) <= 0.05]


def show(results):
    """All tables."""
    if "link" in results:
        one = results["link"]
        pinned, pageable = one["pinned_bytes_per_second"] / 1e9, one["pageable_bytes_per_second"] / 1e9
        print(f"\n{one['device']}: pinned {pinned:.1f} GB/s, pageable {pageable:.1f} GB/s, ", end="")
        print(f"{one['dtype']} products {one['operations_per_second'] / 1e12:.1f} * 10^12 operations a second")
    for name, result in results.items():
        if "rows" in result:
            show_rows(name, result)
        elif "modes" in result:
            show_diffusers(name.split()[1], result)
        elif "trials" in result:
            show_trials(result["trials"])
        elif "families" in result:
            show_families(result["families"])
    rows = list(forecasts(results))
    if rows:
        print("\nForecast over measured, less one; the goal is 5 %")
        table(["", "way", "budget GB", "peak", "step", "met"], rows)
    rows = [[title, value if isinstance(value, bool) else f"{value:.3f}", "yes" if met else "NO"] for title, value, met in goals(results)]
    if rows:
        print("\nGoals")
        table(["", "measured", "met"], rows)


def main():
    """Runs the parts that were chosen and prints what all calls have measured."""
    parser = argparse.ArgumentParser(
        prog="gpu-bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    scratch = Path(tempfile.gettempdir()) / "sluice-gpu-bench"
    parser.add_argument("program", type=Path, help="sluice-cuda, or sluice to try the script out")
    parser.add_argument("--only", default="1,2,3,4,5,6,7,8", help="parts, such as 1,3")
    parser.add_argument("--scratch", type=Path, default=scratch, help="a folder for checkpoints, 37 GB for both; they stay for the next call")
    parser.add_argument("--one-at-a-time", action="store_true", help="removes each checkpoint after its use: 26 GB are enough")
    parser.add_argument("--json", type=Path, default=Path("gpu-bench.json"), help="results of this call and of earlier ones")
    parser.add_argument("--limit", type=float, default=590, help="seconds after which a call ends")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="cpu simulates a card: to try the script out")
    parser.add_argument("--short", action="store_true", help="at most 5 steps, 8 and 16 GB, no model offload in diffusers")
    parser.add_argument("--tiny", action="store_true", help="few and narrow layers")
    args = parser.parse_args()
    args.program = Path(shutil.which(args.program) or args.program).resolve()
    if not os.access(args.program, os.X_OK):
        parser.error(f"{args.program} is no program")
    chosen = [int(part) for part in args.only.split(",")]
    bench = Bench(args)
    ended = 0
    for part in chosen:
        if part not in PARTS:
            continue
        try:
            PARTS[part](bench)
        except OutOfTime:
            print(f"\nThe time was up in part {part}; call again with --only for what is missing.")
            ended = 1
            break
    show(bench.results)
    sys.exit(ended or int(bench.failed))


if __name__ == "__main__":
    main()
