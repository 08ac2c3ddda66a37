"""The checkpoints and the runs that the tests compare.

Numbers that are right for one configuration only do not survive `salted`, where every size, constant and
weight differs. In `faint` the tensors that enter the norms are so small that the epsilons decide.
"""

from dataclasses import dataclass, field

HORSE = "a photo of an astronaut riding a horse on mars"
MIXED = 'Ein Fuchs im Schnee, 雪の中の狐, "вечер" — crème brûlée 🦊🏔️  4k\n\tline two, it\'s DONE cafe\u0301'
# As much as CLIP reads at once: where diffusers cuts a longer prompt, this engine reads further chunks.
BRIEF = 'Ein Fuchs im Schnee, 雪の狐, "вечер" — crème 🦊\n\tit\'s DONE cafe\u0301'
LONG = (
    "a red cube on top of a blue sphere beside a green cone, studio light, highly detailed, watercolor, with a "
    "dog dancing in the rain and a squirrel eating a burger behind them"
)


@dataclass
class Run:
    """One call of a pipeline. `sampler` is "euler", "heun", "ddim", "lcm" or "uni_pc"; `timesteps` are those of a distilled model.

    With a `refiner`, the case of another checkpoint, the pipeline stops after the fraction `refiner_switch` of the
    schedule, and the refiner takes the remaining steps.
    """

    prompt: str
    negative: str
    steps: int
    guidance: float
    height: int
    width: int
    batch: int = 1
    max_tokens: int = 64
    sampler: str = "euler"
    true_cfg: float = 1.0
    refiner: str | None = None
    refiner_switch: float = 1.0
    frames: int = 1
    timesteps: tuple = ()


@dataclass
class Edit(Run):
    """A run that starts from a picture: `source` has the sides of the picture and of its mask, and the strength."""

    source: dict = field(default_factory=dict)


@dataclass
class Given(Run):
    """A run for a clip of which pictures or frames are given: `source` has what `given` returns."""

    source: dict = field(default_factory=dict)


@dataclass
class Referenced(Run):
    """A run that edits pictures: `references` has the sides of the pictures, and the side of the square with as many pixels
    as they are scaled to."""

    references: dict = field(default_factory=dict)


@dataclass
class Seen(Referenced):
    """A run of FLUX.1 that reads pictures through the Redux model of a case, each with a strength."""

    redux: str = "default"
    strengths: tuple = ()


@dataclass
class Steered(Run):
    """A run that ControlNets steer: `control_nets` has what `control_net` returns."""

    control_nets: list = field(default_factory=list)


@dataclass
class Prompted(Run):
    """A run that reads pictures through IP-Adapters: `image_prompts` has what `image_prompt` returns."""

    image_prompts: list = field(default_factory=list)


def image_prompt(kind, images, weight=1.0, start=0.0, end=1.0):
    """An IP-Adapter of a `Prompted`: "plain" or "plus", its pictures, which are those of other runs, its weight, and when it
    acts."""
    return {"kind": kind, "images": list(images), "weight": weight, "start": start, "end": end}


def control_net(name, picture, weight=1.0, start=0.0, end=1.0, mode=None, control_type=None, **shape):
    """A ControlNet of a `Steered`: its name, the sides of its picture, its weight, when it acts, and the kind of its picture.
    `control_type` is what a file of Stability says of that. One for a transformer has the shape of that, but for `shape`."""
    all_others = (("mode", mode), ("control_type", control_type), ("shape", shape))
    others = {key: value for key, value in all_others if value}
    return {"name": name, "picture": picture, "weight": weight, "start": start, "end": end, **others}


def references(side, *pictures):
    """The references of a `Referenced`."""
    return {"pictures": list(pictures), "side": side}


def given(first=None, last=None, clip=None, strength=1.0, keyframes=()):
    """The source of a `Given`: the sides of the first and of the last picture, or the sides of a clip, which has as many
    frames as the run. `keyframes` are pictures between them: frame, width and height."""
    keys = {"keyframes": list(keyframes)} if keyframes else {}
    return {"first": first, "last": last, "clip": clip, "strength": strength, **keys}


def controlled(control=None, masked=False, references=(), scale=1.0):
    """The source of a `Given` for a controlled clip: the sides of the frames of a clip, whether they are masked, the sides
    of pictures of what appears, and the strength."""
    return {**given(), "control": control, "masked": masked, "references": list(references), "scale": scale}


def edit(strength, picture, mask=None):
    """The source of an `Edit`."""
    return {"strength": strength, "picture": picture, "mask": mask}


@dataclass
class Checkpoint:
    """A tiny checkpoint: options of its family's function, and what its weights are made from.

    `scales` maps a component to rows of (pattern, factor): a tensor whose name a pattern matches is multiplied
    by the factor of the first such row.
    """

    runs: dict[str, Run]
    salt: str = ""
    options: dict = field(default_factory=dict)
    scales: dict = field(default_factory=dict)


# Quotations, which LongCat-Image reads letter by letter, with and without the marks of the same pair beside them.
QUOTED = "a sign says \"Café 42\" and 'it's open' below “开放”; it's late"

# A vision tower whose heads and whole layers are as the tensors of published ones show.
VISION = {"depth": 8, "hidden_size": 160, "intermediate_size": 48, "num_heads": 2, "fullatt_block_indexes": [7]}

# A causal autoencoder of another shape than the published one.
WAN_OTHER = {
    "base_dim": 6, "decoder_base_dim": 10, "z_dim": 8, "dim_mult": [1, 3, 4], "num_res_blocks": 1,
    "temperal_downsample": [True, False], "scale_factor_temporal": 2, "scale_factor_spatial": 4,
    "latents_mean": [0.3, -0.2, 0.1, 0.0, -0.5, 0.7, 0.25, -0.1],
    "latents_std": [1.3, 0.8, 2.0, 1.1, 0.9, 1.6, 0.7, 1.2],
}  # fmt: skip

# One with shortcuts and patches of pixels, as that of Wan 2.2 5B.
WAN_2_2 = {
    "base_dim": 8, "decoder_base_dim": 12, "z_dim": 10, "dim_mult": [1, 2, 4, 4], "is_residual": True, "in_channels": 12,
    "out_channels": 12, "patch_size": 2, "scale_factor_spatial": 16, "num_res_blocks": 1,
    "latents_mean": [0.3, -0.2, 0.1, 0.0, -0.5, 0.7, 0.25, -0.1, 0.4, -0.3],
    "latents_std": [1.3, 0.8, 2.0, 1.1, 0.9, 1.6, 0.7, 1.2, 0.5, 1.4],
}  # fmt: skip

# An autoencoder of LTX-Video like that of 0.9.5.
LTX_OTHER = {
    "latent_channels": 12, "block_out_channels": (6, 12, 8, 16, 16), "layers_per_block": (2, 1, 1, 1, 2),
    "down_block_types": ("LTXVideo095DownBlock3D",) * 4, "spatio_temporal_scaling": (True,) * 4,
    "downsample_type": ("spatial", "temporal", "spatiotemporal", "spatiotemporal"),
    "spatial_compression_ratio": 32, "temporal_compression_ratio": 8,
    "decoder_block_out_channels": (8, 16, 32), "decoder_layers_per_block": (1, 2, 1, 1),
    "decoder_spatio_temporal_scaling": (True, True, True), "decoder_inject_noise": (False,) * 4,
    "upsample_residual": (True, True, False), "upsample_factor": (2, 2, 2), "timestep_conditioning": True,
    "scaling_factor": 0.7,
}  # fmt: skip

# The timesteps that distilled LTX-Video was trained for.
DISTILLED = (1000.0, 993.7, 987.5, 981.2, 975.0, 909.4, 725.0, 421.9)

FAINT_UNET = [(r"conv[12]|conv_in|conv_shortcut|time_emb_proj|proj_(in|out)|to_out|net\.2|samplers", 1e-3)]
FAINT_VAE = [(r"(resnets|attentions)\.\d+\.(conv[12]|to_out)|conv_in", 1e-3)]

CASES = {
    "redux": {
        "default": Checkpoint(runs={}),
        "salted": Checkpoint(
            runs={},
            salt="other weights",
            options={"encoder": {"hidden_size": 48, "num_attention_heads": 3, "num_hidden_layers": 3, "image_size": 30, "patch_size": 7, "layer_norm_eps": 1e-3}},
        ),
    },
    "flux": {
        "dev": Checkpoint(
            runs={
                "horse": Run(HORSE, "", 3, 3.5, 64, 64),
                "cut": Run(LONG + ", " + LONG + ", " + LONG, "", 1, 1.0, 32, 48, max_tokens=24),
                "heun": Run("dance monkey", "", 3, 2.0, 48, 32, sampler="heun"),
                "true_cfg": Run(HORSE, "bad quality", 2, 2.5, 32, 48, true_cfg=3.0),
                "drawn_over": Edit(HORSE, "", 5, 3.5, 64, 48, source=edit(0.5, [70, 50])),
                "filled_in": Edit("dance monkey", "", 3, 2.0, 48, 64, source=edit(1.0, [64, 48], [90, 70])),
                "seen_one": Seen("", "", 2, 2.5, 32, 48, max_tokens=512, references=references(64, [90, 50]), strengths=(1.0,)),
                "seen_two": Seen(
                    HORSE, "blurry", 2, 2.5, 32, 32, batch=2, true_cfg=2.0, max_tokens=512,
                    references=references(64, [30, 60], [80, 40]), redux="salted", strengths=(0.5, 0.75),
                ),
                "steered/guided": Steered(
                    HORSE, "bad quality", 2, 2.5, 32, 48, true_cfg=3.0,
                    control_nets=[control_net("lines", [48, 32], 0.8, num_layers=1, num_single_layers=2)],
                ),
                "steered/two": Steered(
                    "dance monkey", "", 3, 3.5, 32, 32, batch=2,
                    control_nets=[
                        control_net("union", [32, 32], 0.7, end=0.5, mode="depth", num_layers=2, num_single_layers=1, num_mode=10),
                        control_net("wide", [40, 50], 1.2, start=0.3, num_layers=2, num_single_layers=1),
                    ],
                ),
            },
        ),
        "deep": Checkpoint(
            salt="deep",
            options={"transformer": {"num_layers": 3, "num_single_layers": 1}},
            runs={
                "short": Run(BRIEF, "", 1, 1.0, 32, 16, max_tokens=12),
                "steered/hinted": Steered(
                    HORSE, "", 2, 2.5, 32, 48, max_tokens=16,
                    control_nets=[
                        control_net(
                            "hints", [48, 32], 0.8, num_layers=2, num_single_layers=0, patch_size=2,
                            conditioning_embedding_channels=16,
                        ),
                    ],
                ),
            },
        ),
        "kontext": Checkpoint(
            salt="kontext",
            options={"edits": True},
            runs={
                "wide": Referenced(HORSE, "", 2, 2.5, 48, 64, references=references(64, [90, 50])),
                "tall": Referenced(
                    "make it snow", "blurry", 2, 2.5, 32, 48, batch=2, true_cfg=2.0, references=references(80, [40, 60])
                ),
                "text": Run("dance monkey", "", 1, 3.0, 32, 32),
            },
        ),
        "fill": Checkpoint(
            salt="fill",
            options={"fills": True, "transformer": {"in_channels": 384, "out_channels": 64}},
            runs={
                "anew": Edit(HORSE, "", 2, 30.0, 32, 48, max_tokens=16, source=edit(1.0, [64, 48], [90, 70])),
                "changed": Edit(BRIEF, "", 3, 30.0, 32, 16, batch=2, max_tokens=16, source=edit(0.7, [32, 48], [40, 50])),
            },
        ),
        "schnell": Checkpoint(
            salt="schnell",
            options={"guidance": False},
            runs={"mixed": Run(MIXED, "", 2, 0.0, 48, 80), "batch": Run("", "", 2, 0.0, 32, 48, batch=2)},
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "num_layers": 1, "num_single_layers": 3, "attention_head_dim": 24, "num_attention_heads": 3,
                    "axes_dims_rope": (8, 4, 12),
                },
                "text": {"width": 48, "blocks": 3, "heads": 3, "eps": 1e-3, "activation": "gelu", "end": None},
                "text_2": {
                    "width": 80, "blocks": 3, "heads": 5, "head_width": 24, "inner": 112, "eps": 1e-3, "buckets": 16,
                    "distance": 40,
                },
                "vae": {"scaling": 0.52, "shift": -0.21, "channels": (32, 64, 64, 96), "layers": 1},
                "scheduler": {
                    "use_dynamic_shifting": True, "base_shift": 0.4, "max_shift": 1.3, "base_image_seq_len": 8,
                    "max_image_seq_len": 512, "shift": 1.0,
                },
            },
            runs={
                "mixed": Run(MIXED, "", 3, 6.5, 80, 48, max_tokens=100),
                "batch": Run("<|endoftext|> </s> twice", "", 2, 2.5, 48, 32, batch=2),
                "drawn_over": Edit(MIXED, "", 3, 2.0, 48, 32, batch=2, source=edit(1.0, [32, 20])),
                "filled_in": Edit(HORSE, "", 4, 2.0, 32, 64, source=edit(0.6, [40, 90], [64, 32])),
            },
        ),
        "faint": Checkpoint(
            salt="faint",
            runs={"small": Run(HORSE, "", 2, 2.0, 32, 48)},
            scales={
                "text_encoder": [(r"embedding|out_proj|fc2", 1e-3)],
                "text_encoder_2": [(r"shared|\.o\.|wo\.", 1e-3)],
                "transformer": [(r"x_embedder|context_embedder|to_(add_)?out|to_[qk]\.|add_[qk]_|net\.2|proj_out", 1e-3)],
                "vae": [(r"(resnets|attentions)\.\d+\.(conv[12]|to_out)|conv_in", 1e-3)],
            },
        ),
    },
    "sd3": {
        "medium": Checkpoint(
            options={"transformer": {"dual_attention_layers": (0, 1)}},
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 4.5, 64, 64),
                "cut": Run(LONG, "", 1, 1.0, 32, 48, max_tokens=24),
                "heun": Run("dance monkey", "bad", 3, 3.0, 48, 32, max_tokens=32, sampler="heun"),
                "drawn_over": Edit(HORSE, "blurry", 5, 4.5, 48, 32, max_tokens=24, source=edit(0.5, [40, 50])),
                "filled_in": Edit("dance monkey", "", 3, 3.0, 32, 48, max_tokens=16, source=edit(1.0, [48, 32], [70, 50])),
                "steered/guided": Steered(
                    HORSE, "blurry", 2, 4.5, 32, 48, max_tokens=16,
                    control_nets=[control_net("lines", [48, 32], 0.8, num_layers=2)],
                ),
                "steered/two": Steered(
                    "dance monkey", "", 2, 1.0, 32, 32, batch=2, max_tokens=16,
                    control_nets=[
                        control_net("lines", [32, 32], 0.5, end=0.5, num_layers=2),
                        control_net("depths", [40, 50], 1.2, num_layers=2),
                    ],
                ),
            },
        ),
        "large": Checkpoint(
            salt="large",
            options={"transformer": {"num_layers": 2}, "text_2": {"activation": "gelu"}},
            runs={
                "steered/alone": Steered(
                    BRIEF, "blurry", 2, 3.5, 32, 48, max_tokens=16,
                    control_nets=[
                        control_net(
                            "lines", [48, 32], 0.8, num_layers=1, joint_attention_dim=None, use_pos_embed=False,
                            force_zeros_for_pooled_projection=False,
                        ),
                    ],
                ),
                "steered/edges": Steered(
                    BRIEF, "", 1, 3.5, 32, 48, max_tokens=16,
                    control_nets=[
                        control_net(
                            "edges", [48, 32], 0.7, control_type=1, num_layers=2, joint_attention_dim=None,
                            use_pos_embed=False, force_zeros_for_pooled_projection=False,
                        ),
                    ],
                ),
                "mixed": Run(BRIEF, "", 4, 3.5, 48, 80, max_tokens=48),
                "batch": Run("", "", 2, 0.0, 32, 48, batch=2, max_tokens=16),
            },
        ),
        "first": Checkpoint(
            salt="first",
            options={"transformer": {"num_layers": 2, "attention_head_dim": 64, "qk_norm": None}},
            runs={"batch": Run("dance monkey", "blurry", 2, 7.0, 32, 48, batch=2, max_tokens=24)},
        ),
        "small_text": Checkpoint(
            salt="small text",
            options={"large_text": False, "transformer": {"num_layers": 2}},
            runs={"alone": Run(HORSE, "blurry", 2, 1.0, 32, 32, max_tokens=256)},
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "num_layers": 4, "attention_head_dim": 24, "num_attention_heads": 3, "pos_embed_max_size": 11,
                    "dual_attention_layers": (1, 3), "sample_size": 6,
                },
                "text": {
                    "width": 80, "blocks": 3, "heads": 5, "eps": 1e-3, "activation": "gelu", "end": None,
                    "projection": 40,
                },
                "text_2": {"width": 48, "blocks": 2, "heads": 3, "eps": 1e-3, "projection": 72},
                "text_3": {
                    "width": 144, "blocks": 3, "heads": 5, "head_width": 24, "inner": 112, "eps": 1e-3, "buckets": 16,
                    "distance": 40,
                },
                "vae": {"scaling": 0.52, "shift": -0.21, "channels": (32, 64, 64, 96), "layers": 1},
                "scheduler": {"shift": 1.7},
            },
            runs={
                "mixed": Run(BRIEF, "низкое качество", 3, 2.5, 80, 48, max_tokens=40),
                "batch": Run("<|endoftext|> </s> twice", "", 2, 1.5, 48, 32, batch=2, max_tokens=16),
                "drawn_over": Edit("a fox", "", 3, 1.0, 48, 32, batch=2, max_tokens=16, source=edit(1.0, [32, 20])),
                "filled_in": Edit(HORSE, "", 4, 2.0, 32, 48, batch=2, max_tokens=16, source=edit(0.6, [40, 90], [48, 32])),
            },
            scales={"transformer": [(r"pos_embed\.pos_embed", 40.0)]},
        ),
        "faint": Checkpoint(
            salt="faint",
            options={"transformer": {"dual_attention_layers": (0,), "num_layers": 2}},
            runs={"small": Run(HORSE, "blurry", 2, 2.0, 32, 48, max_tokens=24)},
            scales={
                "text_encoder": [(r"embedding|out_proj|fc2", 1e-3)],
                "text_encoder_2": [(r"embedding|out_proj|fc2", 1e-3)],
                "text_encoder_3": [(r"shared|\.o\.|wo\.", 1e-3)],
                "transformer": [
                    (r"pos_embed|context_embedder|to_(add_)?out|to_[qk]\.|add_[qk]_|net\.2|proj_out", 1e-3)
                ],
                "vae": [(r"(resnets|attentions)\.\d+\.(conv[12]|to_out)|conv_in", 1e-3)],
            },
        ),
    },
    "stable_cascade": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 4.0, 32, 64, sampler="euler_ancestral"),
                "unguided": Run("dance monkey", "", 2, 1.0, 32, 32, sampler="euler_ancestral"),
            },
            scales={"vqgan": [(r"out_block\.0\.weight", 0.05)]},
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "prior": {
                    "in_channels": 8, "out_channels": 8, "timestep_ratio_embedding_dim": 12, "conditioning_dim": 40,
                    "num_attention_heads": (4, 2), "clip_seq": 3, "up_blocks_repeat_mappers": (1, 2), "self_attn": (True, False),
                },
                "decoder": {
                    "block_out_channels": (16, 24), "num_attention_heads": (0, 3), "clip_seq": 2, "kernel_size": 5,
                    "down_blocks_repeat_mappers": (2, 1), "up_blocks_repeat_mappers": (2, 1), "pixel_mapper_in_channels": None,
                },
                "text": {"width": 48, "blocks": 3, "heads": 3, "eps": 1e-3, "projection": 40},
                "vqgan": {"bottleneck_blocks": 1, "embed_dim": 24, "scale_factor": 0.002},
                "scheduler": {"scaler": 1.5, "s": 0.02},
            },
            runs={"batch": Run(BRIEF, "низкое качество", 2, 2.5, 64, 32, batch=2, sampler="euler_ancestral")},
            scales={"vqgan": [(r"out_block\.0\.weight", 0.05)]},
        ),
    },
    "wuerstchen": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 6, 4.0, 32, 64, sampler="euler_ancestral"),
                "unguided": Run("dance monkey", "", 3, 1.0, 32, 32, sampler="euler_ancestral"),
            },
            scales={"vqgan": [(r"out_block\.0\.weight", 0.05)], "prior_prior": [(r"out\.1\.", 0.2)]},
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "prior": {"c_in": 8, "c": 48, "c_r": 12, "depth": 1, "nhead": 3},
                "decoder": {
                    "c_r": 12, "c_cond": 40, "c_hidden": [16, 24, 32], "nhead": [-1, 3, 4], "blocks": [2, 1, 1],
                    "level_config": ["CT", "CTA", "CCTA"], "inject_effnet": [True, False, True], "kernel_size": 5,
                },
                "text": {"width": 64, "blocks": 3, "heads": 2, "eps": 1e-3},
                "vqgan": {"bottleneck_blocks": 1, "embed_dim": 24, "scale_factor": 0.002},
                "scheduler": {"scaler": 1.5, "s": 0.02},
                "settings": {"latent_mean": 20.0, "latent_std": 0.5},
            },
            # Nowhere one column wide: there torch repeats the first row of what it interpolates.
            runs={"batch": Run(BRIEF, "низкое качество", 6, 2.5, 64, 64, batch=2, sampler="euler_ancestral")},
            scales={"vqgan": [(r"out_block\.0\.weight", 0.05)], "prior_prior": [(r"out\.1\.", 0.2)]},
        ),
    },
    "sdxl": {
        "base": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 5.0, 64, 64),
                "zeros": Run(BRIEF, "", 2, 3.0, 32, 48, batch=2),
                "unguided": Run(LONG, "blurry", 1, 1.0, 48, 32),
                "drawn_over": Edit(HORSE, "blurry", 5, 5.0, 48, 32, source=edit(0.5, [32, 48])),
                "filled_in": Edit("dance monkey", "", 3, 3.0, 32, 48, source=edit(1.0, [48, 32], [70, 50])),
                "steered/guided": Steered(
                    HORSE, "blurry, ugly", 3, 5.0, 64, 48, control_nets=[control_net("lines", [48, 64], 0.9)],
                ),
                "prompted/plain": Prompted(
                    HORSE, "blurry, ugly", 3, 5.0, 48, 32,
                    image_prompts=[image_prompt("plain", ["../../steered/guided/control-0.png"], 0.6)],
                ),
                "prompted/plus": Prompted(
                    "dance monkey", "", 2, 3.0, 32, 48,
                    image_prompts=[image_prompt("plus", ["../../steered/guided/control-0.png"])],
                ),
                "refined/guided": Run(
                    HORSE, "blurry, ugly", 10, 5.0, 56, 40, refiner="refiner", refiner_switch=0.8,
                ),
                "refined/batch": Run(BRIEF, "", 5, 3.0, 32, 48, batch=2, refiner="refiner", refiner_switch=0.5),
                "refined/drawn_over": Edit(
                    "dance monkey", "blurry", 10, 1.0, 48, 32, source=edit(0.6, [32, 48]), refiner="refiner",
                    refiner_switch=0.8,
                ),
            },
        ),
        "fills_in": Checkpoint(
            salt="fills in",
            options={"denoiser": {"in_channels": 9, "transformer_layers_per_block": (1, 1, 2)}},
            runs={
                "anew": Edit(HORSE, "blurry", 3, 5.0, 32, 48, source=edit(1.0, [64, 48], [90, 70])),
                "changed": Edit(BRIEF, "", 5, 3.0, 48, 32, batch=2, source=edit(0.7, [32, 48], [40, 50])),
            },
        ),
        "refiner": Checkpoint(
            salt="refiner",
            options={
                "refines": True,
                "zeros": False,
                "denoiser": {
                    "block_out_channels": (32, 64, 64, 128), "attention_head_dim": (1, 1, 1, 2),
                    "transformer_layers_per_block": 2,
                    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
                    "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
                },
            },
            runs={
                "drawn_over": Edit(HORSE, "blurry", 6, 5.0, 64, 64, source=edit(0.5, [64, 64])),
                "batch": Edit("dance monkey", "", 4, 3.0, 48, 72, batch=2, source=edit(0.3, [72, 48])),
                "filled_in": Edit(BRIEF, "", 4, 3.0, 64, 48, source=edit(0.8, [48, 64], [40, 50])),
            },
        ),
        "to_noise": Checkpoint(
            salt="to noise",
            options={
                "denoiser": {"transformer_layers_per_block": (1, 1, 2)},
                "scheduler": {
                    "kind": "EulerDiscreteScheduler", "timestep_spacing": "trailing",
                    "prediction_type": "v_prediction", "rescale_betas_zero_snr": True,
                },
            },
            runs={"guided": Run("dance monkey", "bad", 4, 3.0, 32, 32)},
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "zeros": False,
                "denoiser": {
                    "block_out_channels": (48, 96), "layers_per_block": 1, "attention_head_dim": (3, 2),
                    "transformer_layers_per_block": (3, 2), "norm_num_groups": 16, "norm_eps": 1e-3,
                    "addition_time_embed_dim": 32, "flip_sin_to_cos": False, "freq_shift": 1, "sample_size": 6,
                    "down_block_types": ("CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
                    "up_block_types": ("CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
                },
                "text": {"width": 48, "blocks": 2, "heads": 3, "eps": 1e-3, "activation": "gelu", "end": None},
                "text_2": {
                    "width": 80, "blocks": 4, "heads": 5, "eps": 1e-3, "activation": "quick_gelu", "projection": 56,
                },
                "vae": {"scaling": 0.52, "channels": (32, 64, 64, 96), "layers": 1},
                "scheduler": {
                    "kind": "EulerDiscreteScheduler", "beta_start": 0.002, "beta_end": 0.02, "beta_schedule": "linear",
                    "timestep_spacing": "trailing", "prediction_type": "v_prediction",
                },
            },
            runs={
                "odd": Run(BRIEF, "низкое качество", 4, 2.5, 56, 88),
                "empty": Run("<|endoftext|> twice", "", 2, 7.5, 48, 32, batch=2),
                "drawn_over": Edit("a fox", "", 3, 1.0, 56, 40, batch=2, source=edit(1.0, [40, 56])),
                "filled_in": Edit(HORSE, "", 4, 2.0, 32, 64, batch=2, source=edit(0.6, [40, 90], [64, 32])),
            },
        ),
        "faint": Checkpoint(
            salt="faint",
            runs={"small": Run(HORSE, "blurry", 2, 2.0, 32, 48)},
            scales={
                "text_encoder": [(r"embedding|out_proj|fc2", 1e-3)],
                "text_encoder_2": [(r"embedding|out_proj|fc2", 1e-3)],
                "unet": FAINT_UNET,
                "vae": FAINT_VAE,
            },
        ),
    },
    "stable_diffusion": {
        "one": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 6.0, 64, 64),
                "batch": Run("", "", 2, 1.5, 32, 48, batch=2),
                "unguided": Run(LONG, "blurry", 1, 1.0, 48, 32),
                "drawn_over": Edit(HORSE, "blurry", 5, 6.0, 64, 48, source=edit(0.5, [48, 64])),
                "filled_in": Edit("dance monkey", "", 3, 3.0, 48, 64, source=edit(1.0, [64, 48], [90, 70])),
                "steered/guided": Steered(
                    HORSE, "blurry, ugly", 3, 6.0, 48, 64, control_nets=[control_net("lines", [64, 48], 0.8)],
                ),
                "steered/two": Steered(
                    BRIEF, "", 5, 3.0, 48, 32, batch=2,
                    control_nets=[
                        control_net("lines", [32, 48], 0.7, end=0.5), control_net("depths", [50, 60], 1.2, start=0.3),
                    ],
                ),
                "prompted/plain": Prompted(
                    HORSE, "blurry, ugly", 3, 6.0, 32, 48,
                    image_prompts=[
                        image_prompt("plain", ["../../steered/guided/control-0.png", "../../steered/two/control-1.png"], 0.8),
                    ],
                ),
                "prompted/plus": Prompted(
                    "dance monkey", "blurry", 3, 1.0, 48, 32,
                    image_prompts=[image_prompt("plus", ["../../steered/two/control-1.png"], 0.7)],
                ),
                "prompted/both": Prompted(
                    BRIEF, "", 5, 3.0, 32, 32, batch=2,
                    image_prompts=[
                        image_prompt(
                            "plus", ["../../steered/two/control-1.png", "../../steered/guided/control-0.png"], 1.2, end=0.5,
                        ),
                        image_prompt("plain", ["../../steered/guided/control-0.png"], 0.5, start=0.3),
                    ],
                ),
            },
        ),
        "fills_in": Checkpoint(
            salt="fills in",
            options={"denoiser": {"in_channels": 9}},
            runs={
                "anew": Edit(HORSE, "blurry", 3, 6.0, 64, 48, source=edit(1.0, [64, 48], [90, 70])),
                "changed": Edit(BRIEF, "", 5, 3.0, 48, 64, batch=2, source=edit(0.7, [64, 48], [40, 50])),
                "unguided": Edit("dance monkey", "", 2, 1.0, 48, 72, source=edit(1.0, [72, 48], [72, 48])),
            },
        ),
        "two": Checkpoint(
            salt="two",
            options={
                "denoiser": {
                    "attention_head_dim": (1, 1, 1, 2), "block_out_channels": (32, 64, 64, 128),
                    "use_linear_projection": True,
                },
                "text": {"width": 128, "heads": 2, "activation": "gelu"},
                "scheduler": {
                    "kind": "DDIMScheduler", "clip_sample": False, "set_alpha_to_one": False,
                    "prediction_type": "v_prediction",
                },
            },
            runs={
                "guided": Run(BRIEF, "низкое качество", 3, 7.5, 64, 64, sampler="ddim"),
                "batch": Run("dance monkey", "", 2, 3.0, 48, 80, batch=2, sampler="ddim"),
                "drawn_over": Edit(HORSE, "", 5, 2.0, 48, 64, batch=2, sampler="ddim", source=edit(0.7, [64, 48])),
                "filled_in": Edit(BRIEF, "", 4, 3.0, 64, 48, sampler="ddim", source=edit(0.8, [40, 50], [48, 64])),
                "anew": Edit(HORSE, "", 3, 1.0, 48, 64, batch=2, sampler="ddim", source=edit(1.0, [40, 50], [60, 60])),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "denoiser": {
                    "block_out_channels": (48, 72, 120), "layers_per_block": 1, "attention_head_dim": (2, 3, 5),
                    "norm_num_groups": 12, "norm_eps": 1e-3, "flip_sin_to_cos": False, "freq_shift": 1,
                    "sample_size": 12, "transformer_layers_per_block": (1, 3, 2),
                    "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D", "CrossAttnDownBlock2D"),
                    "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D", "CrossAttnUpBlock2D"),
                },
                "text": {"width": 48, "blocks": 3, "heads": 3, "eps": 1e-3, "activation": "gelu", "end": None},
                "vae": {"scaling": 0.52, "channels": (32, 64, 64, 96), "layers": 1},
                "scheduler": {
                    "kind": "EulerDiscreteScheduler", "beta_start": 0.002, "beta_end": 0.02, "beta_schedule": "linear",
                    "timestep_spacing": "trailing",
                },
            },
            runs={
                "odd": Run(BRIEF, "низкое качество", 4, 2.5, 56, 88),
                "batch": Run("<|endoftext|> twice", "", 2, 7.5, 48, 72, batch=2),
                "drawn_over": Edit("a fox", "", 3, 1.0, 56, 40, batch=2, source=edit(1.0, [40, 56])),
                "filled_in": Edit(HORSE, "", 4, 2.0, 32, 64, batch=2, source=edit(0.6, [40, 90], [64, 32])),
            },
        ),
        "faint": Checkpoint(
            salt="faint",
            runs={"small": Run(HORSE, "blurry", 2, 2.0, 32, 48)},
            scales={"text_encoder": [(r"embedding|out_proj|fc2", 1e-3)], "unet": FAINT_UNET, "vae": FAINT_VAE},
        ),
    },
    "wan": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 5.0, 32, 48, max_tokens=24, sampler="uni_pc", frames=9),
                "still": Run(LONG, "", 4, 4.0, 48, 32, max_tokens=24, sampler="uni_pc"),
                "unguided": Run("dance monkey", "blurry", 1, 1.0, 32, 32, max_tokens=16, sampler="uni_pc", frames=5),
                "changed": Given(HORSE, "", 5, 4.0, 16, 32, max_tokens=16, sampler="uni_pc", frames=9, source=given(clip=[32, 16], strength=0.7)),
            },
        ),
        "euler": Checkpoint(
            salt="euler",
            options={"kind": "FlowMatchEulerDiscreteScheduler"},
            runs={"batch": Run(HORSE, "", 2, 3.0, 16, 32, batch=2, max_tokens=20, frames=5)},
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "num_attention_heads": 3, "attention_head_dim": 26, "num_layers": 3, "ffn_dim": 80, "freq_dim": 64,
                    "eps": 1e-3, "cross_attn_norm": False,
                },
                "text": {
                    "width": 80, "blocks": 3, "heads": 5, "head_width": 24, "inner": 112, "eps": 1e-3, "buckets": 16,
                    "distance": 40,
                },
                "vae": WAN_OTHER,
                "scheduler": {"flow_shift": 1.7},
            },
            runs={
                "odd": Run("ein Fuchs im Schnee", "низкое качество", 5, 2.5, 48, 32, max_tokens=100, sampler="uni_pc", frames=7),
                "still": Run("dance monkey", "", 2, 1.5, 16, 32, batch=2, max_tokens=16, sampler="uni_pc"),
            },
        ),
        "experts": Checkpoint(
            salt="experts",
            options={"boundary": 0.875, "scheduler": {"flow_shift": 5.0}, "transformer": {"attention_head_dim": 32}},
            runs={"both": Run(HORSE, "blurry", 5, 3.0, 16, 32, max_tokens=16, sampler="uni_pc", frames=5)},
        ),
        "from_images": Checkpoint(
            salt="from images",
            options={"boundary": 0.9, "scheduler": {"flow_shift": 5.0}, "transformer": {"attention_head_dim": 32}, "images": 1},
            runs={
                "first": Given(HORSE, "blurry", 4, 3.5, 32, 16, max_tokens=16, sampler="uni_pc", frames=9, source=given([20, 30])),
                "last": Given("dance monkey", "", 2, 3.5, 16, 32, batch=2, max_tokens=16, sampler="uni_pc", frames=5, source=given([40, 20], [30, 18])),
            },
        ),
        "sees_images": Checkpoint(
            salt="sees images",
            options={"scheduler": {"flow_shift": 3.0}, "transformer": {"attention_head_dim": 32, "image_dim": 24, "added_kv_proj_dim": 64}, "images": 1, "vision": {}},
            runs={"first": Given(HORSE, "blurry", 2, 5.0, 16, 32, max_tokens=512, sampler="uni_pc", frames=5, source=given([44, 31]))},
        ),
        "sees_both": Checkpoint(
            salt="sees both",
            options={"scheduler": {"flow_shift": 16.0}, "transformer": {"attention_head_dim": 32, "image_dim": 24, "added_kv_proj_dim": 64, "pos_embed_seq_len": 10}, "images": 2, "vision": {"eps": 1e-3}},
            runs={"last": Given("dance monkey", "", 2, 5.0, 16, 32, max_tokens=512, sampler="uni_pc", frames=5, source=given([32, 16], [28, 28]))},
        ),
        "control": Checkpoint(
            salt="control",
            options={"scheduler": {"flow_shift": 3.0}, "transformer": {"num_layers": 4}, "control": [0, 2]},
            runs={
                "text": Run(HORSE, "", 2, 4.0, 16, 32, max_tokens=16, sampler="uni_pc", frames=5),
                "masked": Given(HORSE, "blurry", 2, 4.0, 32, 16, max_tokens=16, sampler="uni_pc", frames=9, source=controlled([16, 32], True, scale=0.7)),
                "references": Given("dance monkey", "", 2, 3.0, 16, 32, max_tokens=16, sampler="uni_pc", frames=5, source=controlled([32, 16], references=[[37, 20], [16, 44]])),
            },
        ),
        "wide": Checkpoint(
            salt="wide",
            options={"vae": WAN_2_2, "expand": True, "scheduler": {"flow_shift": 5.0}, "transformer": {"attention_head_dim": 32}},
            runs={
                "clip": Run(HORSE, "", 2, 5.0, 32, 64, max_tokens=16, sampler="uni_pc", frames=5),
                "first": Given(HORSE, "blurry", 3, 5.0, 64, 32, max_tokens=16, sampler="uni_pc", frames=9, source=given([40, 70])),
            },
        ),
        "faint": Checkpoint(
            salt="faint",
            runs={"small": Run(HORSE, "blurry", 2, 2.0, 16, 32, max_tokens=20, sampler="uni_pc", frames=5)},
            scales={
                "text_encoder": [(r"shared|\.o\.|wo\.", 1e-3)],
                "transformer": [(r"patch_embedding|text_embedder|to_out|to_[qk]\.|net\.2|proj_out", 1e-3)],
            },
        ),
    },
    "ltx": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 3.0, 64, 96, max_tokens=24, frames=9),
                "batch": Run("dance monkey", "", 2, 2.5, 32, 64, batch=2, max_tokens=24),
                "unguided": Run("dance monkey", "blurry", 2, 1.0, 32, 32, max_tokens=16, frames=17),
                "first": Given(HORSE, "blurry", 3, 3.0, 32, 64, batch=2, max_tokens=16, frames=9, source=given([50, 40])),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {"num_attention_heads": 3, "attention_head_dim": 26, "cross_attention_dim": 78, "num_layers": 3, "norm_eps": 1e-3},
                "text": {
                    "width": 80, "blocks": 3, "heads": 5, "head_width": 24, "inner": 112, "eps": 1e-3, "buckets": 16,
                    "distance": 40,
                },
                "vae": LTX_OTHER,
                "scheduler": {"base_shift": 0.5, "max_shift": 1.4, "base_image_seq_len": 2, "max_image_seq_len": 40, "shift_terminal": 0.05},
            },
            runs={
                "clip": Run("ein Fuchs im Schnee", "lowres", 4, 2.5, 32, 64, max_tokens=30, frames=9),
                "still": Run(HORSE, "", 2, 1.5, 32, 32, max_tokens=16),
            },
        ),
        "conditioned": Checkpoint(
            salt="conditioned",
            options={
                "is_conditioned": True, "vae": {**LTX_OTHER, "scaling_factor": 1.0, "upsample_residual": (True,) * 3},
            },
            runs={
                "guided": Run(HORSE, "blurry, ugly", 5, 3.0, 64, 96, max_tokens=24, frames=17),
                "first": Given(HORSE, "blurry", 4, 3.0, 32, 64, max_tokens=16, frames=17, source=given([50, 40])),
                "keyframes": Given(
                    HORSE, "blurry", 3, 3.0, 32, 64, max_tokens=16, frames=17,
                    source=given([50, 40], last=[30, 60], keyframes=[[5, 64, 32], [11, 33, 47]]),
                ),
                "keyframe": Given(
                    "dance monkey", "", 2, 1.0, 32, 32, max_tokens=16, frames=9, source=given(keyframes=[[7, 40, 40]])
                ),
                "distilled/fast": Given(
                    "dance monkey", "", 8, 1.0, 64, 32, max_tokens=16, frames=9, source=given([40, 50]), timesteps=DISTILLED
                ),
            },
        ),
    },
    "qwen_image": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 3.0, 64, 48),
                "unguided": Run(MIXED, "", 2, 1.0, 32, 32, max_tokens=24),
                "batch": Run("dance monkey", "", 2, 2.5, 32, 48, batch=2),
                "drawn_over": Edit(HORSE, "blurry", 4, 2.0, 32, 48, source=edit(0.6, [48, 32])),
                "filled_in": Edit("dance monkey", "", 3, 1.0, 48, 32, source=edit(1.0, [32, 48], [40, 40])),
                "steered/guided": Steered(
                    HORSE, "blurry", 2, 3.0, 32, 48, control_nets=[control_net("lines", [48, 32], 0.8, num_layers=1)],
                ),
            },
        ),
        "edit": Checkpoint(
            salt="edit",
            options={"edits": "Edit", "text": {"vision": VISION}},
            runs={
                "one": Referenced(HORSE, "blurry", 2, 3.0, 32, 48, max_tokens=512, references=references(64, [70, 50])),
            },
        ),
        "edit_several": Checkpoint(
            salt="edit several",
            options={"edits": "EditPlus", "text": {"vision": VISION}},
            runs={
                "one": Referenced("dance monkey", "", 2, 2.5, 48, 32, batch=2, max_tokens=512, references=references(64, [30, 60])),
                "two": Referenced(MIXED, "", 2, 1.0, 32, 32, max_tokens=512, references=references(64, [90, 50], [40, 40])),
            },
        ),
        "edit_2511": Checkpoint(
            salt="edit 2511",
            options={
                "edits": "EditPlus",
                "transformer": {
                    "num_layers": 3, "attention_head_dim": 24, "num_attention_heads": 3, "axes_dims_rope": (8, 4, 12),
                    "zero_cond_t": True,
                },
                "text": {
                    "width": 48, "blocks": 3, "heads": 2, "kv_heads": 1, "eps": 1e-3, "theta": 1e4,
                    "vision": {
                        "depth": 3, "hidden_size": 24, "intermediate_size": 40, "num_heads": 3, "window_size": 56,
                        "fullatt_block_indexes": [1],
                    },
                },
                "scheduler": {"use_dynamic_shifting": False, "shift": 2.0, "shift_terminal": None},
            },
            runs={
                "three": Referenced(
                    LONG, "низкое качество", 2, 4.0, 48, 32, max_tokens=512,
                    references=references(64, [50, 60], [33, 20], [20, 33]),
                ),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "num_layers": 3, "attention_head_dim": 24, "num_attention_heads": 3, "axes_dims_rope": (8, 4, 12),
                },
                "text": {"width": 48, "blocks": 3, "heads": 2, "kv_heads": 1, "eps": 1e-3, "theta": 1e4},
                "scheduler": {"use_dynamic_shifting": False, "shift": 2.0, "shift_terminal": None},
            },
            runs={
                "tall": Run(LONG, "низкое качество", 2, 4.0, 80, 48, max_tokens=128),
                "steered/uneven": Steered(
                    "dance monkey", "", 3, 1.0, 48, 32, batch=2, max_tokens=24,
                    control_nets=[control_net("depths", [40, 50], 1.2, start=0.3, num_layers=2)],
                ),
            },
        ),
    },
    "qwen_image_21": {
        "default": Checkpoint(
            runs={
                "plain": Run(HORSE, "", 3, 1.0, 64, 32),
                "guided": Run(MIXED, "blurry, ugly", 2, 3.0, 32, 64, max_tokens=128),
                "batch": Run("", "", 2, 1.0, 32, 32, batch=2),
                "one": Referenced(HORSE, "", 2, 1.0, 32, 64, max_tokens=512, references=references(64, [70, 50])),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "in_channels": 8, "out_channels": 8, "num_layers": 3, "attention_head_dim": 24,
                    "num_attention_heads": 3, "axes_dims_rope": (8, 4, 12), "mlp_ratio": 2, "eps": 1e-3,
                },
                "text": {
                    "width": 48, "blocks": 4, "heads": 4, "kv_heads": 2, "head_width": 24, "eps": 1e-3, "theta": 1e4,
                    "sections": (6, 3, 3),
                    "vision": {
                        "depth": 4, "hidden_size": 24, "intermediate_size": 40, "num_heads": 3,
                        "num_position_embeddings": 9, "deepstack_visual_indexes": [0, 2],
                    },
                },
                "vae": {
                    "base_dim": 6, "decoder_base_dim": None, "z_dim": 8, "dim_mult": [1, 2, 2, 4, 4], "num_res_blocks": 1,
                    "temperal_downsample": [True, False, True, False],
                    "latents_mean": WAN_OTHER["latents_mean"], "latents_std": WAN_OTHER["latents_std"],
                },
                "scheduler": {"use_dynamic_shifting": False, "shift": 2.0, "shift_terminal": None},
            },
            runs={
                "tall": Run(LONG, "низкое качество", 2, 4.0, 96, 32, max_tokens=128),
                "two": Referenced(
                    MIXED, "blurry", 2, 2.5, 32, 64, batch=2, max_tokens=512, references=references(64, [90, 50], [40, 80]),
                ),
            },
        ),
    },
    "longcat": {
        "default": Checkpoint(runs={"guided": Run(QUOTED, "", 3, 4.0, 32, 48, max_tokens=36)}),
        "edit": Checkpoint(
            salt="edit",
            options={"edits": True, "text": {"vision": VISION}},
            runs={
                "one": Referenced(
                    'write "42"', "bad", 2, 3.0, 64, 80, max_tokens=24, references=references(64, [70, 50])
                ),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "edits": True,
                "transformer": {
                    "num_layers": 1, "num_single_layers": 3, "attention_head_dim": 24, "num_attention_heads": 3,
                    "axes_dims_rope": (8, 4, 12),
                },
                "text": {
                    "width": 48, "blocks": 3, "heads": 2, "kv_heads": 1, "eps": 1e-3, "theta": 1e4,
                    "vision": {
                        "depth": 3, "hidden_size": 24, "intermediate_size": 40, "num_heads": 3, "window_size": 56,
                        "fullatt_block_indexes": [1],
                    },
                },
                "vae": {"scaling": 0.52, "shift": -0.21, "channels": (32, 64, 64, 96), "layers": 1},
                "scheduler": {"base_shift": 0.3, "max_shift": 0.9, "shift": 1.0},
            },
            runs={
                "batch": Referenced(
                    MIXED, "низкое качество", 2, 2.5, 80, 64, batch=2, max_tokens=150, references=references(64, [50, 70])
                ),
            },
        ),
    },
    "hidream": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 3.0, 48, 48, max_tokens=24, sampler="uni_pc"),
                "padded": Run("dance monkey", "", 2, 2.0, 32, 64, max_tokens=16, sampler="uni_pc"),
            },
        ),
        "dev": Checkpoint(
            salt="dev",
            options={"kind": "FlowMatchLCMScheduler", "scheduler": {"shift": 6.0}},
            runs={"unguided": Run(MIXED, "", 3, 0.0, 32, 32, batch=2, max_tokens=32, sampler="lcm")},
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "num_layers": 1, "num_single_layers": 2, "attention_head_dim": 24, "num_attention_heads": 3,
                    "num_routed_experts": 5, "num_activated_experts": 3, "axes_dims_rope": (8, 4, 12),
                    "max_resolution": (4, 11), "llama_layers": [2, 0, 4],
                },
                "text": {"width": 48, "eps": 1e-3, "projection": 40, "places": 150},
                "text_2": {"width": 64, "blocks": 2, "projection": 56, "end": None, "activation": "gelu"},
                "text_3": {
                    "width": 80, "blocks": 3, "heads": 5, "head_width": 24, "inner": 112, "eps": 1e-3, "buckets": 16,
                    "distance": 40,
                },
                "text_4": {
                    "width": 40, "blocks": 5, "heads": 4, "kv_heads": 2, "head_width": 20, "eps": 1e-3, "theta": 300.0,
                    "stretch": {"factor": 3.0, "low_freq_factor": 0.5, "high_freq_factor": 5.0, "original_max_position_embeddings": 32},
                },
                "vae": {"scaling": 0.52, "shift": -0.21, "channels": (32, 64, 64, 96), "layers": 1},
                "kind": "FlowMatchEulerDiscreteScheduler",
                "scheduler": {"shift": 1.7},
            },
            runs={"mixed": Run(MIXED, "низкое качество", 2, 2.5, 32, 80, max_tokens=24)},
        ),
    },
    "chroma": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 3.0, 48, 64),
                "cut": Run(LONG, "", 1, 1.0, 32, 32, max_tokens=16),
                "drawn_over": Edit(HORSE, "", 4, 2.0, 32, 48, source=edit(0.6, [48, 32])),
                "filled_in": Edit("dance monkey", "bad", 3, 2.0, 48, 32, source=edit(1.0, [32, 48], [40, 40])),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "num_layers": 1, "num_single_layers": 3, "attention_head_dim": 24, "num_attention_heads": 3,
                    "axes_dims_rope": (8, 4, 12), "approximator_num_channels": 24, "approximator_hidden_dim": 40,
                    "approximator_layers": 2,
                },
                "text": {
                    "width": 80, "blocks": 3, "heads": 5, "head_width": 24, "inner": 112, "eps": 1e-3, "buckets": 16,
                    "distance": 40,
                },
                "vae": {"scaling": 0.52, "shift": -0.21, "channels": (32, 64, 64, 96), "layers": 1},
                "scheduler": {"shift": 1.3, "use_beta_sigmas": True},
            },
            runs={"batch": Run("", "", 5, 2.5, 48, 32, batch=2), "mixed": Run(MIXED, "низкое качество", 2, 4.0, 32, 80, max_tokens=128)},
        ),
    },
    "anima": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 3.0, 32, 64),
                "cut": Run(LONG, "", 1, 1.0, 32, 32, max_tokens=16),
                "drawn_over": Edit(HORSE, "", 3, 2.0, 32, 32, source=edit(0.6, [40, 32])),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "num_layers": 3, "attention_head_dim": 20, "num_attention_heads": 3, "mlp_ratio": 2.0,
                    "adaln_lora_dim": 12, "rope_scale": (2.0, 1.5, 3.0), "concat_padding_mask": False,
                },
                "conditioner": {
                    "target_dim": 28, "model_dim": 32, "num_layers": 3, "num_attention_heads": 4, "mlp_ratio": 1.5,
                    "min_sequence_length": 24,
                },
                "text": {"width": 40, "heads": 6, "kv_heads": 2, "head_width": 24, "eps": 1e-3, "theta": 1e4},
                "scheduler": {"shift": 1.3},
            },
            runs={"batch": Run("", "", 3, 2.5, 32, 16, batch=2), "mixed": Run(MIXED, "низкое качество", 2, 4.0, 32, 48, max_tokens=128)},
        ),
    },
    "krea2": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 3.0, 32, 64, max_tokens=40),
                "cut": Run(LONG, "", 1, 0.0, 32, 32, max_tokens=16),
            },
        ),
        "turbo": Checkpoint(
            salt="turbo",
            options={"distilled": True},
            runs={"batch": Run("", "", 3, 0.0, 32, 16, batch=2, max_tokens=16)},
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "layers": (1, 3),
                "transformer": {
                    "num_layers": 3, "attention_head_dim": 24, "num_attention_heads": 4, "num_key_value_heads": 2,
                    "intermediate_size": 80, "timestep_embed_dim": 20, "text_num_attention_heads": 6,
                    "text_num_key_value_heads": 3, "text_intermediate_size": 36, "num_layerwise_text_blocks": 2,
                    "num_refiner_text_blocks": 1, "axes_dims_rope": (8, 4, 12), "rope_theta": 300.0, "norm_eps": 1e-3,
                },
                "text": {"width": 24, "blocks": 4, "heads": 4, "kv_heads": 2, "head_width": 12, "eps": 1e-3, "theta": 1e4},
                "scheduler": {"base_shift": 0.3, "max_shift": 0.9},
            },
            runs={"mixed": Run(MIXED, "низкое качество", 2, 2.5, 32, 48, max_tokens=128)},
        ),
    },
    "flux2": {
        "default": Checkpoint(
            runs={
                "horse": Run(HORSE, "", 3, 1.0, 64, 48, max_tokens=40),
                "batch": Run("", "", 4, 1.0, 32, 48, batch=2, max_tokens=24),
                "cut": Run(LONG, "", 1, 1.0, 32, 32, max_tokens=24),
                "edited": Referenced("make it snow", "", 2, 1.0, 32, 48, batch=2, max_tokens=24, references=references(1024, [70, 90], [64, 65])),
            },
        ),
        "base": Checkpoint(
            salt="base",
            options={"distilled": False, "vae": {"decoder_block_out_channels": (32, 32, 32, 64)}},
            runs={
                "guided": Run(MIXED, "", 3, 4.0, 48, 64, max_tokens=80),
                "unguided": Run("dance monkey", "", 2, 1.0, 32, 48, max_tokens=24),
                "edited": Referenced(HORSE, "", 2, 3.0, 64, 32, max_tokens=40, references=references(1024, [65, 80])),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "distilled": False,
                "transformer": {
                    "num_layers": 1, "num_single_layers": 3, "attention_head_dim": 24, "num_attention_heads": 3,
                    "axes_dims_rope": (4, 8, 10, 2), "rope_theta": 300, "mlp_ratio": 2.0,
                },
                "text": {
                    "tied": False, "width": 40, "blocks": 8, "heads": 6, "kv_heads": 2, "head_width": 24, "eps": 1e-3,
                    "theta": 1e4,
                },
                "vae": {
                    "latent_channels": 8, "block_out_channels": (32, 48, 64, 64), "norm_num_groups": 16, "layers_per_block": 2,
                    "batch_norm_eps": 0.3, "use_quant_conv": False, "use_post_quant_conv": False,
                },
            },
            runs={"wide": Run("dance monkey", "", 3, 2.5, 48, 80, batch=2, max_tokens=32)},
        ),
    },
    "ernie_image": {
        "default": Checkpoint(runs={"guided": Run(HORSE, "", 3, 4.0, 48, 32)}),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "hidden_size": 120, "num_attention_heads": 5, "num_layers": 3, "ffn_hidden_size": 80, "rope_theta": 100,
                    "rope_axes_dim": (4, 12, 8), "eps": 1e-3,
                },
                "text": {
                    "width": 40, "blocks": 4, "heads": 6, "kv_heads": 2, "head_width": 24, "eps": 1e-3, "theta": 1e4,
                    "yarn": {"factor": 4.0, "beta_fast": 16.0, "beta_slow": 2.0, "original_max_position_embeddings": 64},
                },
                "vae": {
                    "latent_channels": 8, "block_out_channels": (32, 48, 64, 64), "norm_num_groups": 16, "layers_per_block": 2,
                    "batch_norm_eps": 0.3, "use_quant_conv": False, "use_post_quant_conv": False,
                },
                "scheduler": {"shift": 1.7},
            },
            runs={"batch": Run(MIXED, "низкое качество", 2, 2.5, 32, 48, batch=2, max_tokens=128)},
        ),
    },
    "lens": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 5.0, 48, 32),
                "unconditional": Run("dance monkey", "", 2, 4.0, 32, 32),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "num_layers": 3, "attention_head_dim": 24, "num_attention_heads": 2, "inner_dim": 48,
                    "axes_dims_rope": (8, 4, 12), "selected_layer_index": (1, 4),
                },
                "text": {
                    "width": 40, "inner": 24, "blocks": 6, "heads": 6, "kv_heads": 3, "head_width": 8, "experts": 5, "chosen": 2,
                    "window": 9, "eps": 1e-3,
                    "yarn": {
                        "factor": 4.0, "beta_fast": 16.0, "beta_slow": 2.0, "original_max_position_embeddings": 64,
                        "truncate": True, "rope_theta": 1e4,
                    },
                },
                "vae": {
                    "latent_channels": 8, "block_out_channels": (32, 48, 64, 64), "norm_num_groups": 16, "layers_per_block": 2,
                    "batch_norm_eps": 0.3, "use_quant_conv": False, "use_post_quant_conv": False,
                },
            },
            runs={"batch": Run(MIXED, "низкое качество", 2, 2.5, 32, 48, batch=2, max_tokens=40)},
        ),
    },
    "flux2_dev": {
        "default": Checkpoint(
            runs={
                "horse": Run(HORSE, "", 3, 4.0, 64, 48, max_tokens=64),
                "edited": Referenced(LONG, "", 2, 2.5, 32, 48, max_tokens=64, references=references(1024, [70, 90])),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={"text": {"width": 32, "heads": 6, "kv_heads": 2, "head_width": 24, "eps": 1e-3, "theta": 1e4}},
            runs={"wide": Run("dance monkey", "", 2, 3.0, 32, 48, batch=2, max_tokens=80)},
        ),
    },
    "z_image": {
        "default": Checkpoint(
            runs={
                "guided": Run(HORSE, "blurry, ugly", 3, 3.0, 64, 64),
                "unguided": Run(HORSE, "blurry, ugly", 2, 0.0, 32, 48),
                "cut": Run(LONG, "  <|im_end|>user <think> ", 1, 1.0, 32, 32, max_tokens=24),
                "drawn_over": Edit(HORSE, "blurry", 5, 2.0, 64, 48, source=edit(0.5, [48, 64])),
                "filled_in": Edit("dance monkey", "", 3, 0.0, 48, 64, source=edit(1.0, [64, 48], [90, 70])),
                "steered/guided": Steered(
                    HORSE, "blurry", 2, 3.0, 32, 48,
                    control_nets=[
                        control_net("lines", [48, 32], 0.8, num_layers=2, control_layers_places=[0, 1], control_in_dim=16),
                    ],
                ),
                # As version 2.1 of the union.
                "steered/refined": Steered(
                    HORSE, "blurry", 2, 3.0, 32, 48,
                    control_nets=[
                        control_net(
                            "refined", [48, 32], 0.8, num_layers=2, control_layers_places=[0, 1], control_in_dim=33,
                            control_refiner_layers_places=[0, 1], add_control_noise_refiner="control_noise_refiner",
                        ),
                    ],
                ),
            },
        ),
        "salted": Checkpoint(
            salt="other weights",
            options={
                "transformer": {
                    "dim": 288, "n_layers": 3, "n_refiner_layers": 1, "n_heads": 6, "n_kv_heads": 6,
                    "norm_eps": 1e-3, "rope_theta": 100.0, "t_scale": 500.0, "axes_dims": [12, 20, 16],
                    "axes_lens": [256, 32, 48],
                },
                "text": {
                    "width": 80, "blocks": 4, "heads": 6, "kv_heads": 2, "head_width": 24, "eps": 1e-3,
                    "theta": 1e4,
                },
                "vae": {"scaling": 0.52, "shift": -0.21, "channels": (32, 64, 64, 96), "layers": 1},
                "scheduler": {
                    "use_dynamic_shifting": True, "base_shift": 0.4, "max_shift": 1.3,
                    "base_image_seq_len": 8, "max_image_seq_len": 512, "shift": 1.0,
                },
            },
            runs={
                "wide": Run(MIXED, "низкое качество", 4, 2.5, 48, 80, max_tokens=128),
                "batch": Run(HORSE, "", 2, 1.5, 32, 48, batch=2),
                "heun": Run("dance monkey", "bad quality", 3, 2.0, 48, 32, sampler="heun"),
                "tall": Run(LONG, "blurry, " * 20, 1, 4.0, 112, 80, max_tokens=128),
                "drawn_over": Edit(MIXED, "", 3, 0.0, 48, 32, batch=2, source=edit(1.0, [32, 48])),
                "filled_in": Edit(HORSE, "blurry", 4, 2.0, 32, 64, source=edit(0.6, [64, 32], [64, 32])),
                # As version 2.0, whose second layer steers no block that refines.
                "steered/layered": Steered(
                    "dance monkey", "", 2, 2.0, 48, 32,
                    control_nets=[
                        control_net(
                            "layered", [32, 48], 0.7, num_layers=2, control_layers_places=[0, 1], control_in_dim=33,
                            control_refiner_layers_places=[0], add_control_noise_refiner="control_layers",
                        ),
                    ],
                ),
            },
        ),
        "faint": Checkpoint(
            salt="faint",
            runs={"small": Run(HORSE, "blurry", 2, 2.0, 32, 48)},
            scales={
                "text_encoder": [
                    (r"embed_tokens|o_proj|down_proj", 1e-3),
                    (r"[qk]_proj", 1e-3),
                ],
                "transformer": [
                    (r"x_embedder|cap_embedder\.1|pad_token|(attention|ffn)_norm2", 1e-3),
                    (r"to_[qk]\.", 1e-3),
                ],
                "vae": [(r"(resnets|attentions)\.\d+\.(conv[12]|to_out)|conv_in", 1e-3)],
            },
        ),
    },
}  # fmt: skip

# Tiny autoencoders whose decoder is compared on its own: one of the published shape, and another.
TINY_AUTOENCODERS = {
    "taesd": {"latent_channels": 4, "encoder_block_out_channels": (64,) * 4},
    "other": {
        "latent_channels": 16, "encoder_block_out_channels": (16,) * 3, "decoder_block_out_channels": (24,) * 3,
        "num_encoder_blocks": (1,) * 3, "num_decoder_blocks": (2, 1, 2),
    },
}

# The same in the layout for clips, with the doublings that are kept, and the shape of the latents.
TINY_CLIP_AUTOENCODERS = {
    "taew2_1": ({"channels": 16, "widths": (8, 6, 4, 5), "times": (1, 2, 2), "patch": 1}, (3, 1), (3, 16, 2, 3)),
    "taew2_2": ({"channels": 48, "widths": (8, 6, 4, 5), "times": (1, 2, 2), "patch": 2}, (2,), (3, 48, 2, 3)),
    "taeltx_2": ({"channels": 128, "widths": (6, 4, 4, 4), "times": (2, 2, 2), "patch": 4}, (1, 0), (2, 128, 2, 3)),
}

# The same of clips.
CAUSAL_AUTOENCODERS = {"wan": {}, "wan_other": WAN_OTHER, "wan_2_2": WAN_2_2}

# LTX-Video's. The second one's decoder adds noise to its values, as that of 0.9.1.
CLIP_AUTOENCODERS = {"ltx": {}, "ltx_other": {**LTX_OTHER, "decoder_inject_noise": (True, False, True, True)}}

# Autoencoders whose encoder and decoder are compared on their own.
AUTOENCODERS = {
    "flux": {"latent_channels": 16, "scaling": 0.3611, "shift": 0.1159},
    "sd": {
        "latent_channels": 4, "scaling": 0.18215, "quant_convolutions": True, "channels": (32, 64, 64),
    },
}  # fmt: skip


@dataclass
class Network:
    """A network on its own: the name of its class, its options, and salt and scales as in a `Checkpoint`. What it reads
    of prompts is multiplied by `prompts`."""

    kind: str
    options: dict
    salt: str = ""
    scales: tuple = ()
    prompts: float = 1.0


QWEN_IMAGE = {
    "num_layers": 2, "attention_head_dim": 32, "num_attention_heads": 2, "joint_attention_dim": 48,
    "axes_dims_rope": (4, 14, 14),
}  # fmt: skip

# Transformers of families whose other parts are not there yet.
TRANSFORMERS = {
    "qwen_image": Network("QwenImageTransformer2DModel", QWEN_IMAGE),
    "qwen_image_salted": Network(
        "QwenImageTransformer2DModel",
        {
            "in_channels": 48, "out_channels": 12, "num_layers": 3, "attention_head_dim": 24, "num_attention_heads": 3,
            "joint_attention_dim": 40, "axes_dims_rope": (8, 4, 12),
        },
        salt="other weights",
    ),
    "qwen_image_faint": Network(
        "QwenImageTransformer2DModel",
        QWEN_IMAGE,
        salt="faint",
        scales=((r"img_in|txt_in|to_(add_)?out|to_[qk]\.|add_[qk]_|net\.2", 1e-3),),
        prompts=1e-3,
    ),
}  # fmt: skip
