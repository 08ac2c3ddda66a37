//! How many tokens of a prompt a model's text encoders read.

use serde::{Deserialize, Serialize};

use super::Resolved;
use crate::{
    models::{Model, Prompt},
    text::{Extent, Manner},
};

/// How many tokens of a prompt one text encoder reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Its architecture, such as `CLIP-L`.
    pub encoder: String,
    /// Whether only its pooled output is used.
    pub is_summary: bool,
    /// The number of tokens.
    #[serde(flatten)]
    pub extent: Extent,
}

impl Reading {
    /// As text: `CLIP-L reads 43 of 75 tokens`.
    pub fn sentence(&self) -> String {
        let Extent { tokens, room, chunks, cut } = self.extent;
        let encoder = &self.encoder;
        match (self.is_summary, chunks) {
            (true, _) if cut > 0 => {
                format!("{encoder} summarizes the first {} of {tokens} tokens", tokens - cut)
            }
            (true, _) => format!("{encoder} summarizes {tokens} of {room} tokens"),
            (false, 1) => format!("{encoder} reads {} of {room} tokens", tokens - cut),
            (false, _) => format!("{encoder} reads {tokens} of {room} tokens in {chunks} chunks"),
        }
    }

    /// A warning about tokens that are ignored at the prompt's end. None for pooled outputs: other encoders
    /// read those tokens.
    pub fn unread(&self) -> Option<String> {
        let encoder = &self.encoder;
        match self.extent.cut {
            _ if self.is_summary => None,
            0 => None,
            1 => Some(format!("{encoder} ignores the last token.")),
            cut => Some(format!("{encoder} ignores the last {cut} tokens.")),
        }
    }
}

/// What each of a model's text encoders reads of the prompts of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Readings {
    /// Of the prompt.
    pub prompt: Vec<Reading>,
    /// Of the prompt of each region.
    pub regions: Vec<Vec<Reading>>,
    /// Of the negative prompt; empty if guidance does not use it.
    pub negative: Vec<Reading>,
}

impl Readings {
    /// Of prompts in the order in which a run encodes them: the prompt and those of the regions, `positive` together, and then
    /// the negative prompt.
    fn in_order(mut all: Vec<Vec<Reading>>, positive: usize) -> Self {
        let negative = all.split_off(positive.min(all.len()));
        let mut all = all.into_iter();
        let prompt = all.next().unwrap_or_default();
        Self { prompt, regions: all.collect(), negative: negative.into_iter().next().unwrap_or_default() }
    }
}

/// What each of the model's text encoders reads of the prompts of a run.
pub fn readings(model: &Model, resolved: &Resolved) -> Readings {
    let of = |prompt: &Prompt| {
        let reading = model.text_encoders().filter_map(|encoder| {
            Some(Reading {
                encoder: model.parts[encoder.part].component.architecture.to_owned(),
                is_summary: encoder.network.manner() == Manner::Summary,
                extent: prompt.parts.get(&encoder.part)?.extent,
            })
        });
        reading.collect()
    };
    Readings::in_order(resolved.prompts.iter().map(of).collect(), resolved.positive_prompts())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_negative_prompt_is_not_that_of_a_region() {
        let of = |tokens| {
            vec![Reading {
                encoder: "CLIP-L".to_owned(),
                is_summary: false,
                extent: Extent::whole(tokens, 75),
            }]
        };
        let all = || vec![of(1), of(2), of(3), of(4)];
        let read = Readings::in_order(all(), 3);
        assert_eq!(read, Readings { prompt: of(1), regions: vec![of(2), of(3)], negative: of(4) });
        assert_eq!(Readings::in_order(all(), 4).negative, [], "guidance is off");
        assert_eq!(Readings::in_order(Vec::new(), 1), Readings::default());
    }

    #[test]
    fn what_is_read_and_what_is_not_is_said() {
        let reading = |is_summary, tokens, room, chunks| Reading {
            encoder: "CLIP-L".to_owned(),
            is_summary,
            extent: Extent { chunks, ..Extent::whole(tokens, room) },
        };
        for (reading, sentence, unread) in [
            (reading(false, 43, 75, 1), "CLIP-L reads 43 of 75 tokens", None),
            (reading(false, 118, 150, 2), "CLIP-L reads 118 of 150 tokens in 2 chunks", None),
            (reading(true, 43, 75, 1), "CLIP-L summarizes 43 of 75 tokens", None),
            (reading(true, 118, 75, 1), "CLIP-L summarizes the first 75 of 118 tokens", None),
            (
                reading(false, 80, 75, 1),
                "CLIP-L reads 75 of 75 tokens",
                Some("CLIP-L ignores the last 5 tokens."),
            ),
            (
                reading(false, 76, 75, 1),
                "CLIP-L reads 75 of 75 tokens",
                Some("CLIP-L ignores the last token."),
            ),
        ] {
            assert_eq!(reading.sentence(), sentence);
            assert_eq!(reading.unread().as_deref(), unread);
        }
    }
}
