"""Trains the text encoder: `python train_words.py DATA --minutes 5`, writes DATA/text_encoder.pt.

It learns to read: from the last token of a caption, linear heads must tell the attributes of the clip that
the caption was written for (or how likely they are, where the caption leaves them open). The heads are
thrown away; the transformer is trained on the encoder's output afterwards.
"""
import argparse
import random
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoTokenizer, UMT5Config, UMT5EncoderModel

import starter  # noqa: F401
from machine import minutes_worked, use_idle_cores
from optimisers import trapezoid
from phrases import caption
from scenes import DIRECTIONS, training_clip
from world import OBJECT_COLOURS, SIDES, TERRAINS, TIMES, WEATHERS

WIDTH = 128
LENGTH = 40
COLOURS = tuple(sorted({colour for colours in OBJECT_COLOURS.values() for colour in colours}))
SCENE = {
    "time": TIMES, "terrain": TERRAINS, "weather": WEATHERS, "disc_side": (None, *SIDES),
    "thing": (None, *OBJECT_COLOURS), "colour": (None, *COLOURS), "thing_side": (None, *SIDES),
}
MOTION = {"motion": tuple(DIRECTIONS), "direction": tuple(dict.fromkeys(d for ds in DIRECTIONS.values() for d in ds))}


def build_text_encoder(tokens):
    """The text encoder with fresh weights."""
    return UMT5EncoderModel(UMT5Config(
        vocab_size=(tokens + 7) // 8 * 8, d_model=WIDTH, d_kv=32, d_ff=256, num_layers=3, num_heads=4, dropout_rate=0.0,
        feed_forward_proj="gated-gelu", decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
    ))


def tokens_of(tokenizer, texts, device="cpu"):
    """Token numbers (count, LENGTH) and their mask."""
    encoded = tokenizer(texts, padding="max_length", max_length=LENGTH, truncation=True, return_tensors="pt")
    return encoded.input_ids.to(device), encoded.attention_mask.to(device)


def attributes(clip):
    """The attribute values of a clip."""
    return {**{name: getattr(clip.scene, name) for name in SCENE}, **{name: getattr(clip, name) for name in MOTION}}


def losses(encoder, heads, tokenizer, rng, count, device):
    """Cross entropy of each attribute for random captions."""
    clips = [training_clip(rng) for _ in range(count)]
    texts = ["" if rng.random() < 0.02 else caption(clip, rng) for clip in clips]
    ids, mask = tokens_of(tokenizer, texts, device)
    with torch.autocast(device, torch.bfloat16):
        features = encoder(ids, mask).last_hidden_state
    last = features[torch.arange(count), mask.sum(1) - 1].float()
    values = [attributes(clip) for clip in clips]
    each = {}
    for name, choices in {**SCENE, **MOTION}.items():
        wanted = torch.tensor([choices.index(value[name]) for value in values], device=device)
        each[name] = functional.cross_entropy(heads[name](last), wanted)
    return each


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minutes", type=float, help="of work (see machine.py)", default=5)
    parser.add_argument("--batch", type=int, default=96)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    rng = random.Random(11)
    tokenizer = AutoTokenizer.from_pretrained(options.data / "tokenizer")
    encoder = build_text_encoder(len(tokenizer)).to(options.device)
    print(f"{sum(p.numel() for p in encoder.parameters()) / 1e6:.2f} M parameters", flush=True)
    heads = nn.ModuleDict({name: nn.Linear(WIDTH, len(values)) for name, values in {**SCENE, **MOTION}.items()}).to(options.device)
    parameters = [*encoder.parameters(), *heads.parameters()]
    adam = torch.optim.AdamW(parameters, betas=(0.9, 0.98), weight_decay=0)
    start, step = minutes_worked(options.device), 0
    while (passed := minutes_worked(options.device) - start) < options.minutes:
        use_idle_cores(options.threads)
        adam.param_groups[0]["lr"] = 2e-3 * trapezoid(passed / options.minutes, 0.3) * min(1, (step + 1) / 50)
        each = losses(encoder, heads, tokenizer, rng, options.batch, options.device)
        adam.zero_grad()
        sum(each.values()).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        adam.step()
        step += 1
        if step % 100 == 0:
            print(f"{step} {passed:.1f} min: " + ", ".join(f"{n} {v.item():.3f}" for n, v in each.items()), flush=True)
    torch.save({"encoder": encoder.state_dict(), "heads": heads.state_dict(), "steps": step}, options.data / "text_encoder.pt")
    with torch.no_grad():
        each = losses(encoder, heads, tokenizer, rng, 2000, options.device)
    print("finished:", step, "steps;", ", ".join(f"{n} {v.item():.3f}" for n, v in each.items()))


if __name__ == "__main__":
    main()
