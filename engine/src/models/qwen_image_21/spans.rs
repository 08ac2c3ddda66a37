//! The tokens before the image: those of the prompt, and of references between them.

use crate::{
    models::Reference,
    nn::{Mask, Result, Tensor, attention, bail},
};

/// A run of tokens before the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    /// Of the prompt.
    Text(usize),
    /// Of a reference with these rows and columns.
    Image([usize; 2]),
}

impl Span {
    fn tokens(self) -> usize {
        match self {
            Self::Text(tokens) => tokens,
            Self::Image([rows, columns]) => rows * columns,
        }
    }
}

/// The spans before the image: a prompt of `text` tokens, and references after the numbers of its tokens in `places`.
pub(super) fn spans(text: usize, places: &[usize], references: &[Reference]) -> Result<Vec<Span>> {
    if places.len() != references.len() {
        bail!("the prompt is about {} images, and {} are given", places.len(), references.len());
    }
    let (mut spans, mut end) = (Vec::new(), 0);
    for (&place, reference) in places.iter().zip(references) {
        if place > end {
            spans.push(Span::Text(place - end));
        }
        spans.push(Span::Image(reference.grid));
        end = place;
    }
    if text > end {
        spans.push(Span::Text(text - end));
    }
    Ok(spans)
}

/// The place after these spans.
pub(super) fn place_after(spans: &[Span]) -> usize {
    let of_span = |span: &Span| match *span {
        Span::Text(tokens) => tokens,
        Span::Image([rows, columns]) => rows.max(columns),
    };
    spans.iter().map(of_span).sum()
}

/// Attention of the tokens before the image: each sees those before it, and those of a reference also one another.
pub(super) fn attend_in_order(spans: &[Span], q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
    let causal = attention(q, k, v, Mask::Causal)?;
    if !spans.iter().any(|span| matches!(span, Span::Image(_))) {
        return Ok(causal);
    }
    let (mut first, mut parts) = (0, Vec::new());
    for span in spans {
        let (tokens, end) = (span.tokens(), first + span.tokens());
        parts.push(match span {
            Span::Text(_) => causal.narrow(1, first, tokens)?,
            Span::Image(_) => {
                let part = |x: &Tensor, from: usize| x.narrow(1, from, end - from)?.contiguous();
                attention(&part(q, first)?, &part(k, 0)?, &part(v, 0)?, Mask::None)?
            }
        });
        first = end;
    }
    Tensor::cat(&parts, 1)
}

/// The tokens before the image, `[1, tokens, dim]`.
pub(super) fn joined(prompt: Tensor, spans: &[Span], images: &[Tensor]) -> Result<Tensor> {
    let (mut parts, mut first, mut images) = (Vec::new(), 0, images.iter());
    for span in spans {
        match span {
            Span::Text(tokens) => {
                parts.push(prompt.narrow(1, first, *tokens)?);
                first += tokens;
            }
            Span::Image(_) => parts.extend(images.next().cloned()),
        }
    }
    Tensor::cat(&parts, 1)
}

#[cfg(test)]
mod tests {
    use crate::nn::Device;

    use super::*;

    #[test]
    fn references_stand_where_the_prompt_says() {
        let reference = |grid| {
            let patches = Tensor::zeros((1, 1, 1), crate::nn::DType::F32, &Device::processor()).unwrap();
            Reference { patches, grid }
        };
        let both = [reference([2, 4]), reference([4, 2])];
        let spans = spans(9, &[3, 7], &both).unwrap();
        let expected =
            [Span::Text(3), Span::Image([2, 4]), Span::Text(4), Span::Image([4, 2]), Span::Text(2)];
        assert_eq!(spans, expected);
        assert_eq!(place_after(&spans), 9 + 4 + 4);
        assert!(super::spans(9, &[3], &both).is_err());
    }
}
