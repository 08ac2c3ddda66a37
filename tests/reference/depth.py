"""Writes the fixtures of depth estimators: manifests of tiny ones, and what transformers' network makes of noise.

Needs only torch, numpy, safetensors and transformers 5.
"""

import argparse
import json
import os

import numpy
import torch
from safetensors.torch import save_file
from transformers import DepthAnythingConfig, DepthAnythingForDepthEstimation, Dinov2Config

import hash_weights

torch.set_num_threads(1)

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "depth")
# Height and width of the images: the grid that is trained, another one, and one that is higher than wide. Of the larger
# ones every seventh pixel is kept.
SIZES = [((56, 56), 7), ((28, 70), 7), ((42, 28), 1)]
NAME = "depth.tiny"


def network():
    """A tiny network, whose weights come from their names."""
    backbone = Dinov2Config(
        hidden_size=128, num_hidden_layers=8, num_attention_heads=2, image_size=56, patch_size=14,
        out_indices=[2, 4, 6, 8], apply_layernorm=True, reshape_hidden_states=False,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone, reassemble_hidden_size=128, patch_size=14, neck_hidden_sizes=[8, 12, 16, 24],
        fusion_hidden_size=16, head_hidden_size=32,
    )
    model = DepthAnythingForDepthEstimation(config).eval()
    state = {}
    for key, value in model.state_dict().items():
        made = hash_weights.weight(f"{NAME}.{key}", tuple(value.shape))
        state[key] = torch.from_numpy(numpy.ascontiguousarray(made))
    # What comes before the last activation is above zero nearly everywhere, so that it hides nothing.
    state["head.conv3.bias"] = state["head.conv3.bias"] + 3.0
    model.load_state_dict(state)
    return model, state


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=FIXTURES, help="where to write, if not to the fixtures")
    out = parser.parse_args().out
    os.makedirs(out, exist_ok=True)
    model, state = network()
    results = {}
    for (height, width), kept in SIZES:
        name = f"{height}x{width}"
        image = torch.from_numpy(hash_weights.noise(f"{NAME}.{name}", (1, 3, height, width)))
        with torch.no_grad():
            depth = model(image).predicted_depth
        print(name, float(depth.min()), float(depth.max()), float((depth == 0).float().mean()))
        results[name] = depth[:, ::kept, ::kept].contiguous()
    save_file(results, f"{out}/golden.safetensors")
    entry = {"seed": NAME, "metadata": None}
    entry["tensors"] = {key: ["F32", list(value.shape)] for key, value in state.items()}
    with open(f"{out}/manifest.json", "w", encoding="utf-8") as file:
        json.dump({"model.safetensors": entry}, file, separators=(",", ":"))
        file.write("\n")
    print({name: os.path.getsize(f"{out}/{name}") for name in os.listdir(out)})


if __name__ == "__main__":
    main()
