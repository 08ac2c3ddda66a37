//! What a person pastes: links to files, repositories and models, or `owner/name`.

use percent_encoding::percent_decode_str;

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// A file on the hub.
    HubFile {
        /// `owner/name`.
        repository: String,
        /// A branch, a tag or a commit.
        revision: String,
        /// Inside the repository.
        path: String,
    },
    /// A repository on the hub, or a folder in it.
    Hub {
        /// `owner/name`.
        repository: String,
        /// A branch, a tag or a commit.
        revision: String,
        /// The folder, if it leads to one.
        folder: Option<String>,
    },
    /// A model on Civitai; its newest version.
    CivitaiModel(u64),
    /// A version of a model on Civitai.
    CivitaiVersion(u64),
    /// A file anywhere.
    File(String),
}

/// Why a link leads to no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// There is nothing.
    #[error("there is no link")]
    Empty,
    /// It is neither a link nor a name.
    #[error("“{0}” is neither a link nor the name of a repository")]
    NotALink(String),
    /// It leads to a part of a site that has no models.
    #[error("“{0}” does not lead to a model")]
    NoModel(String),
    /// It leads to a file that Sluice does not open.
    #[error("Sluice does not open {0}")]
    OtherFile(String),
    /// The repository has no weights.
    #[error("{0} has no .safetensors or .gguf files")]
    NoWeights(String),
    /// It has several.
    #[error("{repository} has {} files; say which one", .files.len())]
    Several {
        /// Which.
        repository: String,
        /// Paths of the weights.
        files: Vec<String>,
    },
}

impl LinkError {
    /// What to do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::OtherFile(_) => {
                "Use files that end with .safetensors or .gguf. Nearly every model exists as one.".to_owned()
            }
            Self::NoWeights(_) => "Look for another repository of the same model.".to_owned(),
            Self::Several { repository, files } => {
                const SHOWN: usize = 12;
                let shown = files.iter().take(SHOWN).map(|file| format!("{repository}/{file}"));
                let more = files.len().saturating_sub(SHOWN);
                let more = if more > 0 { format!("\n  … and {more} more") } else { String::new() };
                format!("Choose one of\n  {}{more}", shown.collect::<Vec<_>>().join("\n  "))
            }
            Self::Empty | Self::NotALink(_) | Self::NoModel(_) => {
                "Paste the link of a file or repository on Hugging Face, a model on Civitai, or owner/name."
                    .to_owned()
            }
        }
    }
}

/// Extensions of files that are downloaded as models.
const WEIGHTS: [&str; 3] = [".safetensors", ".sft", ".gguf"];
/// Parts of Hugging Face that have no models.
const NO_MODELS: [&str; 12] = [
    "datasets",
    "spaces",
    "docs",
    "blog",
    "papers",
    "collections",
    "settings",
    "tasks",
    "organizations",
    "models",
    "join",
    "login",
];

/// Whether a name is that of a file with weights that Sluice opens.
pub fn has_weights(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WEIGHTS.iter().any(|ending| name.ends_with(ending))
}

impl Link {
    /// Reads what was pasted. `endpoint` is the address of a mirror of the hub, whose links count as those of the hub.
    ///
    /// # Errors
    /// If it leads to no model.
    pub fn parse(text: &str, endpoint: &str) -> Result<Self, LinkError> {
        let text = text.trim().trim_matches(['<', '>', '"', '\'', '`']).trim();
        if text.is_empty() {
            return Err(LinkError::Empty);
        }
        let Some((scheme, rest)) = text.split_once("://") else { return Self::without_scheme(text) };
        if scheme == "hf" {
            return Self::name(rest, text);
        }
        if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
            return Err(LinkError::NotALink(text.to_owned()));
        }
        let rest = rest.split('#').next().unwrap_or(rest);
        let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = before.split_once('/').unwrap_or((before, ""));
        let host = host.to_ascii_lowercase();
        let own = endpoint.split_once("://").map_or(endpoint, |(_, host)| host).trim_end_matches('/');
        let is_hub = ["huggingface.co", "www.huggingface.co", "hf.co", "hf-mirror.com"]
            .contains(&host.as_str())
            || host.eq_ignore_ascii_case(own);
        if is_hub {
            return Self::on_hub(path, text);
        }
        if ["civitai.com", "www.civitai.com", "civitai.green", "civitai.red"].contains(&host.as_str()) {
            return Self::on_civitai(path, query, text);
        }
        let name = decoded(path.rsplit('/').next().unwrap_or_default());
        match has_weights(&name) {
            true => Ok(Self::File(text.split('#').next().unwrap_or(text).to_owned())),
            false => Err(LinkError::NoModel(text.to_owned())),
        }
    }

    /// `huggingface.co/owner/name` or `owner/name`.
    fn without_scheme(text: &str) -> Result<Self, LinkError> {
        let first = text.split('/').next().unwrap_or_default().to_ascii_lowercase();
        let sites = [
            "huggingface.co",
            "www.huggingface.co",
            "hf.co",
            "hf-mirror.com",
            "civitai.com",
            "www.civitai.com",
        ];
        match sites.contains(&first.as_str()) {
            true => Self::parse(&format!("https://{text}"), ""),
            false => Self::name(text, text),
        }
    }

    /// `owner/name`, `owner/name/path`, or `owner/name@revision`.
    fn name(text: &str, whole: &str) -> Result<Self, LinkError> {
        let mut parts = text.trim_matches('/').splitn(3, '/');
        let not = || LinkError::NotALink(whole.to_owned());
        let (Some(owner), Some(name)) = (parts.next(), parts.next()) else { return Err(not()) };
        let (name, revision) = name.split_once('@').unwrap_or((name, "main"));
        if !is_name(owner) || !is_name(name) || revision.is_empty() {
            return Err(not());
        }
        Self::inside(format!("{owner}/{name}"), revision.to_owned(), parts.next().map(str::to_owned))
    }

    fn on_hub(path: &str, whole: &str) -> Result<Self, LinkError> {
        let no_model = || LinkError::NoModel(whole.to_owned());
        let path = decoded(path);
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let parts = match parts.as_slice() {
            // Addresses of the programming interface.
            ["api", "models", rest @ ..] => rest,
            [first, ..] if NO_MODELS.contains(first) => return Err(no_model()),
            parts => parts,
        };
        let [owner, name, rest @ ..] = parts else { return Err(no_model()) };
        if !is_name(owner) || !is_name(name) {
            return Err(no_model());
        }
        let repository = format!("{owner}/{name}");
        let (revision, inside) = match rest {
            ["blob" | "resolve" | "raw" | "tree", "refs", kind, number, inside @ ..] => {
                (format!("refs/{kind}/{number}"), inside)
            }
            ["blob" | "resolve" | "raw" | "tree", revision, inside @ ..] => ((*revision).to_owned(), inside),
            [] | ["discussions" | "commits" | "blob" | "resolve" | "raw" | "tree", ..] => {
                ("main".to_owned(), &[][..])
            }
            _ => return Err(no_model()),
        };
        let inside = (!inside.is_empty()).then(|| inside.join("/"));
        match rest.first() {
            Some(&("blob" | "resolve" | "raw")) => Self::inside(repository, revision, inside),
            _ => Ok(Self::Hub { repository, revision, folder: inside }),
        }
    }

    fn inside(repository: String, revision: String, path: Option<String>) -> Result<Self, LinkError> {
        match path.filter(|path| !path.trim_matches('/').is_empty()) {
            None => Ok(Self::Hub { repository, revision, folder: None }),
            Some(path) if path.split('/').any(|part| part == "..") => Err(LinkError::NoModel(path)),
            Some(path) if has_weights(&path) => Ok(Self::HubFile { repository, revision, path }),
            Some(path) if is_pickle(&path) => Err(LinkError::OtherFile(path)),
            Some(path) => Ok(Self::Hub { repository, revision, folder: Some(path) }),
        }
    }

    fn on_civitai(path: &str, query: &str, whole: &str) -> Result<Self, LinkError> {
        let asked = query.split('&').find_map(|pair| pair.strip_prefix("modelVersionId="));
        if let Some(version) = asked.and_then(|version| version.parse().ok()) {
            return Ok(Self::CivitaiVersion(version));
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let number = |text: &str| text.parse().ok();
        let link = match parts.as_slice() {
            ["models", model, ..] => number(model).map(Self::CivitaiModel),
            ["api", "download", "models", version, ..]
            | ["api", "v1", "model-versions", version, ..]
            | ["model-versions", version, ..] => number(version).map(Self::CivitaiVersion),
            ["api", "v1", "models", model, ..] => number(model).map(Self::CivitaiModel),
            _ => None,
        };
        link.ok_or_else(|| LinkError::NoModel(whole.to_owned()))
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Whether it may be the name of an owner or a repository.
fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    !text.is_empty() && text.len() <= 96 && text.chars().all(is_letter) && !text.starts_with('.')
}

/// Whether a name is that of a file which may run any code when it is opened.
fn is_pickle(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".ckpt", ".pt", ".pth", ".bin", ".pkl", ".zip", ".onnx", ".msgpack", ".h5"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(repository: &str, revision: &str, path: &str) -> Link {
        Link::HubFile { repository: repository.into(), revision: revision.into(), path: path.into() }
    }

    fn hub(repository: &str, revision: &str, folder: Option<&str>) -> Link {
        Link::Hub {
            repository: repository.into(),
            revision: revision.into(),
            folder: folder.map(str::to_owned),
        }
    }

    #[test]
    fn links_and_names_are_understood() {
        let xl = "stabilityai/stable-diffusion-xl-base-1.0";
        let base = "sd_xl_base_1.0.safetensors";
        for (text, expected) in [
            (" owner/name ", hub("owner/name", "main", None)),
            ("owner/name@v2", hub("owner/name", "v2", None)),
            ("owner/name/sub/a-Q4.gguf", file("owner/name", "main", "sub/a-Q4.gguf")),
            ("owner/name/unet", hub("owner/name", "main", Some("unet"))),
            ("hf://owner/name/a.safetensors", file("owner/name", "main", "a.safetensors")),
            ("huggingface.co/owner/name", hub("owner/name", "main", None)),
            ("<https://huggingface.co/owner/name/>", hub("owner/name", "main", None)),
            ("https://hf.co/owner/name/tree/main", hub("owner/name", "main", None)),
            (
                "https://huggingface.co/owner/name/tree/dev/split_files/vae",
                hub("owner/name", "dev", Some("split_files/vae")),
            ),
            (
                &format!("https://huggingface.co/{xl}/resolve/main/{base}?download=true"),
                file(xl, "main", base),
            ),
            (&format!("https://huggingface.co/{xl}/blob/main/{base}#L1"), file(xl, "main", base)),
            (
                "https://huggingface.co/a/b/blob/refs/pr/3/x.safetensors",
                file("a/b", "refs/pr/3", "x.safetensors"),
            ),
            ("https://huggingface.co/a/b/blob/main/two%20words.gguf", file("a/b", "main", "two words.gguf")),
            ("https://huggingface.co/api/models/a/b", hub("a/b", "main", None)),
            ("https://huggingface.co/a/b/discussions/4", hub("a/b", "main", None)),
            ("https://mirror.example:8080/a/b", hub("a/b", "main", None)),
            ("https://civitai.com/models/4384/dreamshaper", Link::CivitaiModel(4384)),
            ("https://civitai.com/models/4384?modelVersionId=128713", Link::CivitaiVersion(128_713)),
            (
                "https://civitai.com/api/download/models/128713?type=Model&format=SafeTensor",
                Link::CivitaiVersion(128_713),
            ),
            ("civitai.com/models/1", Link::CivitaiModel(1)),
            (
                "https://example.org/files/my%20model.safetensors?x=1",
                Link::File("https://example.org/files/my%20model.safetensors?x=1".into()),
            ),
        ] {
            assert_eq!(Link::parse(text, "https://mirror.example:8080"), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_leads_to_no_model_is_refused() {
        for text in [
            "",
            "a",
            "a b/c",
            "https://huggingface.co/datasets/a/b",
            "https://huggingface.co/spaces/a/b",
            "https://huggingface.co/a",
            "https://civitai.com/images/3",
            "https://example.org/",
            "ftp://a/b.gguf",
            "owner/name/../../etc/passwd.gguf",
            "C:\\models\\a.gguf",
            "owner/name/a.ckpt",
        ] {
            let error = Link::parse(text, "https://huggingface.co").unwrap_err();
            assert!(!error.advice().is_empty(), "{text}");
        }
        let error = Link::parse("a/b/model.ckpt", "").unwrap_err();
        assert_eq!(error.to_string(), "Sluice does not open model.ckpt");
    }
}
