"""Tensors made from a name alone, the same bits here and in `src/hash_weights.rs`.

Element i of a tensor depends only on the tensor's name and on i: FNV-1a hashes the name, SplitMix64 turns the
hash and i into 64 bits. What follows is exact or rounded once by IEEE 754, so neither the machine nor its
mathematics library has a say.
"""

import numpy as np

MASK = 2**64 - 1
FNV_OFFSET = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3


def salted(salt, name):
    """The name that is hashed."""
    return f"{salt}/{name}" if salt else name


def fnv1a64(text):
    """64-bit FNV-1a hash of the UTF-8 bytes of `text`."""
    value = FNV_OFFSET
    for byte in text.encode():
        value = ((value ^ byte) * FNV_PRIME) & MASK
    return value


def bits(name, count):
    """The first `count` draws of the SplitMix64 stream whose seed is the hash of `name`."""
    u64 = np.uint64
    with np.errstate(over="ignore"):
        state = u64(fnv1a64(name)) + np.arange(1, count + 1, dtype=u64) * u64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> u64(30))) * u64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> u64(27))) * u64(0x94D049BB133111EB)
        return state ^ (state >> u64(31))


def uniform(name, shape):
    """Multiples of 2^-23 in [-1, 1)."""
    draws = bits(name, int(np.prod(shape))) >> np.uint64(40)
    return (draws.astype(np.float32) * np.float32(2.0**-23) - np.float32(1)).reshape(shape)


def noise(name, shape):
    """Nearly normal numbers of variance 1: the four 16-bit parts of a draw are added (Irwin-Hall)."""
    draws = bits(name, int(np.prod(shape)))
    total = np.zeros(draws.size, np.float32)
    for part in range(4):
        total = total + ((draws >> np.uint64(16 * part)) & np.uint64(0xFFFF)).astype(np.float32)
    centred = (total - np.float32(131070.0)) * np.float32(2.0**-15)
    return (centred * np.sqrt(np.float32(0.75))).reshape(shape)


def weight(name, shape, scale=1.0):
    """A weight by its name and shape. No bias is zero and no norm is one: such weights hide mistakes."""
    values = uniform(name, shape)
    if len(shape) > 1:
        fan_in = int(np.prod(shape[1:]))
        values = values * np.sqrt(np.float32(3.0) / np.float32(fan_in))
    elif name.endswith(("bias", "running_mean")):
        values = values * np.float32(0.1)
    else:
        values = np.float32(1) + values * np.float32(0.2)
    return values if scale == 1.0 else values * np.float32(scale)


def digest(values):
    """FNV-1a over the 32-bit patterns of the values: one number by which two languages compare."""
    value = FNV_OFFSET
    for pattern in np.ascontiguousarray(values, np.float32).view(np.uint32).ravel().tolist():
        value = ((value ^ pattern) * FNV_PRIME) & MASK
    return value


def main():
    """Prints the digests that the tests of `src/hash_weights.rs` expect."""
    for name, shape, scale in [
        ("flux1_dev.transformer.x_embedder.weight", (256, 64), 1.0),
        ("a.bias", (1000,), 1.0),
        ("a.norm.weight", (1000,), 1.0),
        ("conv.weight", (8, 4, 3, 3), 1.0),
        ("salt text/conv.weight", (8, 4, 3, 3), 1.0),
        ("conv.weight", (8, 4, 3, 3), 0.003),
    ]:
        print(f"weight {name} {list(shape)} x {scale}: {digest(weight(name, shape, scale)):016x}")
    print(f"noise flux1_dev.latents [1024]: {digest(noise('flux1_dev.latents', (1024,))):016x}")


if __name__ == "__main__":
    main()
