//! Hires fix in the format of A1111's web UI.

use std::path::Path;

use super::elsewhere::parts;
use crate::{
    checkpoint::upscaler_file,
    request::{Enlarger, Hires, ModelSource, Request, SCALES},
};

const SCALE: &str = "Hires upscale";
const RESIZE: &str = "Hires resize";
const STEPS: &str = "Hires steps";
const UPSCALER: &str = "Hires upscaler";
/// The web UI has one name for that of the second pass and that of image to image.
pub(super) const STRENGTH: &str = "Denoising strength";
const LATENT: &str = "Latent";
/// SD.Next has a name of its own.
const OWN_STRENGTH: &str = "Hires strength";
/// What the names of all of them begin with. Anything else may differ in the second pass of other programs, and is the same here.
pub(super) const PREFIX: &str = "Hires ";
const OWN: [&str; 5] = [SCALE, RESIZE, STEPS, UPSCALER, OWN_STRENGTH];
/// What Forge says of what does not differ: `Use same choices`.
const SAME: &str = "Use same";

/// The name of the upscaler that comes with the program.
fn own_upscaler() -> String {
    upscaler_file().map(|path| stem(&path)).unwrap_or_default()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// How an image was enlarged and denoised again.
pub(super) fn pairs(request: &Request) -> Vec<(&'static str, String)> {
    let Some(Hires { scale, strength, steps, enlarger }) = &request.hires else { return Vec::new() };
    let name = match enlarger {
        Enlarger::Latent => LATENT.to_owned(),
        Enlarger::Upscaler(ModelSource::Path(path)) => stem(path),
        Enlarger::Upscaler(_) => own_upscaler(),
    };
    let mut pairs = vec![(STRENGTH, strength.to_string()), (SCALE, scale.to_string())];
    pairs.extend(steps.map(|steps| (STEPS, steps.to_string())));
    pairs.push((UPSCALER, name));
    pairs
}

/// Sets how an image was enlarged and denoised again, if it was. Returns the names of what is not taken over.
pub(super) fn restore(
    request: &mut Request,
    notes: &mut Vec<String>,
    pairs: &[(String, String)],
) -> Vec<String> {
    let value = |wanted: &str| {
        let found = pairs.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.as_str())
    };
    let others: Vec<String> = pairs
        .iter()
        .filter(|(name, _)| name.starts_with(PREFIX) && !OWN.contains(&name.as_str()))
        // What is the same in both passes.
        .filter(|(name, text)| !text.starts_with(SAME) && value(&name[PREFIX.len()..]) != Some(text.as_str()))
        .map(|(name, _)| name.clone())
        .collect();
    let scale = value(SCALE).and_then(|scale| scale.parse().ok());
    let resized = || {
        let (width, height) = value(RESIZE)?.split_once('x')?;
        let by = |to: &str, from: u32| Some(to.trim().parse::<f32>().ok()? / from.max(1) as f32);
        Some(by(width, request.width)?.max(by(height, request.height)?))
    };
    let Some(scale) = scale.or_else(resized) else { return others };
    if !SCALES.contains(&scale) {
        notes.push(format!("It was enlarged {scale} times and denoised again, which is not possible here."));
        return others;
    }
    let usual = Hires::default();
    let strength = value(STRENGTH).or_else(|| value(OWN_STRENGTH)).and_then(|strength| strength.parse().ok());
    let steps = value(STEPS).and_then(|steps| steps.parse().ok()).filter(|steps| *steps > 0);
    let enlarger = match value(UPSCALER) {
        Some(LATENT) => Enlarger::Latent,
        Some(name) if name.starts_with(LATENT) => {
            notes.push(format!("The upscaler “{name}” is not available; {LATENT} is used instead."));
            Enlarger::Latent
        }
        Some(name) => parts::enlarger(name).unwrap_or_else(|| {
            notes.push(format!("The upscaler “{name}” is not restored; the one of Sluice is used instead."));
            usual.enlarger.clone()
        }),
        None => usual.enlarger.clone(),
    };
    for name in others {
        notes.push(format!("{name} is not restored; the second pass uses that of the first."));
    }
    request.hires = Some(Hires { scale, strength: strength.unwrap_or(usual.strength), steps, enlarger });
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Hires>, Vec<String>) {
        let pairs: Vec<(String, String)> = text
            .split(", ")
            .filter_map(|pair| pair.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut request = Request { width: 512, height: 768, ..Request::default() };
        let mut notes = Vec::new();
        let left = restore(&mut request, &mut notes, &pairs);
        notes.extend(left.into_iter().map(|name| format!("left: {name}")));
        (request.hires, notes)
    }

    fn by(name: &str) -> Enlarger {
        Enlarger::Upscaler(ModelSource::Path(name.into()))
    }

    #[test]
    fn what_the_web_ui_writes_is_restored() {
        let (hires, notes) = read(
            "Denoising strength: 0.7, Hires upscale: 1.5, Hires steps: 12, Hires upscaler: Latent, Version: v1.10.1",
        );
        let expected = Hires { scale: 1.5, strength: 0.7, steps: Some(12), enlarger: Enlarger::Latent };
        assert_eq!((hires, notes), (Some(expected), Vec::new()));
        let (hires, notes) = read("Hires resize: 1024x0, Hires upscaler: R-ESRGAN 4x+, Hires prompt: more");
        assert_eq!(hires, Some(Hires { enlarger: by("RealESRGAN_x4plus"), ..Hires::default() }));
        assert_eq!(notes, ["Hires prompt is not restored; the second pass uses that of the first."]);
        let (hires, notes) = read("Hires upscale: 2, Hires upscaler: Latent (bicubic)");
        assert_eq!(hires.map(|hires| hires.enlarger), Some(Enlarger::Latent));
        assert_eq!(notes, ["The upscaler “Latent (bicubic)” is not available; Latent is used instead."]);
        let (hires, notes) = read("Hires upscale: 2, Hires upscaler: Lanczos");
        assert_eq!(hires, Some(Hires::default()));
        assert_eq!(notes, ["The upscaler “Lanczos” is not restored; the one of Sluice is used instead."]);
        let (hires, notes) = read("Hires upscale: 8, Hires upscaler: Latent");
        assert_eq!((hires, notes.len()), (None, 1));
        assert_eq!(read("Denoising strength: 0.7"), (None, Vec::new()));
    }

    #[test]
    fn what_differs_in_the_second_pass_is_said_and_what_is_the_same_is_not() {
        let (hires, notes) = read(
            "Sampler: Euler, CFG scale: 7, Hires Module 1: Use same choices, Hires CFG Scale: 7, \
             Hires sampler: Euler, Hires schedule type: Karras, Hires upscale: 2, Hires strength: 0.3, \
             Hires upscaler: 4x-UltraSharp",
        );
        assert_eq!(hires, Some(Hires { strength: 0.3, enlarger: by("4x-UltraSharp"), ..Hires::default() }));
        assert_eq!(notes, ["Hires schedule type is not restored; the second pass uses that of the first."]);
        let (hires, notes) = read("Hires Module 1: Use same choices, Hires CFG Scale: 5");
        assert_eq!((hires, notes), (None, vec!["left: Hires CFG Scale".to_owned()]));
    }
}
