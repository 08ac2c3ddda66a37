//! Texts that a language model writes: prompts anew, and what images show.

use serde::{Deserialize, Serialize};

use super::RequestError;

/// The most tokens of a written prompt.
pub const LONGEST_ENHANCED: u32 = 4096;

/// How a language model writes a text, such as a better prompt than the request's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Writing {
    /// What the model is told to do with the prompt or the images.
    pub instruction: String,
    /// How much less likely words gain; 0 always takes the likeliest.
    pub temperature: f32,
    /// So many of the likeliest tokens are considered.
    pub top_k: u32,
    /// Of these, the likeliest that together have this probability.
    pub top_p: f32,
    /// The most tokens of the result.
    pub longest: u32,
}

/// Where a prompt comes from that a language model has written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enhanced {
    /// The prompt before, unless images were described.
    pub prompt: String,
    /// The names of the images that were described.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// What the language model was told to do with them.
    pub instruction: String,
    /// The name of the language model.
    pub model: String,
    /// The seed that its words were chosen by.
    pub seed: u64,
    /// What was written. A request has it as its prompt, unless words were chosen or styles applied after it.
    pub result: String,
}

impl Default for Writing {
    /// What Qwen recommends for answers without thinking.
    fn default() -> Self {
        Self { instruction: String::new(), temperature: 0.7, top_k: 20, top_p: 0.8, longest: 512 }
    }
}

impl Writing {
    /// Checks it for a prompt.
    ///
    /// # Errors
    /// When there is nothing to do, or a number makes no sense.
    pub fn validate(&self, prompt: &str) -> Result<(), RequestError> {
        if prompt.trim().is_empty() {
            return Err(RequestError::NothingToEnhance);
        }
        self.check()
    }

    /// Checks it, whatever it is for.
    ///
    /// # Errors
    /// When there is no instruction, or a number makes no sense.
    pub fn check(&self) -> Result<(), RequestError> {
        if self.instruction.trim().is_empty() {
            return Err(RequestError::NoInstruction);
        }
        if !(0.0..=2.0).contains(&self.temperature) {
            return Err(RequestError::Temperature(self.temperature));
        }
        if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            return Err(RequestError::TopP(self.top_p));
        }
        if !(1..=LONGEST_ENHANCED).contains(&self.longest) {
            return Err(RequestError::LongestPrompt { tokens: self.longest, most: LONGEST_ENHANCED });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_and_an_instruction_are_needed_and_numbers_have_bounds() {
        let good = Writing { instruction: "Write more.".to_owned(), ..Writing::default() };
        assert_eq!(good.validate("a fox"), Ok(()));
        assert_eq!(good.validate(" \n"), Err(RequestError::NothingToEnhance));
        assert_eq!(Writing::default().validate("a fox"), Err(RequestError::NoInstruction));
        for wrong in [
            Writing { temperature: -0.1, ..good.clone() },
            Writing { temperature: f32::NAN, ..good.clone() },
            Writing { top_p: 0.0, ..good.clone() },
            Writing { top_p: 1.1, ..good.clone() },
            Writing { longest: 0, ..good.clone() },
            Writing { longest: LONGEST_ENHANCED + 1, ..good.clone() },
        ] {
            assert!(wrong.validate("a fox").is_err(), "{wrong:?}");
        }
    }
}
