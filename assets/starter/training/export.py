"""Writes the model folder: `python export.py DATA MODEL` (MODEL is the folder with model_index.json).

Takes DATA/vae/, DATA/tokenizer/, DATA/text_encoder.pt and the moving average of DATA/transformer.pt; parts
that do not exist yet are written with fresh weights. Weights are bfloat16; the configurations are written
the way published models have them.
"""
import argparse
import json
import shutil
from pathlib import Path

import torch
from diffusers import AutoencoderKL, FlowMatchEulerDiscreteScheduler, ZImagePipeline
from transformers import AutoTokenizer

from model import build_text_encoder, build_transformer
from optimisers import copy
from train_vae import build_vae

SHIFT = 3.0
CHANNELS = 12


def load_parts(data):
    """Transformer, text encoder, autoencoder and tokenizer, as far as they are trained."""
    tokenizer = AutoTokenizer.from_pretrained(data / "tokenizer")
    vae = AutoencoderKL.from_pretrained(data / "vae") if (data / "vae").exists() else build_vae(CHANNELS)
    transformer = build_transformer(vae.config.latent_channels)
    encoder = build_text_encoder(len(tokenizer))
    if (data / "text_encoder.pt").exists():
        encoder.load_state_dict(torch.load(data / "text_encoder.pt", map_location="cpu")["encoder"])
    if (data / "transformer.pt").exists():
        copy(torch.load(data / "transformer.pt", map_location="cpu")["average"]["values"], transformer.parameters())
    return transformer, encoder, vae, tokenizer


def rename_settings(path):
    """Puts rope_theta, rope_scaling and torch_dtype into a configuration of the text encoder."""
    config = json.loads(path.read_text(encoding="utf-8"))
    rope = config.pop("rope_parameters", None)
    if rope:
        config.update(rope_theta=rope["rope_theta"], rope_scaling=None)
    if "dtype" in config:
        config["torch_dtype"] = config.pop("dtype")
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def forget_paths(folder):
    """Removes from all configurations the folders they were loaded from."""
    for path in folder.glob("**/*.json"):
        if path.name in ("model_index.json", "config.json", "scheduler_config.json", "tokenizer_config.json"):
            config = json.loads(path.read_text(encoding="utf-8"))
            for key in ("_name_or_path", "is_local", "local_files_only"):
                config.pop(key, None)
            path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    options = parser.parse_args()
    transformer, encoder, vae, tokenizer = load_parts(options.data)
    pipeline = ZImagePipeline(
        transformer=transformer, vae=vae, text_encoder=encoder, tokenizer=tokenizer,
        scheduler=FlowMatchEulerDiscreteScheduler(num_train_timesteps=1000, shift=SHIFT),
    ).to(torch.bfloat16)
    fresh = options.data / "export"
    shutil.rmtree(fresh, ignore_errors=True)
    pipeline.save_pretrained(fresh)
    shutil.rmtree(fresh / "tokenizer")
    shutil.copytree(options.data / "tokenizer", fresh / "tokenizer")
    rename_settings(fresh / "text_encoder" / "config.json")
    forget_paths(fresh)
    for part in ("transformer", "text_encoder", "vae", "tokenizer", "scheduler"):
        shutil.rmtree(options.model / part, ignore_errors=True)
        shutil.copytree(fresh / part, options.model / part)
    shutil.copy(fresh / "model_index.json", options.model / "model_index.json")
    size = sum(path.stat().st_size for path in fresh.glob("**/*") if path.is_file())
    print(f"wrote {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
