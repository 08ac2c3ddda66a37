//! Hires fix in the format of A1111's web UI.

use std::path::Path;

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
/// What may differ in the second pass of other programs, and is the same here.
const OTHERS: [&str; 5] =
    ["Hires prompt", "Hires negative prompt", "Hires sampler", "Hires schedule type", "Hires checkpoint"];

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

/// Sets how an image was enlarged and denoised again, if it was. Returns what cannot be restored, one sentence each.
pub(super) fn restore(request: &mut Request, pairs: &[(String, String)]) -> Vec<String> {
    let value = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let scale = value(SCALE).and_then(|scale| scale.parse().ok());
    let resized = || {
        let (width, height) = value(RESIZE)?.split_once('x')?;
        let by = |to: &str, from: u32| Some(to.trim().parse::<f32>().ok()? / from.max(1) as f32);
        Some(by(width, request.width)?.max(by(height, request.height)?))
    };
    let Some(scale) = scale.or_else(resized) else { return Vec::new() };
    let mut notes = Vec::new();
    if !SCALES.contains(&scale) {
        return vec![format!(
            "It was enlarged {scale} times and denoised again, which is not possible here."
        )];
    }
    let usual = Hires::default();
    let strength = value(STRENGTH).and_then(|strength| strength.parse().ok());
    let steps = value(STEPS).and_then(|steps| steps.parse().ok()).filter(|steps| *steps > 0);
    let enlarger = match value(UPSCALER) {
        Some(LATENT) => Enlarger::Latent,
        Some(name) if name.starts_with(LATENT) => {
            notes.push(format!("The upscaler “{name}” is not available; {LATENT} is used instead."));
            Enlarger::Latent
        }
        Some(name) if name != own_upscaler() => {
            notes.push(format!("The upscaler “{name}” is not restored; the one of Sluice is used instead."));
            usual.enlarger.clone()
        }
        _ => usual.enlarger.clone(),
    };
    for name in OTHERS.into_iter().filter(|name| value(name).is_some()) {
        notes.push(format!("{name} is not restored; the second pass uses that of the first."));
    }
    request.hires = Some(Hires { scale, strength: strength.unwrap_or(usual.strength), steps, enlarger });
    notes
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
        let notes = restore(&mut request, &pairs);
        (request.hires, notes)
    }

    #[test]
    fn what_the_web_ui_writes_is_restored() {
        let (hires, notes) = read(
            "Denoising strength: 0.7, Hires upscale: 1.5, Hires steps: 12, Hires upscaler: Latent, Version: v1.10.1",
        );
        let expected = Hires { scale: 1.5, strength: 0.7, steps: Some(12), enlarger: Enlarger::Latent };
        assert_eq!((hires, notes), (Some(expected), Vec::new()));
        let (hires, notes) = read("Hires resize: 1024x0, Hires upscaler: R-ESRGAN 4x+, Hires prompt: more");
        assert_eq!(hires, Some(Hires::default()));
        assert_eq!(
            notes,
            [
                "The upscaler “R-ESRGAN 4x+” is not restored; the one of Sluice is used instead.",
                "Hires prompt is not restored; the second pass uses that of the first.",
            ]
        );
        let (hires, notes) = read("Hires upscale: 2, Hires upscaler: Latent (bicubic)");
        assert_eq!(hires.map(|hires| hires.enlarger), Some(Enlarger::Latent));
        assert_eq!(notes, ["The upscaler “Latent (bicubic)” is not available; Latent is used instead."]);
        let (hires, notes) = read("Hires upscale: 8, Hires upscaler: Latent");
        assert_eq!((hires, notes.len()), (None, 1));
        assert_eq!(read("Denoising strength: 0.7"), (None, Vec::new()));
    }
}
