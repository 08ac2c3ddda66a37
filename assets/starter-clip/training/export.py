"""Writes the model folder: `python export.py DATA MODEL` (MODEL is the folder with model_index.json).

Takes DATA/vae/, DATA/tokenizer/, DATA/text_encoder.pt and the moving average of DATA/transformer.pt; parts
that do not exist yet are written with fresh weights. Weights are bfloat16, but for what diffusers keeps in
float32.
"""
import argparse
import json
import shutil
from pathlib import Path

import torch
from diffusers import AutoencoderKLWan, UniPCMultistepScheduler, WanPipeline
from transformers import AutoTokenizer

import starter  # noqa: F401
from autoencoder import build_autoencoder
from denoiser import build_transformer
from optimisers import copy
from train_words import build_text_encoder

SHIFT = 3.0
PATHS = ("_name_or_path", "is_local", "local_files_only")


def load_parts(data):
    """Transformer, text encoder, autoencoder and tokenizer, as far as they are trained."""
    tokenizer = AutoTokenizer.from_pretrained(data / "tokenizer")
    vae = AutoencoderKLWan.from_pretrained(data / "vae") if (data / "vae").exists() else build_autoencoder()
    transformer, encoder = build_transformer(), build_text_encoder(len(tokenizer))
    if (data / "text_encoder.pt").exists():
        encoder.load_state_dict(torch.load(data / "text_encoder.pt", map_location="cpu")["encoder"])
    if (data / "transformer.pt").exists():
        copy(torch.load(data / "transformer.pt", map_location="cpu")["average"]["values"], transformer.parameters())
    return transformer, encoder, vae, tokenizer


def forget_paths(folder):
    """Removes from all configurations the folders they were loaded from."""
    for path in folder.glob("**/*.json"):
        if path.name in ("model_index.json", "config.json", "scheduler_config.json", "tokenizer_config.json"):
            config = json.loads(path.read_text(encoding="utf-8"))
            for key in PATHS:
                config.pop(key, None)
            path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    options = parser.parse_args()
    transformer, encoder, vae, tokenizer = load_parts(options.data)
    pipeline = WanPipeline(
        transformer=transformer, vae=vae, text_encoder=encoder, tokenizer=tokenizer,
        scheduler=UniPCMultistepScheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, num_train_timesteps=1000, flow_shift=SHIFT,
        ),
    )
    for part in (transformer, encoder, vae):
        part.to(torch.bfloat16)
    fresh = options.data / "export"
    shutil.rmtree(fresh, ignore_errors=True)
    pipeline.save_pretrained(fresh)
    shutil.rmtree(fresh / "tokenizer")
    # Everything that the SentencePiece model has is in tokenizer.json.
    shutil.copytree(options.data / "tokenizer", fresh / "tokenizer", ignore=shutil.ignore_patterns("*.model"))
    forget_paths(fresh)
    options.model.mkdir(parents=True, exist_ok=True)
    for part in ("transformer", "text_encoder", "vae", "tokenizer", "scheduler"):
        shutil.rmtree(options.model / part, ignore_errors=True)
        shutil.copytree(fresh / part, options.model / part)
    shutil.copy(fresh / "model_index.json", options.model / "model_index.json")
    size = sum(path.stat().st_size for path in fresh.glob("**/*") if path.is_file())
    print(f"wrote {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
