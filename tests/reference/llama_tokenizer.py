"""A tiny tokenizer of Llama 3's kind, trained on the same lines as the others: special tokens come last."""

from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from qwen_tokenizer import train

SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
START = "<|begin_of_text|>"
SPECIAL = [START, "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]


def make(merge_count=200):
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
    inner.post_processor = processors.TemplateProcessing(
        single=f"{START} $A", special_tokens=[(START, vocabulary[START])]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token=START, eos_token="<|eot_id|>", model_max_length=131072,
        clean_up_tokenization_spaces=False,
    )  # fmt: skip

    def save(folder):
        """Writes every file of the tokenizer."""
        tokenizer.save_pretrained(folder)

    return tokenizer, save
