"""A tiny tokenizer of T5's kind, trained on a few lines: SentencePiece's unigram model."""

import io
import os
import tempfile

import sentencepiece
from transformers import T5TokenizerFast

from qwen_tokenizer import CORPUS

# What is replaced before anything else: a few rules of those that published models have, whose table would be 240 kB.
RULES = {"e\u0301": "\u00e9", "\ufb01": "fi", "\u2026": "...", "\u3000": " ", "\uff21": "A", "\u00b2": "2", "\t": " ", "\n": " "}


def train(vocabulary_size):
    """The bytes of a SentencePiece model."""
    model = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "rules.tsv")
        with open(rules, "w", encoding="utf-8") as file:
            for written, meant in RULES.items():
                row = (" ".join(f"{ord(letter):04X}" for letter in text) for text in (written, meant))
                file.write("\t".join(row) + "\n")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(CORPUS * 20), model_writer=model, vocab_size=vocabulary_size,
            model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, character_coverage=1.0,
            hard_vocab_limit=False, normalization_rule_tsv=rules, minloglevel=2, num_threads=1,
        )  # fmt: skip
    return model.getvalue()


def make(vocabulary_size=300, extra_ids=100):
    """The tokenizer as a transformers object, and the function that writes its folder."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/spiece.model", "wb") as file:
            file.write(train(vocabulary_size))
        tokenizer = T5TokenizerFast.from_pretrained(folder, extra_ids=extra_ids, model_max_length=512)
    return tokenizer, tokenizer.save_pretrained
