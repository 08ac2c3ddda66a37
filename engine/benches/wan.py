"""Compares Sluice with diffusers on the parts of Wan: seconds and peak memory, and diffusers' divided by ours.

    python engine/benches/wan.py [THREADS]

Needs torch, diffusers and transformers (versions in tests/reference/requirements.txt).
"""
from compare import fastest, run


def block(heads, ffn):
    """One call of a transformer with one block, 8192 tokens of 29 frames of 512×512, 512 tokens of text."""
    import torch
    from diffusers import WanTransformer3DModel

    model = WanTransformer3DModel(num_attention_heads=heads, ffn_dim=ffn, num_layers=1).eval()
    latents, text = torch.randn(1, 16, 8, 64, 64), torch.randn(1, 512, 4096)
    return fastest(lambda: model(latents, torch.tensor([500]), text))


def layer():
    """One call of UMT5-XXL with one layer, 512 tokens."""
    import torch
    from transformers import UMT5Config, UMT5EncoderModel

    shape = dict(d_model=4096, d_kv=64, d_ff=10240, num_heads=64, feed_forward_proj="gated-gelu")
    model = UMT5EncoderModel(UMT5Config(vocab_size=1000, num_layers=1, **shape)).eval()
    return fastest(lambda: model(torch.arange(512)[None]))


def decode():
    """One decode of 17 frames of 256×256."""
    import torch
    from diffusers import AutoencoderKLWan

    model = AutoencoderKLWan().eval()
    latents = torch.randn(1, 16, 5, 32, 32)
    return fastest(lambda: model.decode(latents))


CASES = {
    "clip wan 1.3B one block 8192 tokens": lambda: block(12, 8960),
    "clip wan 14B one block 8192 tokens": lambda: block(40, 13824),
    "clip umt5 one layer 512 tokens": layer,
    "clip decode wan 17 frames 256": decode,
}


if __name__ == "__main__":
    run(CASES, __file__)
