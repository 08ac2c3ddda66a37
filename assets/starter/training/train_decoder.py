"""Trains the decoder alone, so that latents stay as they are: `python train_decoder.py DATA --minutes 20`.

Goes on from DATA/vae/ and writes the sharper autoencoder there every two minutes. Works on whole pictures,
with a little noise on the latents, because those the transformer makes are not perfect either. The state
of the optimiser is in DATA/decoder.pt; `--resume` takes it up.
"""
import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderKL

from optimisers import Average, Muon, trapezoid
from train_vae import HELD_OUT, as_batch, psnr

NOISE = 0.1


def decoder_parameters(vae):
    """The decoder's parameters for Muon and those for AdamW."""
    inner = [p for n, p in vae.decoder.named_parameters() if p.ndim >= 2 and n not in ("conv_in.weight", "conv_out.weight")]
    chosen = set(map(id, inner))
    return inner, [p for p in vae.decoder.parameters() if id(p) not in chosen]


def random_pictures(pictures, count, rng):
    """Random whole pictures, half of them mirrored."""
    numbers = torch.from_numpy(np.sort(rng.integers(HELD_OUT, len(pictures), count)))
    batch = as_batch(pictures[numbers.to(pictures.device)])
    return torch.where(torch.rand(count, 1, 1, 1, device=batch.device) < 0.5, batch, batch.flip(-1))


def loss_of(output, pictures):
    """Squared and absolute error, and the error of the differences between neighbours."""
    error = output - pictures
    edges = error.diff(dim=-1).abs().mean() + error.diff(dim=-2).abs().mean()
    square = error.square().mean()
    return square + 0.15 * error.abs().mean() + 0.15 * edges, square


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--hold", type=float, default=0.3)
    parser.add_argument("--batch-factor", type=int, default=1, help="multiplies the batch size")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    seed = int(time.time())
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    # On the CPU the pictures stay in the file, which is opened for writing only because tensors want to be writable.
    pictures = torch.from_numpy(np.load(options.data / "pictures.npy", mmap_mode="r+")).to(options.device)
    held_out = pictures[:HELD_OUT]
    vae = AutoencoderKL.from_pretrained(options.data / "vae").to(options.device, memory_format=torch.channels_last)
    vae.encoder.requires_grad_(False)
    inner, outer = decoder_parameters(vae)
    muon, adam = Muon(inner), torch.optim.AdamW(outer, betas=(0.9, 0.98), weight_decay=1e-3)
    average = Average(vae.decoder.parameters(), 0.997)
    steps = 0
    if options.resume:
        saved = torch.load(options.data / "decoder.pt", map_location=options.device)
        vae.decoder.load_state_dict(saved["decoder"])
        muon.load(saved["muon"])
        adam.load_state_dict(saved["adam"])
        average.load(saved["average"])
        steps = saved["steps"]

    def save():
        torch.save({"decoder": vae.decoder.state_dict(), "muon": muon.state(), "adam": adam.state_dict(),
                    "average": average.state(), "steps": steps}, options.data / "decoder.pt")
        with average.applied():
            vae.save_pretrained(options.data / "vae")

    start = saved_at = time.time()
    first, smooth, save_every = steps, None, min(120, 20 * options.minutes)
    while (passed := (time.time() - start) / 60) < options.minutes:
        rate = options.rate * trapezoid(passed / options.minutes, options.hold) * min(1, (steps - first + 1) / 40)
        batch = random_pictures(pictures, options.batch * options.batch_factor, rng)
        with torch.no_grad():
            latents = vae.encoder(batch).chunk(2, 1)[0]
            latents = latents + NOISE * torch.randn_like(latents)
        with torch.autocast(options.device, torch.bfloat16, enabled=options.device != "cpu"):
            output = vae.decoder(latents)
        loss, square = loss_of(output.float(), batch)
        adam.zero_grad()
        for parameter in inner:
            parameter.grad = None
        loss.backward()
        torch.nn.utils.clip_grad_norm_(vae.decoder.parameters(), 1.0)
        adam.param_groups[0]["lr"] = rate
        adam.step()
        muon.step(rate)
        average.update()
        steps += 1
        smooth = square.detach() if smooth is None else smooth.lerp(square.detach(), 0.02)
        if steps % 50 == 0:
            print(f"{steps} {passed:.1f} min, training {10 * math.log10(4 / smooth):.2f} dB, rate {rate:.1e}", flush=True)
        if time.time() - saved_at > save_every:
            save()
            saved_at = time.time()
    save()
    with average.applied():
        print(f"finished: {steps} steps, held out {psnr(vae, held_out):.2f} dB, with noise 0.1 {psnr(vae, held_out, 0.1):.2f} dB")


if __name__ == "__main__":
    main()
