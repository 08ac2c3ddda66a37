"""Trains the tokenizer: `python pieces.py DATA` writes DATA/tokenizer/.

A SentencePiece unigram model of T5's kind. Characters that no caption has become the unknown piece in T5Tokenizer.
"""
import argparse
import io
import random
from pathlib import Path

import sentencepiece
from transformers import AutoTokenizer, T5TokenizerFast

from phrases import all_phrases, caption
from scenes import training_clip

PIECES = 704


def corpus():
    """Captions, and every phrase of the grammar often enough to become whole pieces."""
    rng = random.Random(5)
    lines = [caption(training_clip(rng), rng) for _ in range(12000)]
    lines += [phrase for phrase in all_phrases() for _ in range(20)]
    return lines + [phrase.capitalize() for phrase in all_phrases() for _ in range(4)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    folder = parser.parse_args().data / "tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()), model_writer=model, vocab_size=PIECES, model_type="unigram", byte_fallback=True, hard_vocab_limit=False,
        pad_id=0, eos_id=1, unk_id=2, bos_id=-1, character_coverage=1.0, normalization_rule_name="nmt_nfkc", minloglevel=2,
    )
    (folder / "spiece.model").write_bytes(model.getvalue())
    T5TokenizerFast.from_pretrained(folder, extra_ids=0, model_max_length=512).save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    rng = random.Random(6)
    lines = [caption(training_clip(rng), rng) for _ in range(3000)]
    lengths = sorted(len(tokenizer(line).input_ids) for line in lines)
    print(f"{type(tokenizer).__name__}, {len(tokenizer)} pieces; captions: median {lengths[1500]}, 99 % {lengths[2970]}, longest {lengths[-1]}")
    for text in ("A sailboat moving left at night.", "Ünïcödé 海 🌊", ""):
        print(tokenizer.tokenize(text), tokenizer(text).input_ids[-1])
    for line in lines[:25]:
        print("  " + line)


if __name__ == "__main__":
    main()
