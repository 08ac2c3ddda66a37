"""Lens, which diffusers does not have: its transformer and its pipeline, written down from what is published.

The names, the order of the operations and the constants are those of Microsoft's repository (github.com/microsoft/Lens, MIT), of
the pull request that adds it to diffusers (huggingface/diffusers 13837), and of stable-diffusion.cpp (`lens.hpp`). The parts that
are not its own are real: the text encoder is transformers' GPT-OSS; the autoencoder, the scheduler and the shift of its levels are
those of FLUX.2 in diffusers.
"""

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
from diffusers.configuration_utils import ConfigMixin, register_to_config
from diffusers.loaders import PeftAdapterMixin
from diffusers.models.embeddings import TimestepEmbedding, Timesteps
from diffusers.models.modeling_utils import ModelMixin
from diffusers.models.normalization import AdaLayerNormContinuous, RMSNorm
from diffusers.pipelines.flux2.pipeline_flux2 import compute_empirical_mu
from torch import nn
from torch.nn import functional

EPS = 1e-6
# The base of the rotary frequencies, and the number of waves of a noise level.
THETA = 10000
WAVES = 256
# The most tokens that are read.
LONGEST = 512
# What the model is told before and after a prompt. The published pipeline has the day of the run for the date.
BEFORE = (
    "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\n"
    "Knowledge cutoff: 2024-06\nCurrent date: 2026-05-26\n\nReasoning: medium\n\n"
    "# Valid channels: analysis, commentary, final. Channel must be included for every message.<|end|>"
    "<|start|>developer<|message|># Instructions\n\n"
    "Describe the image by detailing the color, shape, size, texture, quantity, text, spatial relationships of the "
    "objects and background.\n\n<|end|><|start|>user<|message|>"
)
AFTER = (
    "<|end|><|start|>assistant<|channel|>analysis<|message|>Need to generate one image according to the description."
    "<|end|><|start|>assistant<|channel|>final<|message|>"
)


def turned(x, angles):
    """Turns neighbouring values of `x` [batch, tokens, heads, width] by the angles [tokens, width / 2]."""
    first, second = x.unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)


def angles(places, widths):
    """The angles of places [tokens, axes], for parts of a head of these widths."""
    parts = []
    for axis, width in enumerate(widths):
        exponents = torch.arange(0, width, 2).float() / width
        parts.append(torch.outer(places[:, axis].float(), 1.0 / torch.pow(THETA, exponents)))
    return torch.cat(parts, dim=1)


class GatedFeedForward(nn.Module):
    """SwiGLU without biases."""

    def __init__(self, dim):
        super().__init__()
        inner = int(dim / 3 * 8)
        self.w1 = nn.Linear(dim, inner, bias=False)
        self.w2 = nn.Linear(inner, dim, bias=False)
        self.w3 = nn.Linear(dim, inner, bias=False)

    def forward(self, x):
        """The layers one after the other."""
        return self.w2(functional.silu(self.w1(x)) * self.w3(x))


class JointAttention(nn.Module):
    """Attention over the tokens of the image and of the text, which have layers of their own."""

    def __init__(self, dim, heads, head_width):
        super().__init__()
        self.heads = heads
        self.img_qkv = nn.Linear(dim, 3 * dim)
        self.txt_qkv = nn.Linear(dim, 3 * dim)
        for name in ("norm_q", "norm_k", "norm_added_q", "norm_added_k"):
            setattr(self, name, RMSNorm(head_width, eps=EPS))
        self.to_out = nn.ModuleList([nn.Linear(dim, dim), nn.Identity()])
        self.to_add_out = nn.Linear(dim, dim)

    def forward(self, img, txt, rotations, mask):
        """What both streams see."""
        all_heads = []
        norms = [(self.norm_q, self.norm_k), (self.norm_added_q, self.norm_added_k)]
        for x, layer, (norm_q, norm_k), rotation in zip((img, txt), (self.img_qkv, self.txt_qkv), norms, rotations):
            q, k, v = layer(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
            all_heads.append((turned(norm_q(q), rotation), turned(norm_k(k), rotation), v))
        q, k, v = (torch.cat(both, dim=1).transpose(1, 2) for both in zip(*all_heads))
        seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)
        own = img.shape[1]
        return self.to_out[0](seen[:, :own]), self.to_add_out(seen[:, own:])


class Block(nn.Module):
    """A block of two streams."""

    def __init__(self, dim, heads, head_width):
        super().__init__()
        self.attn = JointAttention(dim, heads, head_width)
        for stream in ("img", "txt"):
            setattr(self, f"{stream}_mod", nn.Sequential(nn.SiLU(), nn.Linear(dim, 6 * dim)))
            setattr(self, f"{stream}_norm1", RMSNorm(dim, eps=EPS))
            setattr(self, f"{stream}_norm2", RMSNorm(dim, eps=EPS))
            setattr(self, f"{stream}_mlp", GatedFeedForward(dim))

    def forward(self, img, txt, level, rotations, mask):
        """Both streams after the block."""
        of_image = [part[:, None] for part in self.img_mod(level).chunk(6, dim=-1)]
        of_text = [part[:, None] for part in self.txt_mod(level).chunk(6, dim=-1)]

        def modulated(x, norm, modulation):
            return norm(x) * (1 + modulation[1]) + modulation[0]

        seen_img, seen_txt = self.attn(
            modulated(img, self.img_norm1, of_image), modulated(txt, self.txt_norm1, of_text), rotations, mask
        )
        img, txt = img + of_image[2] * seen_img, txt + of_text[2] * seen_txt
        img = img + of_image[5] * self.img_mlp(modulated(img, self.img_norm2, of_image[3:]))
        txt = txt + of_text[5] * self.txt_mlp(modulated(txt, self.txt_norm2, of_text[3:]))
        return img, txt


class NoiseLevel(nn.Module):
    """The embedding of a noise level."""

    def __init__(self, dim):
        super().__init__()
        self.time_proj = Timesteps(WAVES, flip_sin_to_cos=True, downscale_freq_shift=0, scale=1000)
        self.timestep_embedder = TimestepEmbedding(WAVES, dim)

    def forward(self, level):
        """Of levels from 0 to 1."""
        return self.timestep_embedder(self.time_proj(level))


class LensTransformer2DModel(ModelMixin, ConfigMixin, PeftAdapterMixin):
    """The transformer."""

    @register_to_config
    def __init__(
        self, patch_size=2, in_channels=128, out_channels=32, num_layers=48, attention_head_dim=64, num_attention_heads=24,
        inner_dim=1536, enc_hidden_dim=2880, axes_dims_rope=(8, 28, 28), gate_mlp=True, rms_norm=True,
        multi_layer_encoder_feature=True, selected_layer_index=(5, 11, 17, 23),
    ):  # fmt: skip
        super().__init__()
        dim = num_attention_heads * attention_head_dim
        self.time_text_embed = NoiseLevel(dim)
        self.txt_norm = nn.ModuleList([RMSNorm(enc_hidden_dim, eps=1e-5) for _ in selected_layer_index])
        self.txt_in = nn.Linear(enc_hidden_dim * len(selected_layer_index), dim)
        self.img_in = nn.Linear(in_channels, dim)
        blocks = [Block(dim, num_attention_heads, attention_head_dim) for _ in range(num_layers)]
        self.transformer_blocks = nn.ModuleList(blocks)
        self.norm_out = AdaLayerNormContinuous(dim, dim, elementwise_affine=False, eps=1e-6)
        self.proj_out = nn.Linear(dim, patch_size * patch_size * out_channels)

    def forward(self, hidden_states, encoder_hidden_states, encoder_hidden_states_mask, timestep, img_shapes):
        """The direction to noise [batch, rows · columns, channels]. The text is states of some layers, each [batch, tokens,
        width]; what the mask hides of it is not seen."""
        (_, rows, columns), = img_shapes
        tokens = encoder_hidden_states[0].shape[1]
        row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
        centred = [torch.zeros(rows * columns), row.flatten() - (rows - rows // 2), column.flatten() - (columns - columns // 2)]
        first = max(rows // 2, columns // 2)
        diagonal = torch.arange(first, first + tokens)[:, None].expand(-1, 3)
        widths = self.config.axes_dims_rope
        rotations = [angles(torch.stack(centred, dim=1), widths), angles(diagonal, widths)]
        shown = torch.cat([torch.ones(len(hidden_states), rows * columns, dtype=torch.bool), encoder_hidden_states_mask], dim=1)

        level = self.time_text_embed(timestep)
        img = self.img_in(hidden_states)
        normed = [norm(states) for norm, states in zip(self.txt_norm, encoder_hidden_states)]
        txt = self.txt_in(torch.cat(normed, dim=-1))
        for block in self.transformer_blocks:
            img, txt = block(img, txt, level, rotations, shown[:, None, None])
        return self.proj_out(self.norm_out(img, level))


class LensPipeline(diffusers.DiffusionPipeline):
    """The pipeline, whose latents are [batch, channels, rows, columns] between calls of the network."""

    def __init__(self, scheduler, vae, text_encoder, tokenizer, transformer):
        super().__init__()
        self.register_modules(
            scheduler=scheduler, vae=vae, text_encoder=text_encoder, tokenizer=tokenizer, transformer=transformer
        )

    def states(self, prompt, longest):
        """The states after the selected layers, each [1, tokens, width], of the tokens after those that are always the same."""
        ids = self.tokenizer(BEFORE + prompt + AFTER, add_special_tokens=False)["input_ids"]
        left_out = len(self.tokenizer(BEFORE, add_special_tokens=False)["input_ids"])
        ids = torch.tensor([ids[: min(longest + left_out, LONGEST)]])
        kept = {}
        hooks = [
            self.text_encoder.model.layers[layer].register_forward_hook(
                lambda module, arguments, output, layer=layer: kept.update({layer: output})
            )
            for layer in self.transformer.config.selected_layer_index
        ]
        self.text_encoder(input_ids=ids, attention_mask=torch.ones_like(ids))
        for hook in hooks:
            hook.remove()
        return [kept[layer][:, left_out:] for layer in self.transformer.config.selected_layer_index]

    def encode_prompt(self, prompt, negative_prompt, longest):
        """The states of both, those of all layers side by side; of an empty negative prompt zeros, which a mask hides."""
        states = [torch.cat(self.states(prompt, longest), dim=-1)[0]]
        if negative_prompt.strip():
            states.append(torch.cat(self.states(negative_prompt, longest), dim=-1)[0])
        else:
            states.append(torch.zeros_like(states[0][:1]))
        return [[text] for text in states]

    @torch.no_grad()
    def __call__(
        self, prompt, negative_prompt, num_inference_steps, guidance_scale, num_images_per_prompt, height, width, latents,
        max_sequence_length, callback_on_step_end, output_type,
    ):  # fmt: skip
        """`max_sequence_length` counts the tokens after those that are always the same."""
        batch, (rows, columns) = num_images_per_prompt, latents.shape[-2:]
        texts = [text for text, in self.encode_prompt(prompt, negative_prompt, max_sequence_length)]
        longest = max(map(len, texts))
        seen = [len(texts[0]), len(texts[1]) if negative_prompt.strip() else 0]
        mask = torch.tensor([[place < count for place in range(longest)] for count in seen])
        padded = torch.stack([functional.pad(text, (0, 0, 0, longest - len(text))) for text in texts])
        layers = padded.chunk(len(self.transformer.config.selected_layer_index), dim=-1)
        layers = [layer.repeat_interleave(batch, dim=0) for layer in layers]

        sigmas = torch.linspace(1.0, 1 / num_inference_steps, num_inference_steps, dtype=torch.float64).numpy()
        mu = compute_empirical_mu(rows * columns, num_inference_steps)
        self.scheduler.set_timesteps(sigmas=sigmas, mu=mu)
        for step, time in enumerate(self.scheduler.timesteps):
            given = latents.flatten(2).transpose(1, 2).repeat(2, 1, 1)
            level = time.expand(2 * batch) / 1000
            output = self.transformer(
                hidden_states=given, encoder_hidden_states=layers,
                encoder_hidden_states_mask=mask.repeat_interleave(batch, dim=0), timestep=level, img_shapes=[(1, rows, columns)],
            )  # fmt: skip
            shown, hidden = output.chunk(2)
            guided = hidden + guidance_scale * (shown - hidden)
            guided = guided * (shown.norm(dim=-1, keepdim=True) / guided.norm(dim=-1, keepdim=True).clamp(min=1e-12))
            direction = guided.transpose(1, 2).unflatten(2, (rows, columns))
            latents = self.scheduler.step(direction, time, latents, return_dict=False)[0]
            callback_on_step_end(self, step, time, {"latents": latents})
        statistics = self.vae.bn
        deviation = torch.sqrt(statistics.running_var + self.vae.config.batch_norm_eps)
        scaled = latents * deviation[:, None, None] + statistics.running_mean[:, None, None]
        picture = self.vae.decode(self._unpatchify_latents(scaled)).sample
        return diffusers.utils.BaseOutput(images=(picture / 2 + 0.5).clamp(0, 1))

    @staticmethod
    def _patchify_latents(latents):
        return functional.pixel_unshuffle(latents, 2)

    @staticmethod
    def _unpatchify_latents(latents):
        return functional.pixel_shuffle(latents, 2)
