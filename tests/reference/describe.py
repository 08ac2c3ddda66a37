"""Writes the fixture of language models that see: what transformers' Qwen2.5-VL and Qwen3-VL make of images and an
instruction, and how they go on.

Needs only torch, numpy, safetensors, Pillow and transformers 5. The tokenizer is the one of the fixture of Z-Image. The images
come from a formula, and so do the weights.
"""

import argparse
import os

import numpy
import torch
from PIL import Image
from safetensors.torch import save_file
from transformers import (
    AutoTokenizer,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
)
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil, smart_resize

import hash_weights

torch.set_num_threads(1)

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
NAME = "describe.d"
INSTRUCTION = "Describe this image:\nwrite one sentence, 造相 🚂."
SYSTEM = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
IMAGE = "<|image_pad|>"
# Width and height of the images. The second is smaller than the least, the first larger than the most that is read.
SIZES = [(190, 130), (40, 61)]
# The most pixels that are read of an image.
MOST = 20_000
# Tokens of the answer, of which the likeliest is taken each time.
ANSWER = 16
# Of scores, one of so many is kept.
KEPT = 4
# Sizes by which the rounding is compared.
TABLE = [(width, height) for width in (11, 27, 41, 58, 299, 1000, 1023, 2099) for height in (13, 30, 43, 300, 777, 1999)]


def picture(width, height):
    """An image by a formula, with a channel that grows along each side and one of stripes."""
    x, y = numpy.meshgrid(numpy.arange(width), numpy.arange(height))
    channels = [x * 255 // width, y * 255 // height, (x * 7 + y * 13) % 256]
    return Image.fromarray(numpy.stack(channels, -1).astype(numpy.uint8))


def qwen25_vl(tokenizer):
    """A tiny Qwen2.5-VL, and what prepares its images."""
    ids = tokenizer.get_vocab()
    config = Qwen2_5_VLConfig(
        text_config=dict(
            vocab_size=len(tokenizer), hidden_size=64, intermediate_size=96, num_hidden_layers=3,
            num_attention_heads=4, num_key_value_heads=2, rms_norm_eps=1e-5,
            rope_parameters={"rope_theta": 5e5, "rope_type": "default", "mrope_section": [2, 3, 3]},
        ),
        vision_config=dict(
            depth=3, hidden_size=32, intermediate_size=48, num_heads=2, out_hidden_size=64, fullatt_block_indexes=[1],
            window_size=56,
        ),
        tie_word_embeddings=False, image_token_id=ids[IMAGE], video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"], vision_end_token_id=ids["<|vision_end|>"],
    )  # fmt: skip
    processor = Qwen2VLImageProcessorPil(size={"shortest_edge": 56 * 56, "longest_edge": MOST})
    return Qwen2_5_VLForConditionalGeneration(config), processor, SYSTEM


def qwen3_vl(tokenizer):
    """A tiny Qwen3-VL, and what prepares its images."""
    ids = tokenizer.get_vocab()
    config = Qwen3VLConfig(
        text_config=dict(
            vocab_size=len(tokenizer), hidden_size=64, intermediate_size=96, num_hidden_layers=3,
            num_attention_heads=4, num_key_value_heads=2, head_dim=16, rms_norm_eps=1e-5,
            rope_parameters={
                "rope_theta": 5e5, "rope_type": "default", "mrope_section": [4, 2, 2], "mrope_interleaved": True,
            },
        ),
        vision_config=dict(
            depth=3, hidden_size=32, intermediate_size=48, num_heads=2, out_hidden_size=64, num_position_embeddings=16,
            deepstack_visual_indexes=[0, 1], patch_size=16,
        ),
        tie_word_embeddings=False, image_token_id=ids[IMAGE], video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"], vision_end_token_id=ids["<|vision_end|>"],
    )  # fmt: skip
    processor = Qwen2VLImageProcessorPil(
        size={"shortest_edge": 256 * 256, "longest_edge": 400_000}, patch_size=16, image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    )  # fmt: skip
    return Qwen3VLForConditionalGeneration(config), processor, ""


KINDS = {"qwen25": qwen25_vl, "qwen3": qwen3_vl}


def published(kind, name):
    """The name of a tensor in published files."""
    if kind == "qwen25":
        return name.replace("model.language_model.", "model.").replace("model.visual.", "visual.")
    return name


def filled(kind, model):
    """The network with weights from their names; matrices are rounded to f16, as they are in the file."""
    state = {}
    for name, value in model.state_dict().items():
        own = f"{NAME}.{kind}.{published(kind, name)}"
        made = torch.from_numpy(numpy.ascontiguousarray(hash_weights.weight(own, tuple(value.shape))))
        state[name] = made.half().float() if made.dim() > 1 else made
    model.load_state_dict(state)
    return model.eval()


def results_of(kind, tokenizer):
    """The tokens of a chat, those that follow, and some of their scores."""
    model, processor, system = KINDS[kind](tokenizer)
    model.set_attn_implementation("eager")
    model = filled(kind, model)
    seen = processor(images=[picture(*size) for size in SIZES], return_tensors="pt")
    grids = seen["image_grid_thw"]
    counts = [int(grid.prod()) // processor.merge_size**2 for grid in grids]
    images = "".join(f"<|vision_start|>{IMAGE * count}<|vision_end|>" for count in counts)
    chat = f"{system}<|im_start|>user\n{images}{INSTRUCTION}<|im_end|>\n<|im_start|>assistant\n"
    ids = tokenizer(chat).input_ids
    answer, scores = [], []
    with torch.no_grad():
        for _ in range(ANSWER):
            # The whole text each time: nothing is kept from one token to the next.
            read = torch.tensor([ids + answer])
            is_image = (read == model.config.image_token_id).int()
            last = model(
                input_ids=read, attention_mask=torch.ones_like(read), mm_token_type_ids=is_image,
                pixel_values=seen["pixel_values"], image_grid_thw=grids, use_cache=False,
            ).logits[0, -1]  # fmt: skip
            top = last.topk(2).values
            assert top[0] - top[1] > 1e-3, "two tokens are nearly as likely"
            scores.append(last)
            answer.append(int(last.argmax()))
    assert len(set(answer)) > ANSWER // 4, "the answer repeats itself"
    print(kind, grids.tolist(), len(ids), answer, repr(tokenizer.decode(answer)))
    return {
        f"{kind}.chat": torch.tensor(ids, dtype=torch.int32),
        f"{kind}.answer": torch.tensor(answer, dtype=torch.int32),
        f"{kind}.scores.first": scores[0][::KEPT],
        f"{kind}.scores.last": scores[-1][::KEPT],
    }


def sizes():
    """In which sizes images are read: height and width for each of the table, in tokens."""
    read = []
    for width, height in TABLE:
        wanted = smart_resize(height, width, factor=28, min_pixels=56 * 56, max_pixels=300_000)
        read.append([length // 28 for length in wanted])
    return torch.tensor(read, dtype=torch.int32)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=f"{FIXTURES}/describe", help="where to write, if not to the fixtures")
    out = parser.parse_args().out
    os.makedirs(out, exist_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(f"{FIXTURES}/z_image/tokenizer")
    results = {"sizes": sizes()}
    for kind in KINDS:
        results.update(results_of(kind, tokenizer))
    results = {name: value.contiguous().clone() for name, value in results.items()}
    save_file(results, f"{out}/golden.safetensors")
    print({name: os.path.getsize(f"{out}/{name}") for name in os.listdir(out)})


if __name__ == "__main__":
    main()
