"""Trains the tokenizer: `python tokenizer.py DATA` writes DATA/tokenizer/.

A byte-level BPE tokenizer of the Qwen2 kind: the 256 bytes (so any text works), pairs learnt from captions,
and Qwen's special tokens and chat format.
"""
import argparse
import json
import random
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, Qwen2Tokenizer

from captions import all_phrases, caption
from world import training_scene

PAIRS = 640
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CHAT_TEMPLATE = (
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}"
    "{{- '<think>\n\n</think>\n\n' }}"
    "{%- endif %}{%- endif %}"
)
SPECIAL = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>",
    "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
    "<|image_pad|>", "<|video_pad|>",
)
CHAT_WORDS = ("user", "assistant", "system", "\n")


def chat(prompt):
    """The text the pipeline makes of a prompt."""
    return f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"


def corpus():
    """Captions, and every phrase of the grammar often enough to become whole words."""
    rng = random.Random(5)
    lines = [caption(training_scene(rng), rng) for _ in range(12000)]
    phrases = all_phrases()
    return lines + [word for word in CHAT_WORDS for _ in range(500)] + [
        start + phrase for phrase in phrases for start in ("", " ") for _ in range(25)
    ]


def train():
    """Vocabulary and merges."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    trainer = trainers.BpeTrainer(vocab_size=256 + PAIRS, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    merges = [tuple(pair) if isinstance(pair, list) else tuple(pair.split(" ")) for pair in merges]
    tokens = dict.fromkeys(alphabet + ["".join(pair) for pair in merges])
    return {token: number for number, token in enumerate(tokens)}, merges


def save(folder, vocab, merges):
    """Writes tokenizer.json, tokenizer_config.json, vocab.json and merges.txt."""
    tokenizer = Qwen2Tokenizer(
        vocab={**vocab, SPECIAL[0]: len(vocab)}, merges=merges, pad_token=SPECIAL[0], eos_token="<|im_end|>",
        model_max_length=131072,
    )
    tokenizer.add_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in ("<think>", "</think>")])
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    with open(folder / "vocab.json", "w", encoding="utf-8") as file:
        json.dump(vocab, file, ensure_ascii=False)
    with open(folder / "merges.txt", "w", encoding="utf-8") as file:
        file.write("#version: 0.2\n" + "\n".join(" ".join(pair) for pair in merges) + "\n")
    put_template_into_config(folder)


def put_template_into_config(folder):
    """The chat template moves from its own file into tokenizer_config.json, where published models have it."""
    template, config = folder / "chat_template.jinja", folder / "tokenizer_config.json"
    if not template.exists():
        return
    content = json.loads(config.read_text(encoding="utf-8"))
    content["chat_template"] = template.read_text(encoding="utf-8")
    config.write_text(json.dumps(content, ensure_ascii=False, indent=2), encoding="utf-8")
    template.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    folder = parser.parse_args().data / "tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    save(folder, *train())
    tokenizer = AutoTokenizer.from_pretrained(folder)
    rng = random.Random(6)
    lines = [caption(training_scene(rng), rng) for _ in range(3000)]
    lengths = sorted(len(tokenizer(chat(line)).input_ids) for line in lines)
    print(f"{len(tokenizer)} tokens; captions: median {lengths[1500]}, 99 % {lengths[2970]}, longest {lengths[-1]}")
    print(f"{sum(length <= 32 for length in lengths) / 30:.1f} % have at most 32 tokens")
    message = [{"role": "user", "content": "sea"}]
    made = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True, enable_thinking=True)
    assert made == chat("sea"), made
    for text in ("Ünïcödé 🌊 海", "a RED  house\n\nat night!"):
        assert tokenizer.decode(tokenizer(text).input_ids) == text, text
    for line in lines[:12]:
        print("  " + line)
    print(tokenizer.tokenize("a sailboat at sunset, the sun on the left"))


if __name__ == "__main__":
    main()
