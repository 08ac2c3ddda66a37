use super::*;
use crate::checkpoint::{Block, Component, Role};

#[test]
fn names_are_clear() {
    let names = || known_models().iter().flat_map(|model| std::iter::once(&model.id).chain(&model.aliases));
    for name in names() {
        assert_eq!(names().filter(|other| other.eq_ignore_ascii_case(name)).count(), 1, "{name}");
    }
    for name in ["flux.1-dev", "FLUX.1-dev", "flux-dev", "flux1-dev"] {
        assert_eq!(known_model(name).unwrap().id, "flux.1-dev");
    }
    assert_eq!(known_model("sd15").unwrap().id, "sd1.5");
    assert!(known_model("flux.1-dew").is_none());
}

#[test]
fn families_open_their_models_without_files() {
    for known in known_models() {
        let model = known.open().unwrap();
        assert!(Arc::ptr_eq(&model, &known.open().unwrap()), "{} is opened twice", known.id);
        assert!(model.components().all(Component::is_hollow), "{}", known.id);
        let defaults = known.defaults().unwrap();
        let frames = match known.id.as_str() {
            "wan-2.2-5b" => 121,
            id if id.starts_with("ltx-video") => 121,
            id if id.starts_with("wan") => 81,
            _ => 1,
        };
        assert_eq!((defaults.width, defaults.frames), (model.defaults.width, frames), "{}", known.id);
        let prompt = &model.tokenize(&["a fox in the snow"], 512, 0).unwrap()[0];
        assert!(prompt.lengths().iter().all(|length| *length > 4), "{}: {prompt:?}", known.id);
    }
}

#[test]
fn distilled_models_start_from_their_own_steps() {
    for (id, steps, guidance) in [
        ("ltx-video", 50, 3.0),
        ("ltx-video-13b", 30, 3.0),
        ("ltx-video-13b-distilled", 8, 1.0),
        ("ltx-video-2b-distilled", 8, 1.0),
        ("flux.2-klein-4b", 4, 1.0),
        ("flux.2-klein-base-4b", 50, 4.0),
        ("flux.2-klein-9b", 4, 1.0),
        ("krea-2-raw", 28, 4.5),
        ("krea-2-turbo", 8, 0.0),
        ("longcat-image", 50, 4.0),
        ("ernie-image", 50, 4.0),
        ("ernie-image-turbo", 8, 1.0),
        ("lens", 20, 5.0),
        ("lens-turbo", 4, 1.0),
        ("lens-base", 50, 5.0),
        ("longcat-image-edit-turbo", 8, 1.0),
        ("hidream-i1-full", 50, 5.0),
        ("hidream-i1-dev", 28, 0.0),
        ("hidream-i1-fast", 16, 0.0),
    ] {
        let defaults = known_model(id).unwrap().defaults().unwrap();
        assert_eq!((defaults.steps, defaults.guidance), (steps, guidance), "{id}");
    }
}

#[test]
fn weights_of_a_model_without_files_cannot_be_read() {
    let model = known_model("sd1.5").unwrap().open().unwrap();
    let (_, tensor) = &model.parts[0].component.blocks[0].tensors[0];
    let error = tensor.values().unwrap_err();
    assert!(matches!(error, CheckpointError::Hollow { .. }), "{error}");
    assert!(error.to_string().contains("Stable Diffusion 1.5"), "{error}");
    assert!(error.advice().starts_with("Download"), "{}", error.advice());
}

/// Billions, rounded as the authors say them. The exact numbers are checked against diffusers.
#[test]
fn numbers_of_weights_are_those_that_are_published() {
    use Role::{Autoencoder, Denoiser, TextEncoder};
    let published: [(&str, Role, &[f64]); 53] = [
        ("flux.1-dev", TextEncoder, &[0.123, 4.762]),
        ("flux.1-dev", Denoiser, &[11.90]),
        ("flux.1-dev", Autoencoder, &[0.0838]),
        ("flux.1-schnell", Denoiser, &[11.89]),
        ("flux.1-fill-dev", Denoiser, &[11.90]),
        ("flux.2-klein-4b", TextEncoder, &[4.022]),
        ("flux.2-klein-4b", Denoiser, &[3.876]),
        ("flux.2-klein-base-9b", TextEncoder, &[7.568]),
        ("flux.2-klein-9b", Denoiser, &[9.079]),
        ("flux.2-klein-9b", Autoencoder, &[0.08405]),
        ("chroma1-hd", Denoiser, &[8.900]),
        ("longcat-image", Denoiser, &[6.271]),
        ("ernie-image", TextEncoder, &[3.429]),
        ("ernie-image", Denoiser, &[8.033]),
        // 20.91 with the head.
        ("lens", TextEncoder, &[20.91 - 0.5791]),
        ("lens-turbo", Denoiser, &[4.104]),
        ("anima", TextEncoder, &[0.5960, 0.1346]),
        ("anima", Denoiser, &[1.956]),
        ("krea-2-raw", TextEncoder, &[4.022]),
        ("krea-2-turbo", Denoiser, &[12.82]),
        ("qwen-image-2.1", TextEncoder, &[0.5764, 7.568]),
        ("qwen-image-2.1", Denoiser, &[7.115]),
        ("qwen-image-2.1", Autoencoder, &[0.3310]),
        ("hidream-i1-full", TextEncoder, &[0.1238, 0.6949, 4.762, 7.505]),
        ("hidream-i1-dev", Denoiser, &[17.11]),
        ("z-image", TextEncoder, &[4.022]),
        ("z-image", Denoiser, &[6.155]),
        ("sd3-medium", Denoiser, &[2.028 + 0.0566]),
        ("sd3.5-large", TextEncoder, &[0.1237, 0.6947, 4.762]),
        // 8.06 with the table of positions, which is in the files too.
        ("sd3.5-large", Denoiser, &[8.057 + 0.0897]),
        ("sd3.5-medium", Denoiser, &[2.243 + 0.2265]),
        ("wan-2.1-1.3b", TextEncoder, &[5.681]),
        ("wan-2.1-1.3b", Denoiser, &[1.419]),
        ("wan-2.1-14b", Denoiser, &[14.29]),
        ("wan-2.1-14b", Autoencoder, &[0.1269]),
        ("wan-2.1-vace-1.3b", Denoiser, &[2.154]),
        ("wan-2.1-vace-14b", Denoiser, &[17.34]),
        ("wan-2.1-i2v-14b", Denoiser, &[16.39]),
        ("wan-2.1-flf2v-14b", Denoiser, &[16.40]),
        ("wan-2.2-i2v-14b", Denoiser, &[14.29, 14.29]),
        ("wan-2.2-5b", Denoiser, &[5.0]),
        ("wan-2.2-5b", Autoencoder, &[0.7047]),
        ("wan-2.2-14b", Denoiser, &[14.29, 14.29]),
        ("ltx-video", Denoiser, &[1.923]),
        ("ltx-video", TextEncoder, &[4.762]),
        ("ltx-video-2b-distilled", Denoiser, &[1.923]),
        ("ltx-video-13b", Denoiser, &[13.04]),
        ("ltx-video-13b", Autoencoder, &[1.247]),
        ("sdxl", Denoiser, &[2.567]),
        ("sdxl", Autoencoder, &[0.08365]),
        ("sd2.1", Denoiser, &[0.8659]),
        ("sd2.1", TextEncoder, &[0.3404]),
        ("sd1.5", Denoiser, &[0.8595]),
    ];
    for (id, role, billions) in published {
        let model = known_model(id).unwrap().open().unwrap();
        let components = model.components().filter(|component| component.role == role);
        let found: Vec<u64> =
            components.map(|component| component.blocks.iter().map(Block::parameters).sum()).collect();
        assert_eq!(found.len(), billions.len(), "{id}");
        for (found, billions) in found.into_iter().zip(billions) {
            assert!((found as f64 / 1e9 / billions - 1.0).abs() < 1e-3, "{id} {role}: {found}");
        }
    }
}
