//! Infers how a network was trained from files without a scheduler configuration.

use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part},
    models::FAMILIES,
    sampling::{Discrete, PredictionType},
};

/// A tensor in files of networks that predict v, as in ComfyUI.
const GIVES_V: &str = "v_pred";
/// A tensor in files of networks whose noise levels end with pure noise.
const UP_TO_NOISE: &str = "ztsnr";
/// Tensors in files of networks that were trained on EDM's noise levels (Karras et al. 2022,
/// arXiv:2206.00364), which are not a table: Playground 2.5 and CosXL.
const NO_TABLE: [&str; 2] = ["edm_mean", "edm_vpred.sigma_max"];
/// Prefix of the names of such networks' schedulers in diffusers.
const NO_TABLE_SCHEDULER: &str = "EDM";
/// The metadata key of kohya's scripts, after Stability AI's specification.
const NOTE: &str = "modelspec.prediction_type";
/// The name of that setting in the original authors' configuration.
const SETTING: &str = "parameterization";

/// The noise levels of a network, from the settings next to its file, then from marker tensors in the file,
/// then from metadata in its header. `otherwise` gives the prediction type if none of these has it.
pub fn trained(
    denoiser: &Part,
    otherwise: impl FnOnce() -> Result<PredictionType, CheckpointError>,
) -> Result<Discrete, CheckpointError> {
    let prediction = match configured(denoiser)? {
        Some(prediction) => prediction,
        None => otherwise()?,
    };
    Ok(if denoiser.is_marked(UP_TO_NOISE) {
        Discrete::up_to_noise(prediction)
    } else {
        Discrete::stable_diffusion(prediction)
    })
}

fn configured(denoiser: &Part) -> Result<Option<PredictionType>, CheckpointError> {
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

/// Rejects networks that were trained on noise levels that are not a table.
pub fn has_table(checkpoint: &Checkpoint, denoiser: &Part) -> Result<(), CheckpointError> {
    let mut is_other = NO_TABLE.iter().any(|mark| denoiser.is_marked(mark));
    if let Some(config) = &checkpoint.scheduler {
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
