"""Trains the text encoder: `python train_text.py DATA --minutes 4`, writes DATA/text_encoder.pt.

It learns to read: from the last token of a caption, linear heads must tell the attributes of the scene
that the caption was written for (or how likely they are, where the caption leaves them open). The heads
are thrown away; the transformer is trained on the encoder's output afterwards.
"""
import argparse
import random
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoTokenizer

from captions import caption
from model import CAPTION, build_text_encoder, rms, text_features
from optimisers import Muon, trapezoid
from tokenizer import chat
from world import OBJECT_COLOURS, SIDES, TERRAINS, TIMES, WEATHERS, training_scene

COLOURS = tuple(sorted({colour for colours in OBJECT_COLOURS.values() for colour in colours}))
CHOICES = {
    "time": TIMES, "terrain": TERRAINS, "weather": WEATHERS, "disc_side": (None, *SIDES),
    "thing": (None, *OBJECT_COLOURS), "colour": (None, *COLOURS), "thing_side": (None, *SIDES),
}


def padded(tokenizer, texts, length=CAPTION):
    """Token numbers of chat texts (count, length), too long ones cut, and their lengths."""
    encoded = [ids[:length] for ids in tokenizer([chat(text) for text in texts]).input_ids]
    ids = torch.full((len(texts), length), tokenizer.pad_token_id)
    for row, numbers in zip(ids, encoded):
        row[:len(numbers)] = torch.tensor(numbers)
    return ids, torch.tensor([len(numbers) for numbers in encoded])


def examples(tokenizer, rng, count):
    """Random captions (token numbers, lengths) and the attributes of their scenes."""
    scenes = [training_scene(rng) for _ in range(count)]
    texts = ["" if rng.random() < 0.02 else caption(scene, rng) for scene in scenes]
    ids, lengths = padded(tokenizer, texts)
    wanted = {name: torch.tensor([values.index(getattr(s, name)) for s in scenes]) for name, values in CHOICES.items()}
    return ids, lengths, wanted


def losses(encoder, heads, ids, lengths, wanted):
    """Cross entropy of each attribute."""
    last = text_features(encoder, ids)[torch.arange(len(ids)), lengths - 1]
    last = rms(last, None)
    return {name: functional.cross_entropy(heads[name](last), wanted[name]) for name in CHOICES}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minutes", type=float, default=4)
    parser.add_argument("--batch", type=int, default=128)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = random.Random(11)
    tokenizer = AutoTokenizer.from_pretrained(options.data / "tokenizer")
    encoder = build_text_encoder(len(tokenizer))
    width = encoder.config.hidden_size
    heads = nn.ModuleDict({name: nn.Linear(width, len(values)) for name, values in CHOICES.items()})
    inner = [p for layer in encoder.layers[:-1] for p in layer.parameters() if p.ndim == 2]
    norms = [p for layer in encoder.layers[:-1] for p in layer.parameters() if p.ndim == 1]
    muon = Muon(inner)
    adam = torch.optim.AdamW([*norms, *encoder.embed_tokens.parameters(), *heads.parameters()], betas=(0.9, 0.98), weight_decay=0)
    start, step = time.time(), 0
    while (passed := (time.time() - start) / 60) < options.minutes:
        rate = trapezoid(passed / options.minutes, 0.3) * min(1, (step + 1) / 30)
        each = losses(encoder, heads, *examples(tokenizer, rng, options.batch))
        for parameter in (*encoder.parameters(), *heads.parameters()):
            parameter.grad = None
        sum(each.values()).backward()
        muon.step(2e-3 * rate)
        adam.param_groups[0]["lr"] = 4e-3 * rate
        adam.step()
        step += 1
        if step % 100 == 0:
            shown = ", ".join(f"{name} {value.item():.3f}" for name, value in each.items())
            print(f"{step} {passed:.1f} min: {shown}", flush=True)
    torch.save({"encoder": encoder.state_dict(), "heads": heads.state_dict()}, options.data / "text_encoder.pt")
    with torch.no_grad():
        each = losses(encoder, heads, *examples(tokenizer, rng, 2000))
    print("finished:", step, "steps;", ", ".join(f"{name} {value.item():.3f}" for name, value in each.items()))


if __name__ == "__main__":
    main()
