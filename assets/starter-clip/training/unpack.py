"""Takes a finished model apart, to train it further: `python unpack.py MODEL DATA`, the reverse of export.py.

Writes DATA/vae/, DATA/tokenizer/, DATA/text_encoder.pt and DATA/transformer.pt, from which training goes on; what the
optimisers knew is lost. The clips must be drawn again (draw_clips.py) and encoded (encode_clips.py).
"""
import argparse
import shutil
from pathlib import Path

import torch
from diffusers import AutoencoderKLWan, WanTransformer3DModel
from transformers import UMT5EncoderModel


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    model, data = options.model, options.data
    data.mkdir(parents=True, exist_ok=True)
    AutoencoderKLWan.from_pretrained(model / "vae", torch_dtype=torch.float32).save_pretrained(data / "vae")
    shutil.copytree(model / "tokenizer", data / "tokenizer", dirs_exist_ok=True)
    encoder = UMT5EncoderModel.from_pretrained(model / "text_encoder", dtype=torch.float32)
    torch.save({"encoder": encoder.state_dict()}, data / "text_encoder.pt")
    transformer = WanTransformer3DModel.from_pretrained(model / "transformer", torch_dtype=torch.float32)
    average = {"values": [p.detach() for p in transformer.parameters()], "steps": 0}
    torch.save({"transformer": transformer.state_dict(), "average": average, "steps": 0, "seen": 0}, data / "transformer.pt")


if __name__ == "__main__":
    main()
