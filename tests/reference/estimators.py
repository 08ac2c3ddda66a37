"""Writes the fixtures of map estimators: what ultralytics' YOLOv8-pose, transformers' SegFormer and controlnet_aux's HED make
of noise, and the maps that are drawn of it.

Needs torch, numpy, safetensors, transformers 5, ultralytics, controlnet_aux and OpenCV. The weights come from the names that
files of each network have, those of YOLOv8-pose from detect.py.
"""

import argparse
import json
import os
import tempfile

import cv2
import numpy
import torch
from controlnet_aux.hed import ControlNetHED_Apache2, DoubleConvBlock, HEDdetector
from controlnet_aux.open_pose.body import Keypoint
from controlnet_aux.open_pose.util import draw_bodypose
from controlnet_aux.util import ade_palette
from safetensors.torch import save_file
from transformers import SegformerForSemanticSegmentation, SegformerImageProcessor
from ultralytics.utils.nms import non_max_suppression

import detect
import hash_weights

torch.set_num_threads(2)

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "estimators")
KERNELS = 1.5
# The stages of the tiny SegFormer: channels, layers, and the side of the squares of keys.
STAGES = [(16, 2, 8), (32, 1, 4), (48, 1, 2), (64, 2, 1)]
JOINED = 24
SEEN = (64, 96)
# The size of the image of which SegFormer's map is drawn.
MAPPED = (50, 70)
# The blocks of the tiny HED: channels and convolutions.
BLOCKS = [(8, 2), (8, 2), (12, 3), (12, 3), (16, 3)]
EDGES = (64, 128)
# An image, its size as YOLOv8 sees it, and what that is in the middle of.
IMAGE, INNER, WHOLE = (512, 704), (465, 640), (480, 640)
CONFIDENCE = 0.3
# Of COCO's joints: OpenPose's, of which the second is the neck.
JOINTS = [0, None, 6, 8, 10, 5, 7, 9, 12, 14, 16, 11, 13, 15, 2, 1, 4, 3]


def pixels(name, size):
    """Bytes of noise, the same as in src/estimators.rs."""
    noise = hash_weights.noise(name, (*size, 3)) * numpy.float32(40) + numpy.float32(128)
    return noise.clip(0, 255).astype(numpy.uint8)


def weight(prefix, name, shape):
    """A weight by its name."""
    scale = KERNELS if len(shape) == 4 else 1.0
    return torch.from_numpy(numpy.ascontiguousarray(hash_weights.weight(f"{prefix}.{name}", tuple(shape), scale)))


def segments():
    """The classes of every third place and every seventh class, and the map of an image."""
    config = {
        "model_type": "segformer", "architectures": ["SegformerForSemanticSegmentation"],
        "hidden_sizes": [width for width, _, _ in STAGES], "depths": [layers for _, layers, _ in STAGES],
        "sr_ratios": [reduction for _, _, reduction in STAGES], "decoder_hidden_size": JOINED,
        "num_attention_heads": [1, 2, 3, 4], "mlp_ratios": [4] * 4, "num_encoder_blocks": 4,
        "patch_sizes": [7, 3, 3, 3], "strides": [4, 2, 2, 2], "drop_path_rate": 0.0,
        "id2label": {str(number): str(number) for number in range(150)},
    }
    tensors = {}

    def add(name, *shape):
        tensors[name] = weight("segformer", name, shape)

    def with_bias(name, *shape):
        add(f"{name}.weight", *shape)
        add(f"{name}.bias", shape[0])

    inputs = 3
    for stage, (width, layers, reduction) in enumerate(STAGES):
        side = 7 if stage == 0 else 3
        with_bias(f"segformer.encoder.patch_embeddings.{stage}.proj", width, inputs, side, side)
        with_bias(f"segformer.encoder.patch_embeddings.{stage}.layer_norm", width)
        for layer in range(layers):
            name = f"segformer.encoder.block.{stage}.{layer}"
            with_bias(f"{name}.layer_norm_1", width)
            with_bias(f"{name}.layer_norm_2", width)
            for linear in ["query", "key", "value"]:
                with_bias(f"{name}.attention.self.{linear}", width, width)
            if reduction > 1:
                with_bias(f"{name}.attention.self.sr", width, width, reduction, reduction)
                with_bias(f"{name}.attention.self.layer_norm", width)
            with_bias(f"{name}.attention.output.dense", width, width)
            with_bias(f"{name}.mlp.dense1", 4 * width, width)
            with_bias(f"{name}.mlp.dwconv.dwconv", 4 * width, 1, 3, 3)
            with_bias(f"{name}.mlp.dense2", width, 4 * width)
        with_bias(f"segformer.encoder.layer_norm.{stage}", width)
        with_bias(f"decode_head.linear_c.{stage}.proj", JOINED, width)
        inputs = width
    add("decode_head.linear_fuse.weight", JOINED, 4 * JOINED, 1, 1)
    for end in ["weight", "bias", "running_mean", "running_var"]:
        add(f"decode_head.batch_norm.{end}", JOINED)
    with_bias("decode_head.classifier", 150, JOINED, 1, 1)
    with tempfile.TemporaryDirectory() as folder:
        tensors["decode_head.batch_norm.num_batches_tracked"] = torch.tensor(7)
        save_file(tensors, f"{folder}/model.safetensors", metadata={"format": "pt"})
        with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
            json.dump(config, file)
        model, info = SegformerForSemanticSegmentation.from_pretrained(folder, output_loading_info=True)
    assert not info["missing_keys"] and not info["unexpected_keys"], info
    image = torch.from_numpy(hash_weights.noise("segformer.image", (1, 3, *SEEN)))
    with torch.no_grad():
        result = model.eval()(image)
    ids = SegformerImageProcessor().post_process_semantic_segmentation(result, [MAPPED])[0]
    colours = torch.tensor(ade_palette(), dtype=torch.uint8)[ids]
    print("segments", ids.unique().numel(), "classes")
    return {"segments.classes": result.logits[0, ::7, ::3, ::3], "segments.map": colours[::3, ::5]}


def edges():
    """What is said of every third pixel, and the map."""
    network = ControlNetHED_Apache2()
    inputs = 3
    for number, (width, convs) in enumerate(BLOCKS):
        setattr(network, f"block{number + 1}", DoubleConvBlock(inputs, width, convs))
        inputs = width
    state = {key: weight("hed", key, value.shape) for key, value in network.state_dict().items()}
    for key in state:
        if key.endswith("projection.weight"):
            state[key] = state[key] / 32
    network.load_state_dict(state)
    picture = pixels("hed.image", EDGES)
    with torch.no_grad():
        said = network(torch.from_numpy(picture).float().permute(2, 0, 1)[None])
        whole = [torch.nn.functional.interpolate(each, EDGES, mode="bilinear") for each in said]
    drawn = HEDdetector(network)(picture, detect_resolution=EDGES[0], image_resolution=EDGES[0], output_type="np")
    print("soft edges from", drawn.min(), "to", drawn.max())
    mean = torch.cat(whole, 1).mean(1)[0]
    return {"soft_edge.edges": mean[::3, ::3], "soft_edge.map": torch.from_numpy(drawn[::3, ::3, 0].copy())}


def pose(out):
    """The raw joints, the persons that are found, and a picture of them."""
    network = detect.network("joints")
    picture = pixels("pose.image", INNER)
    top = (WHOLE[0] - INNER[0]) // 2
    seen = numpy.full((*WHOLE, 3), 114, numpy.uint8)
    seen[top:top + INNER[0]] = picture
    with torch.no_grad():
        decoded, raw = network(torch.from_numpy(seen).permute(2, 0, 1)[None].float() / 255)
    found = non_max_suppression(decoded, CONFIDENCE, detect.OVERLAP, nc=1)[0]
    sure = raw["scores"][0].sigmoid().amax(0)
    joints = found[:, 6:].reshape(-1, 17, 3)
    print("poses", len(found), "of", int((sure > CONFIDENCE).sum()), "nearest to the limit:",
          float((sure - CONFIDENCE).abs().min()), float((joints[..., 2] - CONFIDENCE).abs().min()))
    canvas = numpy.zeros((*IMAGE, 3), numpy.uint8)
    for person in joints:
        def joint(number):
            x, y, sure = person[number].tolist()
            if sure <= CONFIDENCE:
                return None
            return [x / (INNER[1] / IMAGE[1]), (y - top) / (INNER[0] / IMAGE[0])]

        shoulders = [joint(5), joint(6)]
        neck = None if None in shoulders else [(shoulders[0][axis] + shoulders[1][axis]) / 2 for axis in range(2)]
        places = [neck if number is None else joint(number) for number in JOINTS]
        keypoints = [None if place is None else Keypoint(place[0] / IMAGE[1], place[1] / IMAGE[0]) for place in places]
        canvas = draw_bodypose(canvas, keypoints)
    cv2.imwrite(f"{out}/pose.png", canvas[:, :, ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9])
    return {"pose.raw": raw["kpts"][0, ::9, ::300], "pose.found": found}


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=FIXTURES, help="where to write, if not to the fixtures")
    out = parser.parse_args().out
    os.makedirs(out, exist_ok=True)
    results = segments() | edges() | pose(out)
    for name, value in results.items():
        print(name, list(value.shape), value.dtype, float(value.float().abs().max()), float(value.float().std()))
    save_file({name: value.contiguous() for name, value in results.items()}, f"{out}/golden.safetensors")
    print({name: os.path.getsize(f"{out}/{name}") for name in os.listdir(out)})


if __name__ == "__main__":
    main()
