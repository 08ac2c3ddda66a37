"""A tiny tokenizer of Mistral's kind, trained on the same lines as the others."""

from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from qwen_tokenizer import train

SPLIT = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPECIAL = [
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]",
    "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
]  # fmt: skip
CHAT = (
    "{{- bos_token }}{%- for message in messages %}"
    "{%- if message.role == 'system' %}{{- '[SYSTEM_PROMPT]' }}"
    "{%- for part in message.content %}{{- part.text }}{%- endfor %}{{- '[/SYSTEM_PROMPT]' }}"
    "{%- else %}{{- '[INST]' }}"
    "{%- for part in message.content %}{{- part.text }}{%- endfor %}{{- '[/INST]' }}"
    "{%- endif %}{%- endfor %}"
)


def make(merge_count=400, begins=False):
    """The tokenizer as a transformers object, and the function that writes its folder. Where it `begins`, it adds a token
    before texts."""
    letters, merges = train(merge_count)
    vocabulary = {token: number for number, token in enumerate([*SPECIAL, *letters])}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, ignore_merges=True))
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    inner.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    if begins:
        inner.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", vocabulary["<s>"])])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>",
        padding_side="left", model_max_length=131072, clean_up_tokenization_spaces=False,
    )  # fmt: skip
    tokenizer.chat_template = CHAT

    def save(folder):
        """Writes every file of the tokenizer."""
        tokenizer.save_pretrained(folder)

    return tokenizer, save
