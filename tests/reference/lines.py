"""The lines that controlnet_aux finds in a picture, and the scribbles of A1111's extension, in whole numbers that do not
wrap. Run it by itself: it needs `opencv-python-headless` and `controlnet_aux` (without its
dependencies, but PyTorch)."""

import importlib.util
import os
import sys
import types

import cv2
import numpy
from PIL import Image
from safetensors.numpy import save_file

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "lines.safetensors")
SIDE = 64
# Every so many pixels are kept.
STRIDE = 7


def picture():
    """A picture with slopes, edges and fine lines, as in `pictures`."""
    y, x = numpy.mgrid[:SIDE, :SIDE]
    channels = [x * 7 + y * 3, x * y, (x // 5 + y // 7) % 2 * 200 + x]
    return numpy.stack([channel % 256 for channel in channels], -1).astype(numpy.uint8)


def detector():
    """The class, without the other preprocessors of its package, which need more libraries."""
    package = importlib.util.find_spec("controlnet_aux").submodule_search_locations[0]
    for name, folder in (("controlnet_aux", ""), ("controlnet_aux.lineart_standard", "lineart_standard")):
        module = types.ModuleType(name)
        module.__path__ = [os.path.join(package, folder)]
        sys.modules[name] = module
    spec = importlib.util.spec_from_file_location(
        "controlnet_aux.lineart_standard.inside", os.path.join(package, "lineart_standard", "__init__.py")
    )
    inside = importlib.util.module_from_spec(spec)
    inside.__package__ = "controlnet_aux.lineart_standard"
    spec.loader.exec_module(inside)
    return inside.LineartStandardDetector()


def scribble(image):
    """`scribble_xdog` of the extension, with its threshold of 32."""
    near, far = (cv2.GaussianBlur(image.astype(numpy.float32), (0, 0), deviation) for deviation in (0.5, 5.0))
    dog = (255 - numpy.min(far - near, axis=2)).clip(0, 255).astype(numpy.uint8)
    made = numpy.zeros_like(image)
    made[2 * (255 - dog.astype(int)) > 32] = 255
    return made


def main():
    """Writes the fixture."""
    image = picture()
    lines = numpy.array(detector()(Image.fromarray(image), detect_resolution=SIDE))
    kept = {"lineart": lines, "scribble": scribble(image)}
    kept = {name: made.reshape(-1, 3)[::STRIDE, 0].copy() for name, made in kept.items()}
    for name, made in kept.items():
        print(name, made.shape, made.min(), made.max(), len(set(made.tolist())))
    save_file(kept, OUT)


if __name__ == "__main__":
    main()
