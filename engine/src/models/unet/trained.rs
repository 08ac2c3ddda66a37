//! What files without a scheduler's configuration say about the noise that a network was trained with.

use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part, read_json},
    models::{FAMILIES, scheduler::scheduler_file},
    sampling::{Discrete, PredictionType},
};

/// A tensor that is there in files of networks that give v, as ComfyUI reads them.
const GIVES_V: &str = "v_pred";
/// The same of networks whose noise levels end with noise alone.
const UP_TO_NOISE: &str = "ztsnr";
/// The same of networks that were trained on the levels of EDM (Karras et al. 2022, arXiv:2206.00364), which are no
/// table: Playground 2.5 and CosXL.
const NO_TABLE: [&str; 2] = ["edm_mean", "edm_vpred.sigma_max"];
/// What names of schedulers of such networks begin with in diffusers.
const NO_TABLE_SCHEDULER: &str = "EDM";
/// What kohya's scripts note in a header, after Stability AI's specification.
const NOTE: &str = "modelspec.prediction_type";
/// What the original authors' settings call it.
const SETTING: &str = "parameterization";

/// The noise levels of a network by what a person says beside its file, then by marks in the file, then by notes in its
/// header; `otherwise` says what the network gives where nothing of this does.
pub fn trained(
    denoiser: &Part,
    otherwise: impl FnOnce() -> Result<PredictionType, CheckpointError>,
) -> Result<Discrete, CheckpointError> {
    let prediction = match told(denoiser)? {
        Some(prediction) => prediction,
        None => otherwise()?,
    };
    Ok(if denoiser.is_marked(UP_TO_NOISE) {
        Discrete::up_to_noise(prediction)
    } else {
        Discrete::stable_diffusion(prediction)
    })
}

fn told(denoiser: &Part) -> Result<Option<PredictionType>, CheckpointError> {
    if let Some(value) = denoiser.setting(SETTING)? {
        return match value.as_str() {
            "eps" => Ok(Some(PredictionType::Epsilon)),
            "v" => Ok(Some(PredictionType::VPrediction)),
            _ => Err(CheckpointError::Config {
                path: denoiser.path.with_extension("yaml"),
                field: SETTING,
                value,
                reason: "only eps and v are supported".to_owned(),
            }),
        };
    }
    if denoiser.is_marked(GIVES_V) {
        return Ok(Some(PredictionType::VPrediction));
    }
    Ok(match denoiser.note(NOTE)?.as_deref() {
        Some("epsilon") => Some(PredictionType::Epsilon),
        Some("v") => Some(PredictionType::VPrediction),
        _ => None,
    })
}

/// Refuses networks that were trained on noise levels that are no table.
pub fn has_table(checkpoint: &Checkpoint, denoiser: &Part) -> Result<(), CheckpointError> {
    let mut is_other = NO_TABLE.iter().any(|mark| denoiser.is_marked(mark));
    if let Some(scheduler) = scheduler_file(checkpoint) {
        let config: serde_json::Value = read_json(&scheduler)?;
        let class = config.get("_class_name").and_then(serde_json::Value::as_str);
        is_other |= class.is_some_and(|class| class.starts_with(NO_TABLE_SCHEDULER));
    }
    if !is_other {
        return Ok(());
    }
    Err(CheckpointError::UnknownFamily {
        path: checkpoint.path.clone(),
        kind: Some("trained for EDM noise levels, like Playground 2.5 and CosXL".to_owned()),
        known: FAMILIES.iter().map(|family| family.name()).collect(),
    })
}
