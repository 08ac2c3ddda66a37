"""Compares Sluice with diffusers on blocks of image models at full width: seconds and peak memory, and diffusers' divided
by ours.

    python engine/benches/images.py [THREADS]

Needs torch and diffusers (versions in tests/reference/requirements.txt).
"""
from compare import fastest, run

PROMPT = 512


def qwen_image(side):
    """One call of Qwen-Image with one block, for a square image of this many pixels a side."""
    import torch
    from diffusers import QwenImageTransformer2DModel

    model, grid = QwenImageTransformer2DModel(num_layers=1).eval(), side // 16
    inputs = dict(
        hidden_states=torch.randn(1, grid * grid, 64), encoder_hidden_states=torch.randn(1, PROMPT, 3584),
        timestep=torch.tensor([0.5]), img_shapes=[[(1, grid, grid)]],
    )
    return fastest(lambda: model(**inputs))


def flux2(side):
    """The same of FLUX.2 klein 4B with one block of each kind."""
    import torch
    from diffusers import Flux2Transformer2DModel

    model = Flux2Transformer2DModel(
        num_layers=1, num_single_layers=1, num_attention_heads=24, joint_attention_dim=7680, guidance_embeds=False
    ).eval()
    grid = side // 16
    places = torch.zeros(1, grid * grid, 4)
    places[..., 1], places[..., 2] = torch.arange(grid * grid) // grid, torch.arange(grid * grid) % grid
    words = torch.zeros(1, PROMPT, 4)
    words[..., 3] = torch.arange(PROMPT)
    inputs = dict(
        hidden_states=torch.randn(1, grid * grid, 128), encoder_hidden_states=torch.randn(1, PROMPT, 7680),
        timestep=torch.tensor([0.5]), img_ids=places, txt_ids=words,
    )
    return fastest(lambda: model(**inputs))


def anima(side):
    """The same of Anima with one block, without the channel that is always zero."""
    import torch
    from diffusers import CosmosTransformer3DModel

    model = CosmosTransformer3DModel(
        num_layers=1, num_attention_heads=16, rope_scale=(1.0, 4.0, 4.0), extra_pos_embed_type=None,
        concat_padding_mask=False,
    ).eval()
    inputs = dict(
        hidden_states=torch.randn(1, 16, 1, side // 8, side // 8), timestep=torch.tensor([0.5]),
        encoder_hidden_states=torch.randn(1, PROMPT, 1024),
    )
    return fastest(lambda: model(**inputs))


CASES = {
    "wide qwen-image one block 1024": lambda: qwen_image(1024),
    "wide qwen-image one block 1328": lambda: qwen_image(1328),
    "wide flux.2 klein 4B a block of each kind 1024": lambda: flux2(1024),
    "wide flux.2 klein 4B a block of each kind 1328": lambda: flux2(1328),
    "wide anima one block 1024": lambda: anima(1024),
    "wide anima one block 1328": lambda: anima(1328),
}


if __name__ == "__main__":
    run(CASES, __file__)
