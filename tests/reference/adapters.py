"""Adapters: their weights from names, their formulas, and what diffusers computes with them."""

import re
from dataclasses import dataclass

import quiet  # noqa: F401  (has to come first)

import torch
from safetensors.torch import load_file, save_file

import checkpoints
import hash_weights
from cases import HORSE, MIXED, Run

# The alpha that every layer of an adapter has.
ALPHA = 3.0
# What is kept of a run, beside the denoiser's first outputs.
KEPT = ("encode_prompt.0.0.0", "encode_prompt.0.0.1", "step.0.latents", "step.1.latents", "step.3.latents", "output")


@dataclass
class Adapted:
    """A checkpoint of a family, a low-rank adapter for the layers that a pattern matches, and a run with both."""

    family: str
    layers: str
    run: Run
    weight: float
    checkpoint: str = "default"
    components: tuple = ("transformer",)
    rank: int = 4
    # What stands before the names of the transformer's layers.
    prefix: str = "transformer"


CASES = {
    "flux": Adapted(
        "flux",
        r"attn\.to_[qkv]$|to_out\.0|add_[qkv]_proj|to_add_out|ff.*(proj|net\.2)$|proj_(mlp|out)$|norm1?\.linear|q_proj|fc[12]",
        Run(MIXED, "", 2, 3.5, 32, 48), 0.8, "dev", ("transformer", "text_encoder"),
    ),
    "z_image": Adapted(
        "z_image", r"attention\.to_|feed_forward|adaLN|x_embedder|final_layer.*linear", Run(HORSE, "blurry", 2, 2.0, 32, 48),
        -0.6, prefix="diffusion_model",
    ),
    "qwen_image": Adapted(
        "qwen_image", r"attn\.to_|to_out\.0|add_[qkv]_proj|to_add_out|(img|txt)_(mlp|mod)|img_in|proj_out|norm_out",
        Run(HORSE, "blurry", 2, 2.0, 32, 48), 0.7, prefix="diffusion_model",
    ),
    "chroma": Adapted(
        "chroma", r"attn\.to_|to_out\.0|add_[qkv]_proj|to_add_out|ff.*(proj|net\.2)$|proj_(mlp|out)$|distilled_guidance_layer",
        Run(HORSE, "blurry", 2, 2.0, 32, 48), 0.8,
    ),
    "longcat": Adapted(
        "longcat", r"attn\.to_|to_out\.0|add_[qkv]_proj|to_add_out|ff.*(proj|net\.2)$|proj_(mlp|out)$|norm|time_embed|x_embedder",
        Run(HORSE, "blurry", 2, 2.0, 32, 32, max_tokens=12), 0.8,
    ),
    "ernie_image": Adapted(
        "ernie_image", r"self_attention\.to_|mlp\.|adaLN_modulation|time_embedding|text_proj|final_", Run(HORSE, "blurry", 2, 2.0, 32, 32), 0.8,
    ),
    "lens": Adapted(
        "lens", r"attn\.(img|txt)_qkv|to_out\.0|to_add_out|(img|txt)_(mlp|mod)|img_in|txt_in|proj_out|norm_out",
        Run(HORSE, "blurry", 2, 2.0, 32, 32), 0.8,
    ),
    "anima": Adapted(
        "anima", r"attn[12]\.to_|ff\.net|norm[123]\.linear|norm_out|proj_out|_proj$|mlp\.[02]$", Run(HORSE, "blurry", 2, 2.0, 32, 32),
        0.8, components=("transformer", "text_conditioner"),
    ),
    "krea2": Adapted(
        "krea2", r"attn\.to_|ff\.|img_in|time_|txt_in|projector|final_layer", Run(HORSE, "blurry", 2, 1.5, 32, 32, max_tokens=40), 0.8,
    ),
    "hidream": Adapted(
        "hidream", r"attn1\.to_|ff_[it]\.|adaLN_modulation|caption_projection|x_embedder|final_layer\.linear",
        Run(HORSE, "blurry", 2, 2.0, 32, 32, max_tokens=16, sampler="uni_pc"), 0.8,
    ),
    "flux2": Adapted(
        "flux2", r"attn\.to_|to_out|add_[qkv]_proj|to_add_out|linear_(in|out)$|modulation|x_embedder|proj_out|norm_out",
        Run(HORSE, "", 2, 1.0, 32, 48, max_tokens=32), 0.8,
    ),
    "wan": Adapted(
        "wan", r"attn[12]\.to_|ffn|condition_embedder\.time|proj_out",
        Run(HORSE, "blurry", 4, 2.0, 16, 32, max_tokens=16, sampler="uni_pc", frames=5), 0.9, "experts",
        ("transformer", "transformer_2"),
    ),
}  # fmt: skip


def write(case, pipeline, path):
    """Writes an adapter for a pipeline in the form of diffusers; returns its entry of a manifest."""
    tensors, alphas = {}, {}
    for component in case.components:
        for name, layer in getattr(pipeline, component).named_modules():
            if not isinstance(layer, torch.nn.Linear) or not re.search(case.layers, name):
                continue
            # transformers 5 leaves out what stands before the names in published files.
            inner = f"text_model.{name}" if component == "text_encoder" and not name.startswith("text_model") else name
            full = f"{case.prefix if component == 'transformer' else component}.{inner}"
            tensors[f"{full}.lora_A.weight"] = ["F32", [case.rank, layer.in_features]]
            tensors[f"{full}.lora_B.weight"] = ["F32", [layer.out_features, case.rank]]
            alphas[f"{full}.alpha"] = ALPHA
    entry = {"seed": f"{case.family}.adapter", "metadata": None, "tensors": tensors}
    values = {key: torch.from_numpy(value) for key, value in checkpoints.make_tensors(entry).items()}
    save_file({**values, **{key: torch.tensor(alpha) for key, alpha in alphas.items()}}, path)
    return {**entry, "alpha": ALPHA, "weight": case.weight}


def loader(case, path):
    """A function that gives a pipeline the adapter at a path."""

    def load(pipeline):
        """Loads it with the case's weight."""
        # Their pipelines load no adapters, their networks do.
        if case.family in ("longcat", "lens"):
            kept = scaled(load_file(path), ALPHA / case.rank)
            pipeline.transformer.load_lora_adapter(kept, prefix="transformer", adapter_name="adapter")
            pipeline.transformer.set_adapters(["adapter"], [case.weight])
            return
        # diffusers reads no alphas for these.
        if case.family in ("flux2", "anima", "krea2", "ernie_image", "hidream"):
            pipeline.load_lora_weights(scaled(load_file(path), ALPHA / case.rank), adapter_name="adapter")
        elif "transformer_2" not in case.components:
            pipeline.load_lora_weights(path, adapter_name="adapter")
        else:
            load_halves(pipeline, scaled(load_file(path), ALPHA / case.rank))
        pipeline.set_adapters(["adapter"], [case.weight])

    return load


def scaled(tensors, scale):
    """An adapter's factors without alphas, whose scale the second factors have instead."""
    return {key: value * scale if "lora_B" in key else value for key, value in tensors.items() if "lora" in key}


def load_halves(pipeline, kept):
    """Gives both transformers of a pipeline an adapter. diffusers has a file for each."""
    for component, options in [("transformer", {}), ("transformer_2", {"load_into_transformer_2": True})]:
        own = {key: value for key, value in kept.items() if key.startswith(f"{component}.")}
        own = {key.replace(f"{component}.", "transformer.", 1): value for key, value in own.items()}
        pipeline.load_lora_weights(own, adapter_name="adapter", **options)


def tensor(name, *shape):
    """Values by their name."""
    return torch.from_numpy(hash_weights.weight(f"adapter.{name}", shape))


def tucker(core, left, right):
    """A core with both sides multiplied, as LyCORIS stores it."""
    return torch.einsum("ij...,ip,jr->pr...", core, left, right)


def decomposed(weight, magnitude, multiplier):
    """DoRA: the weights with other norms, only a part of the way where the multiplier is not 1."""
    if magnitude.shape[0] == weight.shape[0]:
        norm = weight.flatten(1).norm(dim=1).reshape(-1, *[1] * (weight.dim() - 1))
    else:
        norm = weight.transpose(0, 1).flatten(1).norm(dim=1).reshape(1, -1, *[1] * (weight.dim() - 2))
    factor = magnitude / (norm + torch.finfo(weight.dtype).eps)
    return weight * (multiplier * (factor - 1) + 1)


def formulas(weight=0.7):
    """A layer's weights, the keys of its change, and what they are with it, for each kind; LyCORIS' formulas."""
    results = {}

    def add(kind, shape, keys, change, scale):
        """One kind: `change` is made of `keys` and multiplied by `scale`."""
        own = {name: tensor(f"{kind}.{name}", *sides) for name, sides in keys.items()}
        before = tensor(f"{kind}.weight", *shape)
        if "dora_scale" in own:
            # Norms of the size that the weights have.
            own["dora_scale"] = own["dora_scale"].abs() * 2 + 0.1
        after = before + weight * scale * change(own).reshape(before.shape)
        if "dora_scale" in own:
            after = decomposed(after, own["dora_scale"], weight)
        results[f"{kind}.before"], results[f"{kind}.after"] = before, after
        results.update({f"{kind}.key.{name}": value for name, value in own.items()})
        if scale != 1:
            results[f"{kind}.key.alpha"] = torch.tensor(ALPHA)

    def low_rank(own):
        """Two factors."""
        return own["lora_up.weight"].flatten(1) @ own["lora_down.weight"].flatten(1)

    def hadamard(own):
        """Two products, or cores with both sides multiplied."""
        if "hada_t1" in own:
            first = tucker(own["hada_t1"], own["hada_w1_a"], own["hada_w1_b"])
            return first * tucker(own["hada_t2"], own["hada_w2_a"], own["hada_w2_b"])
        return (own["hada_w1_a"] @ own["hada_w1_b"]) * (own["hada_w2_a"] @ own["hada_w2_b"])

    def kronecker(own):
        """Two matrices, each perhaps a product."""
        first = own["lokr_w1"] if "lokr_w1" in own else own["lokr_w1_a"] @ own["lokr_w1_b"]
        if "lokr_t2" in own:
            second = tucker(own["lokr_t2"], own["lokr_w2_a"], own["lokr_w2_b"])
        elif "lokr_w2" in own:
            second = own["lokr_w2"]
        else:
            second = (own["lokr_w2_a"] @ own["lokr_w2_b"].flatten(1)).reshape(-1, *own["lokr_w2_b"].shape[1:])
        return torch.kron(first.reshape(*first.shape, *[1] * (second.dim() - 2)), second.contiguous())

    linear, conv, rank = (12, 10), (12, 10, 3, 3), 2
    scale = ALPHA / rank
    factors = {"lora_up.weight": (12, rank), "lora_down.weight": (rank, 10)}
    add("low_rank", linear, factors, low_rank, scale)
    kernels = {"lora_up.weight": (12, rank, 1, 1), "lora_down.weight": (rank, 10, 3, 3)}
    add("locon", conv, kernels, low_rank, scale)
    add(
        "locon_mid", conv,
        {"lora_up.weight": (12, rank, 1, 1), "lora_down.weight": (rank, 10, 1, 1), "lora_mid.weight": (rank, rank, 3, 3)},
        lambda own: tucker(
            own["lora_mid.weight"], own["lora_up.weight"].flatten(1).T, own["lora_down.weight"].flatten(1)
        ), scale,
    )  # fmt: skip
    pairs = {"hada_w1_a": (12, rank), "hada_w1_b": (rank, 10), "hada_w2_a": (12, rank), "hada_w2_b": (rank, 10)}
    add("loha", linear, pairs, hadamard, scale)
    wide = {**pairs, "hada_w1_b": (rank, 90), "hada_w2_b": (rank, 90)}
    add("loha_conv", conv, wide, hadamard, scale)
    cores = {"hada_t1": (rank, rank, 3, 3), "hada_t2": (rank, rank, 3, 3)}
    sides = {"hada_w1_a": (rank, 12), "hada_w1_b": (rank, 10), "hada_w2_a": (rank, 12), "hada_w2_b": (rank, 10)}
    add("loha_tucker", conv, {**cores, **sides}, hadamard, scale)
    add("lokr_full", linear, {"lokr_w1": (3, 2), "lokr_w2": (4, 5)}, kronecker, 1)
    halves = {"lokr_w1": (3, 2), "lokr_w2_a": (4, rank), "lokr_w2_b": (rank, 5)}
    add("lokr", linear, halves, kronecker, scale)
    both = {"lokr_w1_a": (3, rank), "lokr_w1_b": (rank, 2), "lokr_w2_a": (4, rank), "lokr_w2_b": (rank, 5)}
    add("lokr_both", linear, both, kronecker, scale)
    add("lokr_conv", conv, {**halves, "lokr_w2_b": (rank, 5, 3, 3)}, kronecker, scale)
    core = {"lokr_t2": (rank, rank, 3, 3), "lokr_w2_a": (rank, 4), "lokr_w2_b": (rank, 5)}
    add("lokr_tucker", conv, {"lokr_w1": (3, 2), **core}, kronecker, scale)
    add("dora_out", linear, {**factors, "dora_scale": (12, 1)}, low_rank, scale)
    add("dora_in", linear, {**factors, "dora_scale": (1, 10)}, low_rank, scale)
    add("dora_conv", conv, {**kernels, "dora_scale": (1, 10, 1, 1)}, low_rank, scale)
    add("difference", linear, {"diff": linear}, lambda own: own["diff"], 1)
    add("norm", (12,), {"w_norm": (12,)}, lambda own: own["w_norm"], 1)
    return results
