"""A tiny tokenizer of GPT-OSS's kind, trained on the same lines as the others: special tokens come last."""

from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from qwen_tokenizer import train

ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
SPLIT = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{ENDINGS}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{ENDINGS}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPECIAL = [
    "<|startoftext|>", "<|endoftext|>", "<|return|>", "<|constrain|>", "<|channel|>", "<|start|>", "<|end|>",
    "<|message|>", "<|call|>", "<|endofprompt|>",
]  # fmt: skip


def make(merge_count=400):
    """The tokenizer as a transformers object, and the function that writes its folder."""
    letters, merges = train(merge_count)
    vocabulary = {token: number for number, token in enumerate([*letters, *SPECIAL])}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, ignore_merges=True))
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    inner.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<|startoftext|>", eos_token="<|return|>", pad_token="<|endoftext|>",
        model_max_length=131072, clean_up_tokenization_spaces=False,
    )  # fmt: skip

    def save(folder):
        """Writes every file of the tokenizer."""
        tokenizer.save_pretrained(folder)

    return tokenizer, save
