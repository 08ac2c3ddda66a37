//! The files that a request names.

use std::path::{Path, PathBuf};

use super::{Area, Control, Enlarger, Hires, ModelSource, Request, SourceImage};

/// What a file is to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// A model, or a part of one.
    Model,
    /// A LoRA or another adapter.
    Adapter,
    /// An image, a mask or a clip.
    Input,
}

impl Request {
    /// Every file that it names.
    pub fn files_mut(&mut self) -> Vec<(FileRole, &mut PathBuf)> {
        let mut models = Vec::new();
        if let ModelSource::Path(path) = &mut self.model {
            models.push(path);
        }
        models.extend(self.estimators.values_mut());
        models.extend(self.smooth.as_mut().map(|smooth| &mut smooth.model));
        models.extend(self.refiner.as_mut().map(|refiner| &mut refiner.path));
        models.extend(self.detailers.iter_mut().map(|detailer| &mut detailer.model));
        models.extend(self.redux.as_mut().map(|redux| &mut redux.path));
        if let Some(Hires { enlarger: Enlarger::Upscaler(ModelSource::Path(path)), .. }) = &mut self.hires {
            models.push(path);
        }
        let mut inputs = Vec::new();
        if let Some(SourceImage { path, mask, .. }) = &mut self.source {
            inputs.push(path);
            inputs.extend(mask.as_mut().map(|mask| &mut mask.path));
        }
        inputs.extend(&mut self.last_image);
        inputs.extend(self.keyframes.iter_mut().map(|keyframe| &mut keyframe.path));
        inputs.extend(self.clip.as_mut().map(|clip| &mut clip.path));
        inputs.extend(&mut self.references);
        if let Some(Control { video, mask, .. }) = &mut self.control {
            inputs.extend(video.iter_mut().chain(mask));
        }
        for net in &mut self.control_nets {
            models.push(&mut net.model);
            inputs.extend(Some(&mut net.image).filter(|image| !image.as_os_str().is_empty()));
        }
        for region in &mut self.regions.all {
            if let Area::Mask(path) = &mut region.area {
                inputs.push(path);
            }
        }
        for prompt in &mut self.image_prompts {
            models.push(&mut prompt.adapter);
            inputs.extend(&mut prompt.images);
        }
        inputs.extend(self.map_of.as_mut().map(|map| &mut map.image));
        inputs.extend(&mut self.detail_of);
        inputs.extend(self.mask_of.as_mut().map(|mask| &mut mask.image));
        inputs.extend(self.describe.iter_mut().flat_map(|describe| &mut describe.images));
        inputs.extend(self.upscale.as_mut().map(|upscale| &mut upscale.path));
        inputs.extend(self.interpolate.as_mut().map(|interpolate| &mut interpolate.path));
        let models = models.into_iter().map(|path| (FileRole::Model, path));
        let inputs = inputs.into_iter().map(|path| (FileRole::Input, path));
        let adapters = self.adapters.iter_mut().map(|adapter| (FileRole::Adapter, &mut adapter.path));
        models.chain(inputs).chain(adapters).collect()
    }
}

/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;
/// The longest label in bytes.
const LONGEST_LABEL: usize = 120;
/// What a label may contain besides letters and digits.
const SIGNS: &str = " ._-()+,&";

/// The name under which an engine elsewhere keeps a file: its SHA-256 and a label. The label tells people and the engine
/// what the file was called, since the names of LoRAs mean something; it is no path anywhere.
pub fn sent_name(sha256: &str, path: &Path) -> String {
    let allowed = |text: &str| -> String {
        text.chars().map(|letter| if is_allowed(letter) { letter } else { '_' }).collect()
    };
    let part = |part: Option<&std::ffi::OsStr>| allowed(&part.unwrap_or_default().to_string_lossy());
    let (mut stem, mut end) = (part(path.file_stem()), part(path.extension()));
    if !end.is_empty() && end.len() <= LONGEST_LABEL / 4 {
        end.insert(0, '.');
    } else {
        end.clear();
    }
    while stem.len() + end.len() > LONGEST_LABEL {
        stem.pop();
    }
    let name = format!("{sha256}-{stem}{end}");
    name.trim_end_matches([' ', '.', '-']).to_owned()
}

/// Whether a name is one that [`sent_name`] gives: a single component of a path on every system.
pub fn is_sent_name(name: &str) -> bool {
    let Some((hash, rest)) = name.split_at_checked(DIGITS) else { return false };
    let is_label = match rest.strip_prefix('-') {
        Some(label) => {
            (1..=LONGEST_LABEL).contains(&label.len())
                && label.chars().all(is_allowed)
                && !label.ends_with([' ', '.'])
        }
        None => rest.is_empty(),
    };
    is_sha256(hash) && is_label
}

/// Whether a text is a SHA-256 in lowercase hexadecimal digits.
pub fn is_sha256(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// What a file was called before it was sent, or its name.
pub fn label_of(name: &str) -> &str {
    match name.split_at_checked(DIGITS) {
        Some((hash, rest)) if is_sha256(hash) => rest.strip_prefix('-').unwrap_or(name),
        _ => name,
    }
}

fn is_allowed(letter: char) -> bool {
    letter.is_alphanumeric() || SIGNS.contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{AdapterUse, ControlNet, ImagePrompt, SourceMask};

    #[test]
    fn models_inputs_and_adapters_are_told_apart() {
        let mask = SourceMask { path: "mask.png".into(), ..SourceMask::default() };
        let net = ControlNet { model: "net".into(), image: "pose.png".into(), ..ControlNet::default() };
        let images = vec!["style.png".into(), "face.png".into()];
        let prompt = ImagePrompt { adapter: "ip".into(), images, ..ImagePrompt::default() };
        let mut request = Request {
            model: ModelSource::Path("model".into()),
            source: Some(SourceImage { path: "fox.png".into(), mask: Some(mask), ..SourceImage::default() }),
            references: vec!["hat.png".into()],
            control_nets: vec![net],
            image_prompts: vec![prompt],
            adapters: vec![AdapterUse { path: "ink".into(), weight: 1.0 }],
            ..Request::default()
        };
        let of = |files: &[(FileRole, &mut PathBuf)], role| -> Vec<String> {
            let own = files.iter().filter(|(own, _)| *own == role);
            own.map(|(_, path)| path.display().to_string()).collect()
        };
        let files = request.files_mut();
        assert_eq!(of(&files, FileRole::Model), ["model", "net", "ip"]);
        let inputs = ["fox.png", "mask.png", "hat.png", "pose.png", "style.png", "face.png"];
        assert_eq!(of(&files, FileRole::Input), inputs);
        assert_eq!(of(&files, FileRole::Adapter), ["ink"]);
    }

    #[test]
    fn names_of_sent_files_are_single_components() {
        let hash = "0123456789abcdef".repeat(4);
        for (path, label) in [
            ("/home/ada/fox in snow.png", "-fox in snow.png"),
            ("wan_high_noise.safetensors", "-wan_high_noise.safetensors"),
            ("c|d?.png", "-c_d_.png"),
            ("狐.png", "-狐.png"),
            ("", ""),
            ("...", "-.."),
        ] {
            let name = sent_name(&hash, Path::new(path));
            let expected = format!("{hash}{label}");
            assert_eq!(name, expected.trim_end_matches('.').trim_end_matches('-'), "{path}");
            assert!(is_sent_name(&name), "{name}");
        }
        let long = sent_name(&hash, Path::new(&format!("{}.safetensors", "ß".repeat(500))));
        assert!(is_sent_name(&long) && long.ends_with(".safetensors"), "{long}");
        assert_eq!(label_of(&format!("{hash}-ink")), "ink");
        assert_eq!(label_of("ink"), "ink");
    }

    #[test]
    fn what_is_no_name_of_a_sent_file_is_refused() {
        let hash = "0123456789abcdef".repeat(4);
        for name in [
            String::new(),
            "fox.png".to_owned(),
            hash.to_uppercase(),
            hash[1..].to_owned(),
            format!("{hash}/../../x"),
            format!("{hash}-../x"),
            format!("{hash}-a/b"),
            format!("{hash}-a\\b"),
            format!("{hash}-a:b"),
            format!("{hash}-a\0"),
            format!("{hash}-a."),
            format!("{hash}-"),
            format!("../{hash}"),
            format!("{hash}-{}", "a".repeat(LONGEST_LABEL + 1)),
        ] {
            assert!(!is_sent_name(&name), "{name}");
        }
    }
}
