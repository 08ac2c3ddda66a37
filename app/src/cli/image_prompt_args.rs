//! Image prompts of a run.

use std::path::PathBuf;

use sluice_engine::{request::ImagePrompt, units::counted};

use super::exit::refuse;

/// IP-Adapters and the images that are read through them. All options but the images may be left out, and count in the order in
/// which they are given.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ImagePromptArgs {
    /// An IP-Adapter, through which images are read beside the prompt: a .safetensors file made for the model. Can be given
    /// several times.
    #[arg(long, value_name = "FILE", requires = "image_prompt")]
    ip_adapter: Vec<PathBuf>,
    /// An image that is read through the IP-Adapter. Can be given several times: all are read through one IP-Adapter, or one
    /// through each of several, in their order.
    #[arg(long, value_name = "FILE", requires = "ip_adapter")]
    image_prompt: Vec<PathBuf>,
    /// How strongly the images of an IP-Adapter count: 1 is as trained.
    #[arg(long, value_name = "NUMBER", requires = "ip_adapter", allow_negative_numbers = true)]
    image_prompt_weight: Vec<f32>,
    /// The fraction of the steps before which the images of an IP-Adapter are not read.
    #[arg(long, value_name = "FRACTION", requires = "ip_adapter")]
    image_prompt_start: Vec<f64>,
    /// The fraction of the steps after which the images of an IP-Adapter are not read.
    #[arg(long, value_name = "FRACTION", requires = "ip_adapter")]
    image_prompt_end: Vec<f64>,
}

impl ImagePromptArgs {
    /// The IP-Adapters with their images.
    ///
    /// # Errors
    /// Fails if there are several IP-Adapters, and not as many images.
    pub fn prompts(&self) -> anyhow::Result<Vec<ImagePrompt>> {
        let (adapters, images) = (self.ip_adapter.len(), self.image_prompt.len());
        if adapters > 1 && adapters != images {
            let advice = "Give an --image-prompt for each --ip-adapter.".to_owned();
            let [adapters, images] = [counted(adapters, "IP-Adapter"), counted(images, "image")];
            return Err(refuse(format!("{adapters} and {images} for them are given"), advice));
        }
        let usual = ImagePrompt::default();
        let prompt = |(index, adapter): (usize, &PathBuf)| ImagePrompt {
            adapter: adapter.clone(),
            images: if adapters == 1 {
                self.image_prompt.clone()
            } else {
                self.image_prompt.get(index).cloned().into_iter().collect()
            },
            weight: self.image_prompt_weight.get(index).copied().unwrap_or(usual.weight),
            start: self.image_prompt_start.get(index).copied().unwrap_or(usual.start),
            end: self.image_prompt_end.get(index).copied().unwrap_or(usual.end),
        };
        Ok(self.ip_adapter.iter().enumerate().map(prompt).collect())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        images: ImagePromptArgs,
    }

    fn prompts(words: &[&str]) -> anyhow::Result<Vec<ImagePrompt>> {
        let words = ["sluice"].iter().chain(words);
        Line::try_parse_from(words)?.images.prompts()
    }

    #[test]
    fn one_adapter_reads_all_images_and_several_one_each() {
        assert!(prompts(&[]).unwrap().is_empty());
        let one = prompts(&["--ip-adapter", "a", "--image-prompt", "1", "--image-prompt", "2"]).unwrap();
        let images = vec!["1".into(), "2".into()];
        assert_eq!(one, [ImagePrompt { adapter: "a".into(), images, ..ImagePrompt::default() }]);
        let two = ["--ip-adapter", "a", "--ip-adapter", "b", "--image-prompt", "1", "--image-prompt", "2"];
        let options =
            ["--image-prompt-weight", "0.6", "--image-prompt-start", "0.2", "--image-prompt-end", "0.8"];
        let both = prompts(&[&two[..], &options].concat()).unwrap();
        let of = |adapter: &str, image: &str| ImagePrompt {
            adapter: adapter.into(),
            images: vec![image.into()],
            ..ImagePrompt::default()
        };
        let first = ImagePrompt { weight: 0.6, start: 0.2, end: 0.8, ..of("a", "1") };
        assert_eq!(both, [first, of("b", "2")]);
    }

    #[test]
    fn images_and_adapters_belong_together() {
        for words in [&["--ip-adapter", "a"][..], &["--image-prompt", "1"], &["--image-prompt-weight", "1"]] {
            assert!(prompts(words).is_err(), "{words:?}");
        }
    }
}
