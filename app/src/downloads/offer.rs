//! What a link leads to: the files that can be downloaded from there.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::Value;

use super::{
    DownloadError, Link, LinkError, Network, Source, Stop, Wanted,
    catalogue::catalogue,
    client::{CIVITAI, Client, is_sha256},
    file::safe_path,
    hub::{self, About, HubFile},
    link::has_weights,
};

/// The folder for repositories in the layout of diffusers.
const FOLDERS: &str = "diffusers";
/// Folders of a repository that no model needs.
const NOT_NEEDED: [&str; 2] = ["safety_checker", "feature_extractor"];
/// The largest description in a folder.
const LARGEST_DESCRIPTION: u64 = 64 << 20;

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The name of the repository or model.
    pub title: String,
    /// Its page.
    pub page: Option<String>,
    /// The licence that it names.
    pub licence: Option<String>,
    /// Whether conditions have to be accepted first.
    pub is_gated: bool,
    /// What can be downloaded: a whole folder first, if it is one.
    pub choices: Vec<Choice>,
}

/// Files that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// Its files.
    pub files: Vec<Wanted>,
    /// The folder that opens as a model, if it is one, inside the folder of downloads.
    pub folder: Option<PathBuf>,
}

impl Choice {
    /// Its size in bytes, if all sizes are known.
    pub fn bytes(&self) -> Option<u64> {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Finds out what a link leads to.
///
/// # Errors
/// If the server does not answer, or there are no weights.
pub fn look_up(network: &Network, stop: &Stop, link: &Link) -> Result<Offer, DownloadError> {
    match link {
        Link::HubFile { repository, revision, path } => {
            let files = hub::files(network, stop, repository, revision)?;
            // Of weights in several files, all belong together.
            let (whole, _) = pieces(path);
            let choices = single_files(repository, revision, &files);
            let choices: Vec<Choice> = choices.into_iter().filter(|choice| choice.name == whole).collect();
            if choices.is_empty() {
                let (what, host) = (format!("{path} of {repository}"), network.host().to_owned());
                return Err(DownloadError::NotFound { what, host });
            }
            let about = hub::about(network, stop, repository)?;
            Ok(offer(repository, about, choices))
        }
        Link::Hub { repository, revision, folder } => {
            let mut files = hub::files(network, stop, repository, revision)?;
            if let Some(folder) = folder {
                files.retain(|file| file.path.starts_with(&format!("{folder}/")));
            }
            let mut choices = Vec::new();
            if folder.is_none()
                && let Some(mut whole) = whole_folder(repository, revision, &files)
            {
                if let Some(other) = catalogue().other_half(repository) {
                    let files = hub::files(network, stop, other, "main")?;
                    whole
                        .files
                        .extend(whole_folder(other, "main", &files).into_iter().flat_map(|half| half.files));
                }
                choices.push(whole);
            }
            let is_folder = !choices.is_empty();
            // Beside a folder, its parts are no models by themselves.
            let singles = single_files(repository, revision, &files);
            choices.extend(singles.into_iter().filter(|choice| !is_folder || !choice.name.contains('/')));
            if choices.is_empty() {
                return Err(LinkError::NoWeights(repository.clone()).into());
            }
            Ok(offer(repository, hub::about(network, stop, repository)?, choices))
        }
        Link::CivitaiModel(model) => {
            let value = civitai(network, stop, &format!("models/{model}"), &format!("model {model}"))?;
            let version = value.get("modelVersions").and_then(|versions| versions.get(0)).cloned();
            civitai_offer(&value, &version.unwrap_or_default(), *model)
        }
        Link::CivitaiVersion(version) => {
            let value =
                civitai(network, stop, &format!("model-versions/{version}"), &format!("version {version}"))?;
            let model = value.get("model").cloned().unwrap_or_default();
            let number = value.get("modelId").and_then(Value::as_u64).unwrap_or_default();
            civitai_offer(&model, &value, number)
        }
        Link::File(address) => {
            let path = address.split('?').next().unwrap_or(address);
            let name = path.rsplit('/').next().unwrap_or(path);
            let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned();
            let file = Wanted {
                source: Source::Address(address.clone()),
                to: safe_path(&name),
                sorts: true,
                bytes: None,
                sha256: None,
            };
            let choices = vec![Choice { name: name.clone(), files: vec![file], folder: None }];
            Ok(Offer { title: name, page: None, licence: None, is_gated: false, choices })
        }
    }
}

impl Offer {
    /// The choice that needs no question: a whole folder, or the only one.
    ///
    /// # Errors
    /// If there are several files.
    pub fn only(&self) -> Result<&Choice, LinkError> {
        match self.choices.as_slice() {
            [first] => Ok(first),
            [first, ..] if first.folder.is_some() => Ok(first),
            [] => Err(LinkError::NoWeights(self.title.clone())),
            several => Err(LinkError::Several {
                repository: self.title.clone(),
                files: several.iter().map(|choice| choice.name.clone()).collect(),
            }),
        }
    }
}

fn offer(repository: &str, about: About, choices: Vec<Choice>) -> Offer {
    let About { is_gated, licence } = about;
    Offer { title: repository.to_owned(), page: Some(hub::page(repository)), licence, is_gated, choices }
}

fn wanted(repository: &str, revision: &str, file: &HubFile, to: PathBuf, sorts: bool) -> Wanted {
    let source = Source::Hub {
        repository: repository.to_owned(),
        revision: revision.to_owned(),
        path: file.path.clone(),
    };
    Wanted { source, to, sorts, bytes: file.bytes, sha256: file.sha256.clone() }
}

/// Every file with weights by itself; those in several pieces together.
fn single_files(repository: &str, revision: &str, files: &[HubFile]) -> Vec<Choice> {
    let mut groups: BTreeMap<String, Vec<&HubFile>> = BTreeMap::new();
    for file in files.iter().filter(|file| has_weights(&file.path)) {
        let (whole, _) = pieces(&file.path);
        groups.entry(whole).or_default().push(file);
    }
    let choice = |(name, files): (String, Vec<&HubFile>)| {
        let is_one = files.len() == 1;
        let files = files.into_iter().map(|file| {
            let own = file.path.rsplit('/').next().unwrap_or(&file.path);
            // Pieces stay together in one folder.
            let to = match is_one {
                true => safe_path(own),
                false => safe_path(&format!("diffusion_models/{own}")),
            };
            wanted(repository, revision, file, to, is_one)
        });
        Choice { files: files.collect(), name, folder: None }
    };
    groups.into_iter().map(choice).collect()
}

/// A name without the number of a piece, and whether it had one: `a-00001-of-00003.gguf`.
fn pieces(path: &str) -> (String, bool) {
    let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    let is_number = |text: &str| text.len() >= 5 && text.bytes().all(|letter| letter.is_ascii_digit());
    let cut = || {
        let (stem, count) = stem.rsplit_once("-of-")?;
        let (stem, number) = stem.rsplit_once('-')?;
        (is_number(count) && is_number(number)).then(|| format!("{stem}.{ending}"))
    };
    match cut() {
        Some(whole) => (whole, true),
        None => (path.to_owned(), false),
    }
}

/// The variant in a name, such as `fp16` in `model.fp16.safetensors`.
fn variant(name: &str) -> Option<String> {
    let (whole, _) = pieces(name);
    let stem = whole.rsplit_once('.')?.0.to_owned();
    Some(stem.rsplit_once('.')?.1.to_owned())
}

/// A repository in the layout of diffusers, as one choice: of each part's weights those in 16 bits, if there are several.
fn whole_folder(repository: &str, revision: &str, files: &[HubFile]) -> Option<Choice> {
    const INDEX: [&str; 2] = ["model_index.json", "modular_model_index.json"];
    if !files.iter().any(|file| INDEX.contains(&file.path.as_str())) {
        return None;
    }
    let name = repository.rsplit('/').next().unwrap_or(repository);
    let folder = PathBuf::from(FOLDERS).join(safe_path(name));
    let mut parts: BTreeMap<&str, Vec<&HubFile>> = BTreeMap::new();
    let mut kept: Vec<&HubFile> = Vec::new();
    for file in files {
        match file.path.split_once('/') {
            None if INDEX.contains(&file.path.as_str()) => kept.push(file),
            Some((part, inside)) if !inside.contains('/') && !NOT_NEEDED.contains(&part) => {
                if inside.ends_with(".safetensors") {
                    parts.entry(part).or_default().push(file);
                } else if is_description(inside)
                    && file.bytes.is_none_or(|bytes| bytes <= LARGEST_DESCRIPTION)
                {
                    kept.push(file);
                }
            }
            _ => {}
        }
    }
    for files in parts.into_values() {
        let of = |wanted: Option<&str>| -> Vec<&HubFile> {
            files.iter().copied().filter(|file| variant(&file.path).as_deref() == wanted).collect()
        };
        let first = files.first().and_then(|file| variant(&file.path));
        let choices = [of(Some("fp16")), of(Some("bf16")), of(None), of(first.as_deref())];
        kept.extend(choices.into_iter().find(|files| !files.is_empty()).unwrap_or_default());
    }
    kept.sort_by(|one, other| one.path.cmp(&other.path));
    let has_weights = kept.iter().any(|file| file.path.ends_with(".safetensors"));
    let files = kept
        .into_iter()
        .map(|file| wanted(repository, revision, file, folder.join(safe_path(&file.path)), false));
    has_weights.then(|| Choice {
        name: "Whole folder".to_owned(),
        files: files.collect(),
        folder: Some(folder.clone()),
    })
}

/// Configurations and tokenizers.
fn is_description(name: &str) -> bool {
    [".json", ".txt", ".model", ".jinja"].iter().any(|ending| name.ends_with(ending))
}

fn civitai(network: &Network, stop: &Stop, path: &str, what: &str) -> Result<Value, DownloadError> {
    let client = Client::new(network, stop)?;
    let address = format!("{}/api/v1/{path}", network.civitai);
    let mut pages = client.json(&address, (&format!("{what} on Civitai"), None))?;
    Ok(pages.pop().unwrap_or_default())
}

fn civitai_offer(model: &Value, version: &Value, number: u64) -> Result<Offer, DownloadError> {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let name = text(model, "name").unwrap_or_else(|| "a model on Civitai".to_owned());
    let title = match text(version, "name") {
        Some(version) => format!("{name} {version}"),
        None => name,
    };
    let id = version.get("id").and_then(Value::as_u64).unwrap_or_default();
    let files = version.get("files").and_then(Value::as_array).into_iter().flatten();
    let choices = files.filter_map(|file| {
        let name = text(file, "name").filter(|name| has_weights(name))?;
        let hash = file.get("hashes").and_then(|hashes| text(hashes, "SHA256"));
        let query =
            text(file, "downloadUrl").and_then(|address| Some(format!("?{}", address.split_once('?')?.1)));
        let wanted = Wanted {
            source: Source::Civitai { version: id, query: query.unwrap_or_default() },
            to: safe_path(&name),
            sorts: true,
            // Rounded, so that it is no size to check.
            bytes: file.get("sizeKB").and_then(Value::as_f64).map(|size| (size * 1024.0).round() as u64),
            sha256: hash.map(|hash| hash.to_ascii_lowercase()).filter(|hash| is_sha256(hash)),
        };
        Some(Choice { name, files: vec![wanted], folder: None })
    });
    let mut choices: Vec<Choice> = choices.collect();
    if choices.is_empty() {
        return Err(LinkError::NoWeights(title).into());
    }
    // The main file comes first.
    let is_main = |choice: &Choice| {
        let files = version.get("files").and_then(Value::as_array).into_iter().flatten();
        files
            .filter(|file| text(file, "name").as_deref() == Some(&choice.name))
            .any(|file| file.get("primary").and_then(Value::as_bool) == Some(true))
    };
    choices.sort_by_key(|choice| !is_main(choice));
    let page = Some(format!("{CIVITAI}/models/{number}?modelVersionId={id}"));
    Ok(Offer { title, page, licence: None, is_gated: false, choices })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hub(paths: &[&str]) -> Vec<HubFile> {
        paths.iter().map(|path| HubFile { path: (*path).to_owned(), bytes: Some(10), sha256: None }).collect()
    }

    #[test]
    fn a_folder_of_diffusers_is_taken_as_a_whole_without_what_is_there_twice() {
        let files = hub(&[
            "README.md",
            "model_index.json",
            "scheduler/scheduler_config.json",
            "text_encoder/config.json",
            "text_encoder/model.fp16.safetensors",
            "text_encoder/model.safetensors",
            "tokenizer/merges.txt",
            "unet/config.json",
            "unet/diffusion_pytorch_model-00001-of-00002.safetensors",
            "unet/diffusion_pytorch_model-00002-of-00002.safetensors",
            "unet/diffusion_pytorch_model.bin",
            "unet/diffusion_pytorch_model.safetensors.index.json",
            "safety_checker/model.safetensors",
            "vae/diffusion_pytorch_model.safetensors",
            "v1.safetensors",
            "onnx/deep/model.safetensors",
        ]);
        let choice = whole_folder("owner/Name", "main", &files).unwrap();
        let paths: Vec<String> = choice.files.iter().map(|file| file.to.display().to_string()).collect();
        assert_eq!(
            paths,
            [
                "diffusers/Name/model_index.json",
                "diffusers/Name/scheduler/scheduler_config.json",
                "diffusers/Name/text_encoder/config.json",
                "diffusers/Name/text_encoder/model.fp16.safetensors",
                "diffusers/Name/tokenizer/merges.txt",
                "diffusers/Name/unet/config.json",
                "diffusers/Name/unet/diffusion_pytorch_model-00001-of-00002.safetensors",
                "diffusers/Name/unet/diffusion_pytorch_model-00002-of-00002.safetensors",
                "diffusers/Name/unet/diffusion_pytorch_model.safetensors.index.json",
                "diffusers/Name/vae/diffusion_pytorch_model.safetensors",
            ]
        );
        assert_eq!(choice.bytes(), Some(100));
        assert!(whole_folder("owner/name", "main", &hub(&["a.safetensors"])).is_none());
    }

    #[test]
    fn pieces_belong_together() {
        let files = hub(&["a-Q4-00001-of-00002.gguf", "a-Q4-00002-of-00002.gguf", "b.safetensors", "c.ckpt"]);
        let choices = single_files("o/n", "main", &files);
        let names: Vec<(&str, usize)> =
            choices.iter().map(|choice| (choice.name.as_str(), choice.files.len())).collect();
        assert_eq!(names, [("a-Q4.gguf", 2), ("b.safetensors", 1)]);
        let offer = offer("o/n", About::default(), choices);
        assert!(offer.only().unwrap_err().advice().contains("o/n/a-Q4.gguf"));
        assert_eq!(variant("unet/model.fp16-00001-of-00002.safetensors").as_deref(), Some("fp16"));
        assert_eq!(variant("unet/model.safetensors"), None);
    }

    #[test]
    fn a_version_on_civitai_has_its_main_file_first() {
        let hash = "A".repeat(64);
        let version = json!({ "id": 7, "name": "v2", "files": [
            { "name": "a.vae.safetensors", "sizeKB": 2.5, "downloadUrl": "https://civitai.com/api/download/models/7?type=VAE" },
            { "name": "a.ckpt", "sizeKB": 2.5 },
            { "name": "a.safetensors", "sizeKB": 3.0, "primary": true, "hashes": { "SHA256": hash }, "downloadUrl": "https://civitai.com/api/download/models/7" },
        ]});
        let offer = civitai_offer(&json!({ "name": "Dream" }), &version, 3).unwrap();
        assert_eq!(offer.title, "Dream v2");
        let [main, other] = offer.choices.as_slice() else { panic!("{offer:?}") };
        assert_eq!(main.files[0].sha256.as_deref(), Some("a".repeat(64).as_str()));
        assert_eq!(main.files[0].bytes, Some(3072));
        assert_eq!(other.files[0].source, Source::Civitai { version: 7, query: "?type=VAE".to_owned() });
        assert!(civitai_offer(&json!({}), &json!({ "files": [] }), 3).is_err());
    }
}
