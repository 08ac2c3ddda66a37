"""Writes the tokenizers of CLIP, T5, Mistral and GPT-OSS to ../../assets/tokenizers, and what the original programs make of some texts.

    pip download --no-deps open-clip-torch==3.3.0 && unzip open_clip_torch-*.whl
    pip download --no-deps --no-binary stable-diffusion-cpp-python stable-diffusion-cpp-python==0.4.7 && tar xzf stable_*
    pip install mistral-common==1.13.1 tiktoken==0.12.0
    cargo add tiktoken-rs@0.12.1 && cargo fetch
    python published_tokenizers.py open_clip/bpe_simple_vocab_16e6.txt.gz \
        stable_diffusion_cpp_python-0.4.7/vendor/stable-diffusion.cpp/src/tokenizers/vocab/clip_t5.hpp \
        ~/.cargo/registry/src/*/tiktoken-rs-0.12.1/assets/o200k_base.tiktoken

The first has the merges that OpenAI published with CLIP, of which the first 48,894 are used. In the second are the bytes
of T5's tokenizer.json; from that a spiece.model is written as SentencePiece reads it: pieces, scores, replacements.
Mistral's tokens are those of tekken_240911.json in mistral-common, without those that no model uses. GPT-OSS's are those of
o200k_base, which OpenAI published with tiktoken.
The ids in ../fixtures/tokenizers.json are those of transformers, and for Mistral and GPT-OSS those of mistral-common and
tiktoken. Where SentencePiece itself gives others, that is said:
transformers replaces letters with their marks as one, and drops control characters.
"""

import base64
import gzip
import io
import json
import os
import re
import sys
import tempfile

import mistral_common
import sentencepiece
import tiktoken
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from sentencepiece import sentencepiece_model_pb2
from transformers import CLIPTokenizer, T5Tokenizer
from transformers.convert_slow_tokenizer import bytes_to_unicode

import gpt_oss_tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
ASSETS = os.path.join(HERE, "..", "..", "assets", "tokenizers")
FIXTURE = os.path.join(HERE, "..", "fixtures", "tokenizers.json")
CLIP_MERGES = 49152 - 256 - 2
TEXTS = [
    "",
    " ",
    "a photo of an astronaut riding a horse on mars",
    "A Fox, in the SNOW -- 35mm, f/1.8; (masterpiece:1.2), [blurry], <unknown>",
    "it's we're they've I'm you'll he'd don't O'Neill's rock'n'roll",
    "  leading,   inner \t tabs \n\n newlines and trailing   ",
    "1234567890 3.14159 1,000,000 10% $5 €7 №9 ½ ² Ⅳ",
    "naïve café déjà vu, Ångström, Łódź, İstanbul, ß ẞ ﬁ ﬂ ﬀ",
    "e\u0301te\u0301 decomposed; \u1e9b\u0323 two marks; a\u0308\u0304",
    "造相 一只在雪地里的狐狸 高清",
    "東京タワー ﾊﾝｶｸ ｶﾅ ひらがな ー",
    "снег и лиса Ёлка",
    "שלום עולם مرحبا بالعالم हिन्दी ไทย 한국어",
    "🚂 🦊❄️ 👩‍🚀 👨‍👩‍👧‍👦 🇩🇪 ✨🏳️‍🌈 ☃",
    "zero\u200bwidth soft\u00adhyphen nbsp\u00a0here ideographic\u3000space line\u2028separator",
    "\u2026 \u2014 \u201cquotes\u201d \u2018single\u2019 \u00abguillemets\u00bb",
    "Ｆｕｌｌｗｉｄｔｈ ＡＢＣ１２３！",
    "control\u0001characters\u007f\u0085 and \ufeffmark",
    "!!!??? ... ,,, ;;; ### @@@ *** ~~~ \\ | / ` ^ _ __ -- ++ == <> {} []",
    "averyveryverylongwordwithoutanyspacesthatgoesonandonandon" * 3,
    "http://example.com/a_b-c?d=e&f=g#h user@example.org C++ C# .NET node.js",
    "x" * 300,
    "red green blue " * 60,
    "\U0001d504\U0001d51f\U0001d520 \U0001f170 ㎏ ㍿ ℃ ™ ©",
]


def clip(source):
    """Writes the merges; returns transformers' tokenizer of them."""
    with gzip.open(source, "rt", encoding="utf-8") as file:
        merges = file.read().split("\n")[1 : CLIP_MERGES + 1]
    write("clip/merges.txt.gz", "".join(f"{merge}\n" for merge in merges).encode())
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [chr(byte) for byte in printable] + [chr(256 + number) for number in range(256 - len(printable))]
    tokens = letters + [f"{letter}</w>" for letter in letters] + [merge.replace(" ", "") for merge in merges]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    return CLIPTokenizer(vocab=vocabulary, merges=[tuple(merge.split(" ")) for merge in merges])


def t5(source):
    """Writes a spiece.model; returns what transformers and SentencePiece make of it."""
    with open(source, encoding="utf-8") as file:
        text = file.read()
    text = text[text.index("t5_tokenizer_json_str[]") :]
    text = text[: text.index("}")]
    whole = json.loads(bytes(int(byte, 16) for byte in re.findall(r"0x([0-9a-f]{2})", text)))
    types = sentencepiece_model_pb2.ModelProto.SentencePiece.Type
    kinds = {"<pad>": types.CONTROL, "</s>": types.CONTROL, "<unk>": types.UNKNOWN}
    model = sentencepiece_model_pb2.ModelProto()
    for piece, score in whole["model"]["vocab"]:
        if not piece.startswith("<extra_id_"):
            model.pieces.add(piece=piece, score=score, type=kinds.get(piece, types.NORMAL))
    model.trainer_spec.model_type = sentencepiece_model_pb2.TrainerSpec.UNIGRAM
    trainer = model.trainer_spec
    trainer.pad_id, trainer.eos_id, trainer.unk_id, trainer.bos_id = 0, 1, 2, -1
    table = whole["normalizer"]["normalizers"][0]["precompiled_charsmap"]
    model.normalizer_spec.name = "nmt_nfkc"
    model.normalizer_spec.precompiled_charsmap = base64.b64decode(table)
    content = model.SerializeToString(deterministic=True)
    write("t5/spiece.model.gz", content)
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/spiece.model", "wb") as file:
            file.write(content)
        return T5Tokenizer.from_pretrained(folder), sentencepiece.SentencePieceProcessor(model_proto=content)


def write(name, content):
    """Writes a compressed asset; the same bytes every time."""
    path = os.path.join(ASSETS, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    compressed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=compressed, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(content)
    with open(path, "wb") as file:
        file.write(compressed.getvalue())


def mistral():
    """Mistral's tokenizer; writes its tokens as letters that stand for bytes."""
    path = os.path.join(os.path.dirname(mistral_common.__file__), "data", "tekken_240911.json")
    with open(path, encoding="utf-8") as file:
        description = json.load(file)
    config = description["config"]
    count = config["default_vocab_size"] - config["default_num_special_tokens"]
    letters = bytes_to_unicode()
    tokens = [base64.b64decode(token["token_bytes"]) for token in description["vocab"][:count]]
    lines = ["".join(letters[byte] for byte in token) + "\n" for token in tokens]
    write("mistral/tokens.txt.gz", "".join(lines).encode())
    return Tekkenizer.from_file(path)


def gpt_oss(source):
    """GPT-OSS's tokenizer; writes its tokens as letters that stand for bytes."""
    with open(source, "rb") as file:
        ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in file)}
    letters = bytes_to_unicode()
    lines = ["".join(letters[byte] for byte in token) + "\n" for token in sorted(ranks, key=ranks.get)]
    write("gpt_oss/tokens.txt.gz", "".join(lines).encode())
    return tiktoken.Encoding("o200k_base", pat_str=gpt_oss_tokenizer.SPLIT, mergeable_ranks=ranks, special_tokens={})


def main():
    """Writes assets and ids."""
    tekken, harmony = mistral(), gpt_oss(sys.argv[3])
    clip_tokenizer, (t5_tokenizer, processor) = clip(sys.argv[1]), t5(sys.argv[2])
    rows = []
    for text in TEXTS:
        ids = clip_tokenizer(text)["input_ids"][1:-1], t5_tokenizer(text)["input_ids"][:-1]
        mistral_ids = tekken.encode(text, bos=False, eos=False)
        rows.append(
            {"text": text, "clip": ids[0], "t5": ids[1], "mistral": mistral_ids, "gpt_oss": harmony.encode_ordinary(text)}
        )
        if processor.encode(text) != ids[1]:
            print(f"SentencePiece has other ids for {text!r}")
    with open(FIXTURE, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(row, ensure_ascii=True) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
