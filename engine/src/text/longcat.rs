//! Prompts of LongCat-Image (Meituan LongCat Team 2025, arXiv:2512.07584) for Qwen2.5-VL: quotations are read letter by
//! letter, and the prompt is padded to the longest.

use super::{
    Encoded, Extent, Given, Qwen2Tokenizer, Seen, Sequence, TextEncoder, Tokens,
    language_model::{LanguageModel, Taken},
    quotations,
    qwen2_5_vl::{self, AROUND, IMAGE},
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part},
    residency::{Blocks, RunError},
};

/// What the model is told to do, before the prompt.
const CAPTION: &str = "<|im_start|>system\nAs an image captioning expert, generate a descriptive text prompt based on an image \
    content, suitable for input to a text-to-image model.<|im_end|>\n<|im_start|>user\n";
/// The same where it changes an image.
const EDIT: &str = "<|im_start|>system\nAs an image editing expert, first analyze the content and attributes of the input \
    image(s). Then, based on the user's editing instructions, clearly and precisely determine how to modify the given \
    image(s), ensuring that only the specified parts are altered and all other aspects remain consistent with the \
    original(s).<|im_end|>\n<|im_start|>user\n";
/// The position of all padding. In transformers 4, with which the model was trained, it is that of tokens that a mask hides.
const PADDING_PLACE: usize = 1;

/// A Qwen2.5-VL model that reads prompts of LongCat-Image. What comes after the prompt in the authors' code is left out: no
/// state that is taken depends on it.
#[derive(Debug)]
pub struct LongCatPrompts {
    tokenizer: Qwen2Tokenizer,
    model: LanguageModel,
    /// The tokens before the prompt and its images, whose states are left out.
    before: Vec<u32>,
    padding: u32,
}

impl LongCatPrompts {
    /// Finds every tensor of the language model in `part`, and its tokenizer. With `edits`, it is told to change an image.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, or there is no tokenizer.
    pub fn open(
        checkpoint: &Checkpoint,
        part: &Part,
        edits: bool,
    ) -> Result<(Self, Component), CheckpointError> {
        let (tokenizer, model, component) = qwen2_5_vl::open(checkpoint, part)?;
        let before = tokenizer.encode(if edits { EDIT } else { CAPTION })?;
        let padding = tokenizer.padding()?;
        let model = model.padded_at(PADDING_PLACE, padding);
        Ok((Self { tokenizer, model, before, padding }, component))
    }

    fn padding_of(&self, ids: &[u32]) -> usize {
        ids.iter().rev().take_while(|id| **id == self.padding).count()
    }
}

impl TextEncoder for LongCatPrompts {
    fn width(&self) -> usize {
        self.model.width()
    }

    /// Nothing in the prompt is syntax but marks of quotations. Only the prompt's own tokens count towards `longest`.
    fn tokenize(&self, prompt: &str, longest: usize) -> Result<Tokens, CheckpointError> {
        self.tokenize_seeing(prompt, longest, &[])
    }

    /// Images come before the prompt.
    fn tokenize_seeing(
        &self,
        prompt: &str,
        longest: usize,
        grids: &[[usize; 2]],
    ) -> Result<Tokens, CheckpointError> {
        let [start, end] = AROUND;
        let image = |[rows, columns]: &[usize; 2]| format!("{start}{}{end}", IMAGE.repeat(rows * columns));
        let images: String = grids.iter().map(image).collect();
        let mut own = Vec::new();
        // What a person writes is no image.
        for part in quotations::split(&prompt.replace(IMAGE, "")) {
            if quotations::is_spelled(part) {
                for letter in part.chars() {
                    own.extend(self.tokenizer.encode(letter.encode_utf8(&mut [0; 4]))?);
                }
            } else {
                own.extend(self.tokenizer.encode(part)?);
            }
        }
        let extent = Extent::whole(own.len(), longest);
        own.resize(longest, self.padding);
        let ids = [self.before.clone(), self.tokenizer.encode(&images)?, own].concat();
        Ok(Tokens::single(Sequence::plain(ids), extent))
    }

    /// All padding has one position and sees the same tokens, so that all has the same states, which are computed once.
    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        Given { images, .. }: Given<'_>,
    ) -> Result<Vec<Encoded>, RunError> {
        let more: Vec<usize> = sequences.iter().map(|ids| self.padding_of(ids).saturating_sub(1)).collect();
        let once: Vec<&[u32]> =
            sequences.iter().zip(&more).map(|(ids, more)| &ids[..ids.len() - more]).collect();
        let seen = Seen::of(&self.tokenizer, images);
        let states = self.model.states_seeing(blocks, &once, Taken::Last, seen)?;
        let whole = states.into_iter().zip(more).map(|(states, more)| {
            let own = Encoded::without_first(states, self.before.len())?.states;
            let last = own.dim(0)?.saturating_sub(1);
            Ok(Encoded::with_repeated(own, last, more)?)
        });
        whole.collect()
    }
}
