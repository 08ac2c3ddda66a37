"""Writes the fixtures of detectors: what ultralytics' YOLOv8 makes of noise, with and without shapes.

Needs only torch, numpy, safetensors and ultralytics. The weights come from ultralytics' own names.
"""

import argparse
import os
import re

import torch
import yaml
from safetensors.torch import save_file
from ultralytics.nn import tasks
from ultralytics.utils import ROOT
from ultralytics.utils.nms import non_max_suppression

import hash_weights

torch.set_num_threads(2)

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "detect")
SEED = "detect."
HEIGHT, WIDTH = 64, 96
# Depth, width and the most channels of the tiny networks.
TINY = [0.33, 0.0625, 1024]
CLASSES = 2
# Kernels of the usual size make nearly nothing after so many activations.
KERNELS = 1.5
# How sure the networks must be: no place is near it.
CONFIDENCE = 0.82
OVERLAP = 0.7
# The network with joints: how much more it says of persons and joints, which are all the same otherwise, what is taken from
# how sure it is of persons, so that there are few, and how far joints are moved, so that more of them are in the image.
CONTRAST = 20.0
ASIDE = 2.0
UNSURE = 2.44


def network(name):
    """A tiny YOLOv8 with weights by the names of its tensors."""
    file = {"plain": "yolov8.yaml", "shapes": "yolov8-seg.yaml", "joints": "yolov8-pose.yaml"}[name]
    with open(ROOT / "cfg" / "models" / "v8" / file, encoding="utf-8") as text:
        config = yaml.safe_load(text)
    config |= {"scales": {"t": TINY}, "scale": "t", "nc": 1 if name == "joints" else CLASSES}
    kind = {"plain": tasks.DetectionModel, "shapes": tasks.SegmentationModel, "joints": tasks.PoseModel}[name]
    model = kind(config, verbose=False).eval()
    state = {}
    for key, value in model.state_dict().items():
        if key.endswith("num_batches_tracked") or key == "model.22.dfl.conv.weight":
            state[key] = value
        else:
            scale = KERNELS if value.dim() == 4 else 1.0
            state[key] = torch.from_numpy(hash_weights.weight(f"{SEED}{key}", tuple(value.shape), scale))
            if name == "joints" and re.fullmatch(r"model\.22\.cv[34]\.\d\.2\.(weight|bias)", key):
                state[key] = state[key] * CONTRAST
                if key.endswith(".bias"):
                    state[key] = state[key] + (-UNSURE if "cv3" in key else ASIDE)
    model.load_state_dict(state)
    return model


def results(name):
    """The raw outputs of a network, and what is found."""
    image = torch.from_numpy(hash_weights.noise(f"{SEED}image", (1, 3, HEIGHT, WIDTH)))
    model = network(name)
    with torch.no_grad():
        decoded, raw = model(image)
    found = {}
    prototypes = None
    # The outputs that both have are the same.
    if name == "shapes":
        decoded, prototypes = decoded
        found["sides"], found["classes"] = raw["boxes"][0, ::22, ::25], raw["scores"][0, :, ::25]
        found["shares"] = raw["mask_coefficient"][0, ::11, ::25]
        found["prototypes"] = prototypes[0, ::11, ::8, ::8]
    boxes = non_max_suppression(decoded, CONFIDENCE, OVERLAP, nc=CLASSES)[0]
    found["boxes"] = boxes[:, :6]
    if prototypes is not None:
        shapes = torch.einsum("nc,chw->nhw", boxes[:, 6:], prototypes[0])
        found["masks"] = shapes[::3, ::8, ::8]
    sure = raw["scores"][0].sigmoid().amax(0)
    near = float((sure - CONFIDENCE).abs().min())
    print(name, len(boxes), "of", int((sure > CONFIDENCE).sum()), "boxes; nearest to the limit:", near)
    return found


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=FIXTURES, help="where to write, if not to the fixtures")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    found = {}
    for name in ["plain", "shapes"]:
        own = results(name)
        # Both find the same boxes: the layers before what tells shapes are the same.
        assert "boxes" not in found or torch.equal(found["boxes"], own["boxes"])
        found |= own
    for name, value in found.items():
        print(name, list(value.shape), float(value.abs().max()), float(value.std()))
    save_file({name: value.contiguous() for name, value in found.items()}, f"{arguments.out}/golden.safetensors")


if __name__ == "__main__":
    main()
