"""What prepares prompts and pictures for Qwen3-VL. That of transformers needs torchvision for clips."""

from transformers import BatchFeature, Qwen3VLProcessor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

IMAGE = "<|image_pad|>"


class Processor(Qwen3VLProcessor):
    """The processor, with a tokenizer and patches of the published size. Pictures of any size are read in it."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.images = Qwen2VLImageProcessorPil(
            size={"shortest_edge": 32 * 32, "longest_edge": 4096 * 4096}, patch_size=16, temporal_patch_size=2,
            merge_size=2, image_mean=[0.5] * 3, image_std=[0.5] * 3,
        )  # fmt: skip

    def apply_chat_template(self, messages, tokenize, return_dict):
        """The tokens of one message."""
        [message] = messages
        [content] = message["content"]
        text = f"<|im_start|>{message['role']}\n{content['text']}<|im_end|>\n"
        return [self.tokenizer(text).input_ids]

    def __call__(self, text, images=None, **options):
        """Token ids, masks, patches, and which tokens are those of pictures."""
        seen = {}
        if images is not None:
            seen = self.images(images=images, return_tensors="pt")
            counts = iter([int(grid.prod()) // self.images.merge_size**2 for grid in seen["image_grid_thw"]])
            text = [self.filled(prompt, counts) for prompt in text]
        read = self.tokenizer(text, **options)
        is_picture = read["input_ids"] == self.tokenizer.convert_tokens_to_ids(IMAGE)
        return BatchFeature({**read, **seen, "mm_token_type_ids": is_picture.int()})

    def filled(self, prompt, counts):
        """A prompt with as many tokens for each picture as it takes."""
        first, *parts = prompt.split(IMAGE)
        return first + "".join(IMAGE * next(counts) + part for part in parts)

    def save_pretrained(self, folder, **_):
        """The tokenizer is written apart."""


# Pipelines write the class of a component into their index.
Processor.__module__ = Qwen3VLProcessor.__module__
Processor.__name__ = Qwen3VLProcessor.__name__
