"""A tiny tokenizer of CLIP's kind, trained on a few lines, in the files that published checkpoints have."""

import json

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers
from transformers import CLIPTokenizer

from qwen_tokenizer import CORPUS

SPLIT = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
END_OF_WORD = "</w>"


def train(merge_count):
    """Trains byte pairs on the corpus; returns the tokens in order (bytes first) and the merges.

    The trainer breaks ties by token number, and it would number bytes at the end of words in the order of a hash
    table. As special tokens they have fixed numbers.
    """
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    endings = [letter + END_OF_WORD for letter in letters]
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix=END_OF_WORD))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=512 + merge_count, initial_alphabet=letters, special_tokens=endings,
        end_of_word_suffix=END_OF_WORD, show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator([line.lower() for line in CORPUS], trainer)
    merges = [tuple(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]
    return list(dict.fromkeys(letters + endings + ["".join(pair) for pair in merges])), merges


def make(padding="<|endoftext|>", merge_count=176):
    """The tokenizer as a transformers object, and the function that writes its folder.

    Published folders have `vocab.json` and `merges.txt` and no `tokenizer.json`, so this one has none either.
    """
    tokens, merges = train(merge_count)
    vocabulary = {token: number for number, token in enumerate([*tokens, "<|startoftext|>", "<|endoftext|>"])}
    tokenizer = CLIPTokenizer(vocab=vocabulary, merges=merges, pad_token=padding, model_max_length=77)

    def save(folder):
        """Writes every file of the tokenizer."""
        tokenizer.save_pretrained(folder)
        with open(f"{folder}/vocab.json", "w", encoding="utf-8") as file:
            json.dump(vocabulary, file, ensure_ascii=False)
        with open(f"{folder}/merges.txt", "w", encoding="utf-8") as file:
            file.write("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges))

    return tokenizer, save
