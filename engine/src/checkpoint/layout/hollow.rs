//! Diffusers folders that are on no disk: configurations, and the names and shapes of tensors.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use serde_json::Value;

use super::{Checkpoint, Part, components::plain, diffusers::FOLDERS};
use crate::{
    checkpoint::{StoredTensor, weight_file::WeightFile},
    precision::Format,
};

/// The contents of a diffusers folder, without the values of its weights.
#[derive(Debug, Clone)]
pub struct HollowFolder {
    /// What the model is called.
    pub name: String,
    /// `model_index.json`.
    pub index: Value,
    /// `scheduler_config.json`.
    pub scheduler: Value,
    /// The components by their folders, such as `text_encoder_2`.
    pub parts: BTreeMap<String, HollowPart>,
}

/// The contents of a component's folder.
#[derive(Debug, Clone)]
pub struct HollowPart {
    /// `config.json`.
    pub config: Value,
    /// Its tensors as in published files.
    pub tensors: Vec<HollowTensor>,
}

/// Name, shape and format of a tensor.
pub type HollowTensor = (String, Vec<usize>, Format);

impl Checkpoint {
    /// A checkpoint without files: families open it as they open a diffusers folder. Its tensors have shapes, a dtype
    /// and bytes. Reading them fails with [`Hollow`](crate::checkpoint::CheckpointError::Hollow).
    pub fn hollow(folder: HollowFolder) -> Self {
        let HollowFolder { name, index, scheduler, mut parts } = folder;
        let root = Path::new(&name);
        let mut checkpoint = Self { scheduler: Some(scheduler), ..Self::of_index(root, index) };
        for (role, names) in FOLDERS {
            for name in names {
                let Some(HollowPart { config, tensors }) = parts.remove(*name) else { continue };
                let path = root.join(name);
                let file = Arc::new(WeightFile::hollow(path.clone()));
                let mut end = 0;
                let stored = tensors.into_iter().map(|(name, shape, format)| {
                    let start = end;
                    end += format.bytes(shape.iter().product()) as u64;
                    (name, StoredTensor::new(&file, Ok(format.into()), shape, start..end))
                });
                let tensors = plain(role, stored.collect());
                let (config, loose) = (Some(config), Arc::default());
                checkpoint.parts.push(Part { role, path, config, tensors, loose });
            }
        }
        checkpoint
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checkpoint::{CheckpointError, Role};

    #[test]
    fn hollow_tensors_have_bytes_and_no_values() {
        let tensor = |name: &str, shape: &[usize], format| (name.to_owned(), shape.to_vec(), format);
        let tensors = vec![tensor("a", &[2, 3], Format::Bf16), tensor("b", &[64], Format::Mxfp4)];
        let part = HollowPart { config: json!({}), tensors };
        let checkpoint = Checkpoint::hollow(HollowFolder {
            name: "Model".to_owned(),
            index: json!({ "_class_name": "Pipeline" }),
            scheduler: json!({}),
            parts: BTreeMap::from([("vae".to_owned(), part.clone()), ("unet".to_owned(), part)]),
        });
        assert_eq!(checkpoint.kind.as_deref(), Some("Pipeline"));
        let roles: Vec<Role> = checkpoint.parts.iter().map(|part| part.role).collect();
        assert_eq!(roles, [Role::Denoiser, Role::Autoencoder]);
        let part = &checkpoint.parts[0];
        assert!(part.is_hollow() && part.note("a").is_ok_and(|note| note.is_none()));
        let [first, second] = ["a", "b"].map(|name| &part.tensors[name]);
        assert_eq!((first.stored_bytes(), second.stored_bytes()), (12, 34));
        assert_ne!(first.identity(), second.identity());
        let error = first.values().unwrap_err();
        assert!(matches!(error, CheckpointError::Hollow { .. }), "{error}");
        assert!(error.to_string().contains("not on this machine"), "{error}");
    }
}
