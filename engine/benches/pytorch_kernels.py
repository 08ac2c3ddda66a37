"""Times PyTorch on the shapes of `kernels.rs`: pytorch_kernels.py [threads] [conv conv-bf16 linear bf16 attention attention-bf16 norm]."""

import sys
import time

import torch
import torch.nn.functional as F

CONVOLUTIONS = [
    (16, 16, 128, 128),
    (32, 32, 128, 128),
    (64, 64, 64, 64),
    (96, 96, 32, 32),
    (128, 128, 64, 64),
    (320, 320, 64, 64),
    (640, 640, 32, 32),
    (1280, 1280, 16, 16),
    (512, 512, 64, 64),
    (512, 512, 128, 128),
    (256, 256, 256, 256),
    (128, 128, 512, 512),
    (3, 128, 256, 256),
    (128, 3, 256, 256),
]
PRODUCTS = [
    (1, 3840, 3840),
    (96, 3840, 3840),
    (1024, 3840, 3840),
    (256, 3840, 10240),
    (1024, 1024, 1024),
    (1024, 640, 640),
    (512, 192, 512),
    (256, 192, 192),
]
ATTENTIONS = [
    (77, 77, 12, 64),
    (256, 256, 8, 32),
    (1024, 77, 20, 64),
    (1024, 1024, 10, 64),
    (4096, 4096, 10, 64),
    (4096, 4096, 8, 40),
    (1056, 1056, 30, 128),
    (4096, 4096, 1, 512),
    (8192, 8192, 2, 64),
    (8192, 8192, 2, 128),
    (32768, 32768, 1, 128),
]
NORMS = [(512, 64, 64), (256, 256, 256), (128, 512, 512)]


def row(name, operations, work):
    best, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < 1.5 or best == float("inf"):
        run = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - run)
    print(f"{name:<32} {operations / best / 1e9:>10.1f}", flush=True)


def main():
    arguments = sys.argv[1:]
    threads = [int(argument) for argument in arguments if argument.isdigit()]
    wanted = [argument for argument in arguments if not argument.isdigit()]
    torch.set_num_threads(threads[0] if threads else 2)
    print(f"{torch.get_num_threads()} threads, PyTorch {torch.__version__}")
    if not wanted or "conv" in wanted:
        for inputs, outputs, height, width in CONVOLUTIONS:
            x, weight = torch.randn(1, inputs, height, width), torch.randn(outputs, inputs, 3, 3)
            bias, operations = torch.randn(outputs), 18 * inputs * outputs * height * width
            row(
                f"conv 3×3 {inputs}→{outputs} {height}×{width}",
                operations,
                lambda: F.conv2d(x, weight, bias, padding=1),
            )
    if not wanted or "conv-bf16" in wanted:
        for inputs, outputs, height, width in CONVOLUTIONS:
            x, weight = torch.randn(1, inputs, height, width).bfloat16(), torch.randn(outputs, inputs, 3, 3).bfloat16()
            row(
                f"conv bf16 3×3 {inputs}→{outputs} {height}×{width}",
                18 * inputs * outputs * height * width,
                lambda: F.conv2d(x, weight, padding=1),
            )
    if not wanted or "linear" in wanted:
        for rows, inputs, outputs in PRODUCTS:
            x, weight, bias = torch.randn(rows, inputs), torch.randn(outputs, inputs), torch.randn(outputs)
            row(
                f"linear {rows}×{inputs}→{outputs}",
                2 * rows * inputs * outputs,
                lambda: F.linear(x, weight, bias),
            )
    if not wanted or "bf16" in wanted:
        for rows, inputs, outputs in PRODUCTS:
            x, weight = torch.randn(rows, inputs).bfloat16(), torch.randn(outputs, inputs).bfloat16()
            row(f"bf16 {rows}×{inputs}→{outputs}", 2 * rows * inputs * outputs, lambda: F.linear(x, weight))
    if not wanted or "attention" in wanted:
        for tokens, keys, heads, width in ATTENTIONS:
            q, k, v = (torch.randn(1, count, heads, width).transpose(1, 2) for count in (tokens, keys, keys))
            row(
                f"attention {tokens}×{keys} {heads}×{width}",
                4 * tokens * keys * heads * width,
                lambda: F.scaled_dot_product_attention(q, k, v),
            )
    if not wanted or "attention-bf16" in wanted:
        for tokens, keys, heads, width in ATTENTIONS:
            q, k, v = (
                torch.randn(1, count, heads, width).bfloat16().transpose(1, 2) for count in (tokens, keys, keys)
            )
            row(
                f"attention bf16 {tokens}×{keys} {heads}×{width}",
                4 * tokens * keys * heads * width,
                lambda: F.scaled_dot_product_attention(q, k, v),
            )
    if not wanted or "norm" in wanted:
        for channels, height, width in NORMS:
            x, weight, bias = torch.randn(1, channels, height, width), torch.randn(channels), torch.randn(channels)
            row(
                f"group norm, SiLU {channels} {height}×{width}",
                8 * channels * height * width,
                lambda: F.silu(F.group_norm(x, 32, weight, bias, 1e-6)),
            )


with torch.inference_mode():
    main()
