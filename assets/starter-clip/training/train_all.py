"""Runs everything, one step after the other: `python train_all.py DATA MODEL --minutes 25 --device cuda`.

Steps that have a checkpoint in DATA go on from it. `--minutes` is for the training steps together; drawing
and encoding take some more.
"""
import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Shares of the minutes. The autoencoder's decoder is trained on at the end, when the latents are fixed. The transformer
# first learns everything but which way things go, then only that, at the highest noise levels, then everything again.
SHARES = {"autoencoder": 0.22, "words": 0.03, "clips": 0.45, "ways": 0.12, "settled": 0.13, "decoder": 0.05}
WAYS = ("--from-share", 0.45, "--least-noise", 0.8, "--change-weight", 10, "--hold", 0.6)
SETTLED = ("--from-share", 0.45, "--hold", 0.35)


def run(script, *arguments):
    """Runs a script of this folder; stops everything if it fails."""
    print(f"== {script} {' '.join(map(str, arguments))}", flush=True)
    subprocess.run([sys.executable, HERE / script, *map(str, arguments)], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--minutes", type=float, default=240)
    parser.add_argument("--count", type=int, default=3000, help="of clips")
    parser.add_argument("--workers", type=int, default=2, help="that draw")
    parser.add_argument("--batch-factor", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    data, device = options.data, ("--device", options.device)
    minutes = {name: ("--minutes", options.minutes * share) for name, share in SHARES.items()}
    factor = ("--batch-factor", options.batch_factor)
    if not (data / "clips.npy").exists():
        run("draw_clips.py", data, "--count", options.count, "--workers", options.workers)
    if not (data / "tokenizer" / "tokenizer.json").exists():
        run("pieces.py", data)
    if not (data / "vae").exists():
        run("train_autoencoder.py", data, *minutes["autoencoder"], *factor, *device)
    if not (data / "text_encoder.pt").exists():
        run("train_words.py", data, *minutes["words"], *device)
    run("encode_clips.py", data, *device)
    run("train_clips.py", data, *minutes["clips"], *factor, *device)
    run("train_clips.py", data, *minutes["ways"], *WAYS, *factor, *device)
    run("train_clips.py", data, *minutes["settled"], *SETTLED, *factor, *device)
    run("train_autoencoder.py", data, *minutes["decoder"], "--decoder", *factor, *device)
    run("export.py", data, options.model)
    run("evaluate.py", options.model, "--write", "--sheet", data / "sheet.png", *device)


if __name__ == "__main__":
    main()
