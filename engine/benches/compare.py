"""Compares Sluice with diffusers on one part of a network at a time: seconds and peak memory, and diffusers' divided by
ours. Every case of both programs runs in a process of its own with the same number of threads, in turns; the fastest of
each counts, and the highest peak.
"""
import json
import os
import subprocess
import sys
import time

ROUNDS = 2
REPEATS = 5
ENOUGH = 20


def fastest(work):
    """Seconds of the fastest of several calls, after one that warms up."""
    work()
    best, begun = float("inf"), time.perf_counter()
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begun > ENOUGH:
            break
    return best


def measured(command, threads):
    """Seconds that a command prints, and the most memory that it took, in bytes."""
    environment = dict(os.environ, RAYON_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    lines = process.stdout.read().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    row = next(json.loads(line) for line in lines if line.startswith("{"))
    return row["seconds"], usage.ru_maxrss * 1024


def our_program():
    """The path of our benchmark, compiled."""
    command = ["cargo", "bench", "--profile", "release", "--workspace", "--bench", "pipeline", "--no-run", "--message-format=json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    made = [json.loads(line) for line in lines if line.startswith("{")]
    return next(one["executable"] for one in made if one.get("executable") and one["target"]["name"] == "pipeline")


def compare(cases, file, threads):
    """Prints the table of the cases of a script."""
    program = our_program()
    print(f"| {threads} threads, f32 | Sluice (s) | diffusers (s) | diffusers / Sluice | peak (GB) | of diffusers' peak |")
    print("|---|---|---|---|---|---|")
    for name in cases:
        commands = [[program, name], [sys.executable, "-W", "ignore", file, threads, name]]
        runs = [[measured(command, threads) for command in commands] for _ in range(ROUNDS)]
        ours, theirs = [(min(r[0] for r in side), max(r[1] for r in side)) for side in zip(*runs)]
        row = f"{ours[0]:.3f} | {theirs[0]:.3f} | {theirs[0] / ours[0]:.2f} | {ours[1] / 1e9:.2f} | {ours[1] / theirs[1]:.2f}"
        print(f"| {name} | {row} |", flush=True)


def run(cases, file):
    """Compares, or times one case of diffusers in this process, as the arguments of the script say."""
    threads = sys.argv[1] if len(sys.argv) > 1 else "2"
    if len(sys.argv) < 3:
        return compare(cases, file, threads)
    import torch

    torch.set_num_threads(int(threads))
    with torch.no_grad():
        print(json.dumps({"seconds": cases[sys.argv[2]]()}))
