"""Prompts with weights and of any length, as AUTOMATIC1111's web UI gives them to CLIP, and as Forge gives them to T5.

Both are programs and no libraries, so what they do is written down here: brackets weigh parts of a prompt, each part
is tokenized by itself, CLIP reads chunks of 75 tokens, and states are multiplied by the weights of their tokens and
brought back to their mean. The networks are those of transformers.
"""

import os
import re

import quiet  # noqa: F401  (has to come first)

import torch
import transformers

import checkpoints
import clip_tokenizer
import families
import t5_tokenizer
from cases import CASES, HORSE, LONG, MIXED

PARTS = re.compile(r"\\[()\[\]\\]|\\|\(|\[|:[+-]?[.\d]+\)|\)|\]|[^\\()\[\]:]+|:")
BREAK = re.compile(r"\s*\bBREAK\b\s*")

# Numbers of a comma's backtrack and of a chunk.
BACKTRACK, CHUNK = 20, 75

PROMPTS = [
    "",
    HORSE,
    MIXED,
    "a (red:1.4) cube on [top] of a ((blue)) sphere",
    f"{LONG}, (dancing monkey:1.3), {LONG}, [{LONG}] BREAK a blue sphere, (green cone",
    ("dog " * 80).strip(),
    "red, " + "dog " * 75 + "cube",
    "cube " * 60 + ", " + "dog " * 14 + "(in the rain:0.5)",
    "cube " * 53 + ", " + "dog " * 25,
    "a dog BREAK BREAK a cat BREAK",
    "BREAK a (dog BREAK:1.2) cat",
    r"\(a\) dog \[b\] \\ c] d) :) (e:x) f:1.2) (g: 1.3) (h:-0.5)",
]

# Prompts whose states are kept: number -> clip skips. The last layer is normed; from SDXL on, the one before it is
# taken as it is, and no later one.
ENCODED = {3: (1, 2, 3), 4: (1,)}
T5_LENGTH = {3: 40, 4: 24}


def weighted_parts(prompt):
    """Pairs of text and weight; the text None is a break."""
    parts, opened = [], {"(": [], "[": []}

    def multiply(start, factor):
        for part in parts[start:]:
            part[1] *= factor

    for token in PARTS.findall(prompt):
        if token[0] == "\\":
            parts.append([token[1:], 1.0])
        elif token in opened:
            opened[token].append(len(parts))
        elif token[0] == ":" and len(token) > 1 and opened["("]:
            multiply(opened["("].pop(), float(token[1:-1]))
        elif token == ")" and opened["("]:
            multiply(opened["("].pop(), 1.1)
        elif token == "]" and opened["["]:
            multiply(opened["["].pop(), 1 / 1.1)
        else:
            for number, text in enumerate(BREAK.split(token)):
                parts.extend([[None, 1.0]] if number else [])
                parts.append([text, 1.0])
    for bracket, factor in (("(", 1.1), ("[", 1 / 1.1)):
        for start in opened[bracket]:
            multiply(start, factor)
    merged = []
    for text, weight in parts:
        if text is not None and merged and merged[-1][0] is not None and merged[-1][1] == weight:
            merged[-1][0] += text
        else:
            merged.append([text, weight])
    return merged or [["", 1.0]]


def tokens_of(tokenizer, prompt):
    """Pairs of id and weight; the id None is a break."""
    pairs = []
    for text, weight in weighted_parts(prompt):
        if text is None:
            pairs.append((None, 1.0))
        else:
            pairs += [(token, weight) for token in tokenizer(text, add_special_tokens=False)["input_ids"]]
    return pairs


def chunks_of(tokenizer, prompt, padding):
    """The chunks of a prompt as tensors of ids and of weights, and A1111's count of tokens."""
    comma = tokenizer.get_vocab()[",</w>"]
    done, chunk, last_comma = [], [], None
    for token, weight in tokens_of(tokenizer, prompt):
        if token is None:
            done.append(chunk)
            chunk, last_comma = [], None
            continue
        if token == comma:
            last_comma = len(chunk)
        elif len(chunk) == CHUNK and last_comma is not None and len(chunk) - last_comma <= BACKTRACK:
            done.append(chunk[: last_comma + 1])
            chunk, last_comma = chunk[last_comma + 1 :], None
        if len(chunk) == CHUNK:
            done.append(chunk)
            chunk, last_comma = [], None
        chunk.append((token, weight))
    count = CHUNK * len(done) + len(chunk)
    if chunk or not done:
        done.append(chunk)
    ids = torch.full((len(done), CHUNK + 2), padding)
    weights = torch.ones(len(done), CHUNK + 2)
    for row, chunk in enumerate(done):
        words = [tokenizer.bos_token_id, *(token for token, _ in chunk), tokenizer.eos_token_id]
        ids[row, : len(words)] = torch.tensor(words)
        weights[row, 1 : len(words) - 1] = torch.tensor([weight for _, weight in chunk])
    return ids, weights, count


def emphasised(states, weights):
    """States [tokens, width] by the weights of their tokens, with the mean that they had before."""
    result = states * weights[:, None]
    # Means near zero: their quotient would be as inexact as sums in single precision are.
    return result * (states.double().mean() / result.double().mean()).float()


def network(make, folder, component, **options):
    """A text encoder of FLUX.1's salted checkpoint."""
    manifest = checkpoints.read_json(f"{folder}/manifest.json")
    entry = manifest[f"{component}/model.safetensors"]
    tensors = {key.removeprefix("text_model."): row for key, row in entry["tensors"].items()}
    model = make(**options)
    named = {key: torch.from_numpy(value) for key, value in checkpoints.make_tensors(entry).items()}
    model.load_state_dict({key.removeprefix("text_model."): value for key, value in named.items()}, strict=False)
    missing = set(dict(model.named_parameters())) - set(tensors)
    if missing - {"encoder.embed_tokens.weight"}:
        raise ValueError(f"{component} has no {missing}")
    return model.eval()


def clip_states(model, ids, weights, skip):
    """States of one chunk: normed, of layer `skip` from the end; and unnormed, one layer earlier at least."""
    output = model(input_ids=ids[None], output_hidden_states=True)
    layers = output.hidden_states
    if len(layers) != model.config.num_hidden_layers + 1:
        raise ValueError(f"{len(layers)} hidden states")
    text = getattr(model, "text_model", model)
    last = output.last_hidden_state if skip == 1 else text.final_layer_norm(layers[-skip])
    earlier = layers[-max(skip, 2)]
    return emphasised(last[0], weights), emphasised(earlier[0], weights), output.pooler_output[0]


@torch.no_grad()
def all_tensors(fixtures):
    """Tokens of all prompts, and states of some; names begin with the number of the prompt."""
    text, text_2 = CASES["flux"]["salted"].options["text"], CASES["flux"]["salted"].options["text_2"]
    tokenizer, tokenizer_2 = clip_tokenizer.make()[0], t5_tokenizer.make()[0]
    folder = os.path.join(fixtures, "flux", "salted", "checkpoint")
    clip = network(lambda: families.clip(tokenizer, **text), folder, "text_encoder")
    t5 = network(lambda: families.t5(tokenizer_2, **text_2), folder, "text_encoder_2")
    tensors = {}
    for number, prompt in enumerate(PROMPTS):
        ids, weights, count = chunks_of(tokenizer, prompt, tokenizer.eos_token_id)
        other, _, _ = chunks_of(tokenizer, prompt, 0)
        tensors |= {f"{number}.ids": ids, f"{number}.ids_padded_with_0": other, f"{number}.weights": weights}
        tensors[f"{number}.count"] = torch.tensor([count])
        for skip in ENCODED.get(number, ()):
            states = [clip_states(clip, row, by, skip) for row, by in zip(ids, weights)]
            last, earlier, pooled = zip(*states)
            tensors |= {f"{number}.last.{skip}": torch.cat(last), f"{number}.pooled": pooled[0].clone()}
            if len(states) == 1:
                tensors[f"{number}.earlier.{skip}"] = earlier[0]
        if number in T5_LENGTH:
            length = T5_LENGTH[number]
            pairs = [pair for pair in tokens_of(tokenizer_2, prompt) if pair[0] is not None][: length - 1]
            pairs += [(tokenizer_2.eos_token_id, 1.0)]
            pairs += [(tokenizer_2.pad_token_id, 1.0)] * (length - len(pairs))
            row, by = torch.tensor([token for token, _ in pairs]), torch.tensor([weight for _, weight in pairs])
            states = t5(input_ids=row[None]).last_hidden_state[0]
            tensors |= {f"{number}.t5.ids": row, f"{number}.t5": emphasised(states, by)}
    return tensors
