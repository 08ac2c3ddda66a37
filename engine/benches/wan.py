"""Compares Sluice with diffusers on the parts of Wan: seconds and peak memory, and diffusers' divided by ours.

    python engine/benches/wan.py [THREADS]

Needs torch, diffusers and transformers (versions in tests/reference/requirements.txt). Every case of both programs runs
in a process of its own with the same number of threads, in turns; the fastest of each counts, and the highest peak.
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


def block(heads, ffn):
    """One call of a transformer with one block, 8192 tokens of 29 frames of 512×512, 512 tokens of text."""
    import torch
    from diffusers import WanTransformer3DModel

    model = WanTransformer3DModel(num_attention_heads=heads, ffn_dim=ffn, num_layers=1).eval()
    latents, text = torch.randn(1, 16, 8, 64, 64), torch.randn(1, 512, 4096)
    return fastest(lambda: model(latents, torch.tensor([500]), text))


def layer():
    """One call of UMT5-XXL with one layer, 512 tokens."""
    import torch
    from transformers import UMT5Config, UMT5EncoderModel

    shape = dict(d_model=4096, d_kv=64, d_ff=10240, num_heads=64, feed_forward_proj="gated-gelu")
    model = UMT5EncoderModel(UMT5Config(vocab_size=1000, num_layers=1, **shape)).eval()
    return fastest(lambda: model(torch.arange(512)[None]))


def decode():
    """One decode of 17 frames of 256×256."""
    import torch
    from diffusers import AutoencoderKLWan

    model = AutoencoderKLWan().eval()
    latents = torch.randn(1, 16, 5, 32, 32)
    return fastest(lambda: model.decode(latents))


CASES = {
    "clip wan 1.3B one block 8192 tokens": lambda: block(12, 8960),
    "clip wan 14B one block 8192 tokens": lambda: block(40, 13824),
    "clip umt5 one layer 512 tokens": layer,
    "clip decode wan 17 frames 256": decode,
}


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
    command = ["cargo", "bench", "--workspace", "--bench", "pipeline", "--no-run", "--message-format=json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    made = [json.loads(line) for line in lines if line.startswith("{")]
    return next(one["executable"] for one in made if one.get("executable") and one["target"]["name"] == "pipeline")


def compare(threads):
    """Prints the table."""
    program = our_program()
    print(f"| {threads} threads, f32 | Sluice (s) | diffusers (s) | diffusers / Sluice | peak (GB) | of diffusers' peak |")
    print("|---|---|---|---|---|---|")
    for name in CASES:
        commands = [[program, name], [sys.executable, "-W", "ignore", __file__, threads, name]]
        runs = [[measured(command, threads) for command in commands] for _ in range(ROUNDS)]
        ours, theirs = [(min(r[0] for r in side), max(r[1] for r in side)) for side in zip(*runs)]
        row = f"{ours[0]:.3f} | {theirs[0]:.3f} | {theirs[0] / ours[0]:.2f} | {ours[1] / 1e9:.2f} | {ours[1] / theirs[1]:.2f}"
        print(f"| {name} | {row} |", flush=True)


def main():
    """Compares, or times one case of diffusers in this process."""
    threads = sys.argv[1] if len(sys.argv) > 1 else "2"
    if len(sys.argv) < 3:
        return compare(threads)
    import torch

    torch.set_num_threads(int(threads))
    with torch.no_grad():
        print(json.dumps({"seconds": CASES[sys.argv[2]]()}))


if __name__ == "__main__":
    main()
