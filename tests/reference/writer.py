"""Writes the fixture of language models: what transformers' Qwen3 makes of a chat, and how it goes on.

Needs only torch, numpy, safetensors and transformers 5. The tokenizer is the one of the fixture of Z-Image.
"""

import argparse
import os

import numpy
import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

import hash_weights

torch.set_num_threads(1)

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
NAME = "writer.c"
INSTRUCTION = "You are an assistant designed to generate images.\nWrite in detail:"
PROMPT = "a dog dancing in the rain, 造相 🚂"
# Tokens of the answer, of which the likeliest is taken each time.
ANSWER = 24
# Of scores, one of so many is kept.
KEPT = 4


def network(tokenizer):
    """A tiny network, whose weights come from their names; matrices are rounded to f16, as they are in the file."""
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=96, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, head_dim=32, rms_norm_eps=1e-5, rope_theta=5e6,
        tie_word_embeddings=True, attn_implementation="eager",
    )
    model = Qwen3ForCausalLM(config).eval()
    state = {}
    for key, value in model.state_dict().items():
        if key == "lm_head.weight":
            continue
        made = torch.from_numpy(numpy.ascontiguousarray(hash_weights.weight(f"{NAME}.{key}", tuple(value.shape))))
        state[key] = made.half().float() if made.dim() > 1 else made
    missing = model.load_state_dict(state, strict=False)
    assert missing.missing_keys in ([], ["lm_head.weight"]), missing
    model.tie_weights()
    assert model.config.rope_parameters["rope_theta"] == 5e6
    return model


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=f"{FIXTURES}/writer", help="where to write, if not to the fixtures")
    out = parser.parse_args().out
    os.makedirs(out, exist_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(f"{FIXTURES}/z_image/tokenizer")
    chat = [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": PROMPT}]
    written = {"add_generation_prompt": True, "return_dict": False}
    ids = tokenizer.apply_chat_template(chat, enable_thinking=False, **written)
    thinking = tokenizer.apply_chat_template(chat, **written)
    model = network(tokenizer)
    answer, scores = [], []
    with torch.no_grad():
        for _ in range(ANSWER):
            # The whole text each time: nothing is kept from one token to the next.
            last = model(torch.tensor([ids + answer]), use_cache=False).logits[0, -1]
            top = last.topk(2).values
            assert top[0] - top[1] > 1e-3, "two tokens are nearly as likely"
            scores.append(last)
            answer.append(int(last.argmax()))
    text = tokenizer.decode(answer)
    print(len(tokenizer), len(ids), answer, repr(text))
    results = {
        "chat": torch.tensor(ids, dtype=torch.int32),
        "chat.thinking": torch.tensor(thinking, dtype=torch.int32),
        "answer": torch.tensor(answer, dtype=torch.int32),
        "scores.first": scores[0][::KEPT],
        "scores.last": scores[-1][::KEPT],
    }
    results = {name: value.contiguous().clone() for name, value in results.items()}
    save_file(results, f"{out}/golden.safetensors", metadata={"text": text})
    print({name: os.path.getsize(f"{out}/{name}") for name in os.listdir(out)})


if __name__ == "__main__":
    main()
