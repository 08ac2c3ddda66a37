"""Compares Sluice with diffusers on this processor: seconds, and diffusers' seconds divided by ours, in f32 and bf16, and in
both with weights of the type w8a8. In bf16 and with w8a8, the faster one of diffusers' f32 and bf16 counts.

    python engine/benches/pipeline.py [THREADS] [CASE]

Needs torch and diffusers (versions in tests/reference/requirements.txt). Both programs get the same number of threads; in
each case they run in turns and the fastest call of each counts, so that other work on the machine hits both. With CASE,
only cases whose names contain it are measured.
"""
import json
import os
import subprocess
import sys
import time

from compare import our_program

THREADS = sys.argv[1] if len(sys.argv) > 1 else "2"
WANTED = sys.argv[2] if len(sys.argv) > 2 else ""
ROUNDS = 3
REPEATS = 3
# Seconds of a call that is not repeated: beside it, what warms up counts for nothing. PyTorch takes that long in bf16 on
# processors that have no instruction for it.
LONG = 15
DTYPES = ["f32", "bf16"]
os.environ["OMP_NUM_THREADS"] = THREADS

import diffusers  # noqa: E402
import torch  # noqa: E402
from diffusers import (  # noqa: E402
    AutoencoderKL, FluxTransformer2DModel, SD3Transformer2DModel, UNet2DConditionModel, ZImageTransformer2DModel,
)

torch.set_num_threads(int(THREADS))
torch.manual_seed(0)
HALVES = dict(
    down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4,
    use_quant_conv=False, use_post_quant_conv=False,
)


def fastest(work):
    """Seconds of the fastest of several calls, after one that warms up."""
    best = float("inf")
    for repeat in range(REPEATS + 1):
        start = time.perf_counter()
        work()
        took = time.perf_counter() - start
        if repeat or took > LONG:
            best = min(best, took)
        if took > LONG:
            break
    return best


def step(side, caption, **config):
    """One call of the transformer."""
    model = ZImageTransformer2DModel(**config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.02)
    latents = [torch.randn(config["in_channels"], 1, side, side)]
    prompt = [torch.randn(caption, config["cap_feat_dim"])]
    return lambda: model(latents, torch.tensor([0.5]), prompt)


def flux_step():
    """One call of FLUX.1 with one block of each kind, 1024 image tokens and 512 of text."""
    model = FluxTransformer2DModel(num_layers=1, num_single_layers=1, guidance_embeds=False).eval()
    places = torch.zeros(1024, 3)
    places[:, 1], places[:, 2] = torch.arange(1024) // 32, torch.arange(1024) % 32
    inputs = dict(
        hidden_states=torch.randn(1, 1024, 64), encoder_hidden_states=torch.randn(1, 512, 4096),
        pooled_projections=torch.randn(1, 768), timestep=torch.tensor([0.5]), img_ids=places,
        txt_ids=torch.zeros(512, 3),
    )
    return lambda: model(**inputs)


def sd3_step():
    """One call of Stable Diffusion 3.5 large with two blocks, 1024 image tokens and 333 of text."""
    model = SD3Transformer2DModel(
        num_layers=2, num_attention_heads=38, caption_projection_dim=2432, joint_attention_dim=4096,
        pooled_projection_dim=2048, pos_embed_max_size=192, qk_norm="rms_norm", in_channels=16, out_channels=16,
    ).eval()
    inputs = dict(
        hidden_states=torch.randn(1, 16, 64, 64), encoder_hidden_states=torch.randn(1, 333, 4096),
        pooled_projections=torch.randn(1, 2048), timestep=torch.tensor([500.0]),
    )
    return lambda: model(**inputs)


def unet_step(side, width, heads, prompt, up):
    """One call of a UNet with one level."""
    model = UNet2DConditionModel(
        block_out_channels=(width,), layers_per_block=1, attention_head_dim=heads, cross_attention_dim=prompt,
        down_block_types=("CrossAttnDownBlock2D",), up_block_types=(up,), mid_block_type=None,
        use_linear_projection=True,
    ).eval()
    latents, embeddings = torch.randn(1, 4, side, side), torch.randn(1, 77, prompt)
    return lambda: model(latents, 500, embeddings)


def decode(side, **config):
    """One call of the decoder."""
    model = AutoencoderKL(**HALVES, **config).eval()
    latents = torch.randn(1, config["latent_channels"], side, side)
    return lambda: model.decode(latents)


STARTER = dict(
    in_channels=12, dim=160, n_layers=4, n_refiner_layers=1, n_heads=5, n_kv_heads=5, cap_feat_dim=128,
    axes_dims=[8, 12, 12], axes_lens=[1024, 256, 256],
)
ONE_BLOCK = dict(in_channels=16, n_layers=1, n_refiner_layers=0, cap_feat_dim=2560)
CASES = {
    "step starter 128": lambda: step(16, 32, **STARTER),
    "step z_image one block 512": lambda: step(64, 64, **ONE_BLOCK),
    "step flux a block of each kind 512": flux_step,
    "step sd3.5 large two blocks 512": sd3_step,
    "step sdxl lowest level 1024": lambda: unet_step(32, 1280, 20, 2048, "UpBlock2D"),
    "step sd1.5 highest level 512": lambda: unet_step(64, 320, 8, 768, "CrossAttnUpBlock2D"),
    "decode starter 128": lambda: decode(
        16, latent_channels=12, block_out_channels=(16, 32, 64, 96), layers_per_block=1, norm_num_groups=4
    ),
    "decode flux 256": lambda: decode(
        32, latent_channels=16, block_out_channels=(128, 256, 512, 512), layers_per_block=2
    ),
}


def ours(program, name, dtype, *more):
    """The line about the processor, and our seconds of a case."""
    command = [program, name, "--repeats", str(REPEATS), *more] + (["--bf16"] if dtype == "bf16" else [])
    environment = dict(os.environ, RAYON_NUM_THREADS=THREADS)
    lines = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()
    return lines[0], next(json.loads(line)["seconds"] for line in lines if line.startswith("{"))


def made(name, dtype):
    """diffusers' call of a case, with its model and its inputs in a dtype."""
    torch.set_default_dtype({"f32": torch.float32, "bf16": torch.bfloat16}[dtype])
    call = CASES[name]()
    torch.set_default_dtype(torch.float32)
    return call


def measured(program, name, dtype):
    """The line about the processor, our seconds with weights in the dtype and with w8a8, and diffusers'."""
    call, owns, rounded, others = made(name, dtype), [], [], []
    for _ in range(ROUNDS):
        processor, own = ours(program, name, dtype)
        owns.append(own)
        rounded.append(ours(program, name, dtype, "--w8a8")[1])
        if not others or others[-1] < LONG:
            others.append(fastest(call))
    return processor, min(owns), min(rounded), min(others)


def main():
    """Prints the table."""
    program = our_program()
    print(f"PyTorch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()}), diffusers {diffusers.__version__}")
    with torch.no_grad():
        for place, name in enumerate(name for name in CASES if WANTED in name):
            (processor, own, rounded, other), (_, own_16, rounded_16, other_16) = [
                measured(program, name, dtype) for dtype in DTYPES
            ]
            if not place:
                print(f"{processor}\n")
                best = "best of diffusers / Sluice"
                print(
                    "| | Sluice, f32 (s) | diffusers, f32 (s) | diffusers / Sluice"
                    f" | Sluice, bf16 (s) | diffusers, bf16 (s) | {best} in bf16"
                    f" | Sluice, w8a8 in f32 (s) | {best} | Sluice, w8a8 in bf16 (s) | {best} |"
                )
                print("|---" * 11 + "|")
            fastest_other = min(other, other_16)
            figures = [own, other, other / own, own_16, other_16, fastest_other / own_16]
            figures += [rounded, fastest_other / rounded, rounded_16, fastest_other / rounded_16]
            row = " | ".join(f"{figure:.2f}" if index in (2, 5, 7, 9) else f"{figure:.3f}" for index, figure in enumerate(figures))
            print(f"| {name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
