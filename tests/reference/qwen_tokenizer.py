"""A tiny tokenizer of the Qwen kind, trained on a few lines, in the files that published checkpoints have."""

import json
import os

from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, trainers
from transformers import Qwen2Tokenizer

CORPUS = [
    "A painting of a squirrel eating a burger",
    "a photo of an astronaut riding a horse on mars",
    "a dog is dancing in the rain, watercolor, highly detailed, 4k",
    "dance monkey",
    "bad quality, blurry, ugly, low resolution",
    "a red cube on top of a blue sphere, studio light",
    "Describe the image by detailing the color, shape, size, texture, quantity, text, spatial relationships "
    "of the objects and background:",
    "You are an AI that reasons about image descriptions. You give structured responses focusing on object "
    "relationships, object attribution and actions without speculation.",
    "You are an assistant designed to generate superior images with the superior degree of image-text "
    "alignment based on textual prompts or user prompts.",
    "system user assistant think model turn Prompt Start",
    "user",
    "user",
    "user",
]
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CHAT = (
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}"
    "{{- '<think>\n\n</think>\n\n' }}"
    "{%- endif %}{%- endif %}"
)
SPECIAL = [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>",
    "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>",
    "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
]  # fmt: skip


def train(merge_count):
    """Trains byte pairs on the corpus; returns token -> number (bytes first) and the merges."""
    byte_letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=256 + merge_count, initial_alphabet=byte_letters, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    merges = [tuple(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]
    tokens = dict.fromkeys(byte_letters + ["".join(pair) for pair in merges])
    return {token: number for number, token in enumerate(tokens)}, merges


def make(merge_count=400):
    """The tokenizer as a transformers object, and the function that writes its folder."""
    vocabulary, merges = train(merge_count)
    tokenizer = Qwen2Tokenizer(
        vocab={**vocabulary, "<|endoftext|>": len(vocabulary)}, merges=merges, pad_token="<|endoftext|>",
        eos_token="<|im_end|>", model_max_length=131072,
    )  # fmt: skip
    tokenizer.add_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    thinking = ("<think>", "</think>")
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in thinking])
    tokenizer.chat_template = CHAT

    def save(folder):
        """Writes every file of the tokenizer, with the chat template where published ones have it."""
        tokenizer.save_pretrained(folder)
        with open(f"{folder}/vocab.json", "w", encoding="utf-8") as file:
            json.dump(vocabulary, file, ensure_ascii=False)
        with open(f"{folder}/merges.txt", "w", encoding="utf-8") as file:
            file.write("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges))
        os.remove(f"{folder}/chat_template.jinja")
        with open(f"{folder}/tokenizer_config.json", encoding="utf-8") as file:
            config = json.load(file)
        with open(f"{folder}/tokenizer_config.json", "w", encoding="utf-8") as file:
            json.dump({**config, "chat_template": CHAT}, file, indent=2, ensure_ascii=False)

    return tokenizer, save
