"""Trains the autoencoder: `python train_vae.py DATA --minutes 30`.

Works on random 64-pixel crops. The checkpoint DATA/vae.pt is written every two minutes; `--resume` goes
on from it with a fresh schedule. At the end the scale of each latent channel is folded into the
convolutions next to the latents, and DATA/vae/ holds the finished AutoencoderKL in float32.
"""
import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL

from optimisers import Average, Muon, trapezoid

CROP = 64
HELD_OUT = 64


def build_vae(channels):
    """The autoencoder: factor 8, no quantising convolutions."""
    widths = (16, 32, 64, 96)
    return AutoencoderKL(
        in_channels=3, out_channels=3, latent_channels=channels, block_out_channels=widths,
        layers_per_block=1, norm_num_groups=4, sample_size=128,
        down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4,
        use_quant_conv=False, use_post_quant_conv=False,
    )


def split_parameters(vae):
    """The parameters for Muon (inner convolutions and matrices) and those for AdamW."""
    names = [(n, p) for n, p in vae.named_parameters()]
    inner = [p for n, p in names if p.ndim >= 2 and "conv_in" not in n and n != "decoder.conv_out.weight"]
    chosen = set(map(id, inner))
    return inner, [p for _, p in names if id(p) not in chosen]


def as_batch(pictures):
    """Bytes (n, h, w, 3) as floats from -1 to 1 (n, 3, h, w), channels last in memory."""
    batch = pictures if torch.is_tensor(pictures) else torch.tensor(pictures)
    batch = batch.permute(0, 3, 1, 2).float().div_(127.5).sub_(1)
    return batch.contiguous(memory_format=torch.channels_last)


def random_crops(pictures, count, rng):
    """Random crops, half of them mirrored."""
    side = pictures.shape[1] - CROP + 1
    crops = []
    for number in rng.integers(HELD_OUT, len(pictures), count):
        top, left = rng.integers(0, side, 2)
        crop = pictures[number, top:top + CROP, left:left + CROP]
        crops.append(crop[:, ::-1] if rng.random() < 0.5 else crop)
    return as_batch(np.stack(crops))


def encode_decode(vae, pictures, noise):
    """Mean, log variance and reconstruction."""
    mean, variance = vae.encoder(pictures).chunk(2, 1)
    variance = variance.clamp(-12, 2)
    return mean, variance, vae.decoder(mean + (0.5 * variance).exp() * noise)


def loss_of(pictures, mean, variance, output, kl_weight):
    """Squared and absolute error, error of the differences between neighbours, divergence."""
    error = output - pictures
    edges = error.diff(dim=-1).abs().mean() + error.diff(dim=-2).abs().mean()
    square = error.square().mean()
    divergence = 0.5 * (mean.square() + variance.exp() - 1 - variance).mean()
    return square + 0.2 * error.abs().mean() + 0.2 * edges + kl_weight * divergence, square


@torch.no_grad()
def psnr(vae, pictures, noise=0.0):
    """Mean peak signal to noise ratio; `noise` disturbs the latents by that share of their deviation."""
    values = []
    for start in range(0, len(pictures), 16):
        batch = as_batch(pictures[start:start + 16]).to(vae.device)
        mean = vae.encoder(batch).chunk(2, 1)[0]
        mean = mean + noise * mean.std((0, 2, 3), keepdim=True) * torch.randn_like(mean)
        error = (vae.decoder(mean).clamp(-1, 1) - batch).square().mean((1, 2, 3))
        values.append(10 * torch.log10(4 / error))
    return torch.cat(values).mean().item()


@torch.no_grad()
def fold_scale(vae, pictures):
    """Gives each latent channel zero mean and unit variance without changing what the model does to pictures."""
    latents = torch.cat([vae.encoder(as_batch(pictures[i:i + 16])).chunk(2, 1)[0] for i in range(0, len(pictures), 16)])
    scale, shift = latents.std((0, 2, 3)), latents.mean((0, 2, 3))
    channels = len(scale)
    last, first = vae.encoder.conv_out, vae.decoder.conv_in
    last.weight[:channels] /= scale[:, None, None, None]
    last.bias[:channels] = last.bias[:channels] / scale
    last.bias[channels:] -= 2 * scale.log()
    first.weight *= scale[None, :, None, None]
    # The mean stays in the latents as one number, `shift_factor`: padding makes a shift of conv_in inexact.
    vae.register_to_config(scaling_factor=1.0, shift_factor=float((shift / scale).mean()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--channels", type=int, default=12)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--kl", type=float, default=1e-4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--name", default="vae")
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    pictures = np.load(options.data / "pictures.npy", mmap_mode="r")
    held_out = np.ascontiguousarray(pictures[:HELD_OUT])
    vae = build_vae(options.channels).to(memory_format=torch.channels_last)
    with torch.no_grad():
        vae.encoder.conv_out.bias[options.channels:] = -5.0
    print(f"{sum(p.numel() for p in vae.parameters()) / 1e6:.2f} M parameters", flush=True)
    inner, outer = split_parameters(vae)
    muon, adam = Muon(inner), torch.optim.AdamW(outer, betas=(0.9, 0.98), weight_decay=1e-3)
    average = Average(vae.parameters(), 0.997)
    checkpoint = options.data / f"{options.name}.pt"
    before = 0
    if options.resume:
        saved = torch.load(checkpoint)
        vae.load_state_dict(saved["vae"])
        muon.load(saved["muon"])
        adam.load_state_dict(saved["adam"])
        average.load(saved["average"])
        before = saved["steps"]

    def save():
        state = {"vae": vae.state_dict(), "muon": muon.state(), "adam": adam.state_dict(),
                 "average": average.state(), "steps": before + step}
        torch.save(state, checkpoint)

    start = saved_at = time.time()
    step, smooth = 0, None
    while (passed := (time.time() - start) / 60) < options.minutes:
        rate = options.rate * trapezoid(passed / options.minutes, 0.4) * min(1, (step + 1) / 50)
        batch = random_crops(pictures, options.batch, rng)
        noise = torch.randn(len(batch), options.channels, CROP // 8, CROP // 8)
        loss, square = loss_of(batch, *encode_decode(vae, batch, noise), options.kl)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(vae.parameters(), 1.0)
        adam.param_groups[0]["lr"] = rate
        adam.step()
        muon.step(rate)
        average.update()
        step += 1
        smooth = square.item() if smooth is None else 0.98 * smooth + 0.02 * square.item()
        if step % 100 == 0:
            print(f"{step} {passed:.1f} min, training {10 * math.log10(4 / smooth):.2f} dB, rate {rate:.1e}", flush=True)
        if step % 500 == 0:
            with average.applied():
                print(f"  held out {psnr(vae, held_out):.2f} dB, noise 0.1 {psnr(vae, held_out, 0.1):.2f} dB", flush=True)
        if time.time() - saved_at > 120:
            save()
            saved_at = time.time()
    save()
    with average.applied():
        vae = vae.to(memory_format=torch.contiguous_format)
        fold_scale(vae, np.ascontiguousarray(pictures[:512]))
        plain, noisy = psnr(vae, held_out), psnr(vae, held_out, 0.1)
        print(f"finished: {before + step} steps, held out {plain:.2f} dB, with noise 0.1 {noisy:.2f} dB", flush=True)
        vae.save_pretrained(options.data / options.name)


if __name__ == "__main__":
    main()
