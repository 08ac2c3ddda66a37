//! The programming interface of Hugging Face: searching, and the files of a repository. Read leniently, since it changes.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::{
    DownloadError, HUGGING_FACE, Network, Stop,
    client::{Client, is_sha256},
};

/// Results of a search.
const RESULTS: usize = 30;

/// A repository that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// `owner/name`.
    pub repository: String,
    /// Downloads in the last month.
    pub downloads: Option<u64>,
    /// People who like it.
    pub likes: Option<u64>,
    /// Whether conditions have to be accepted first.
    pub is_gated: bool,
    /// The licence that it names.
    pub licence: Option<String>,
}

/// A file of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HubFile {
    pub path: String,
    pub bytes: Option<u64>,
    pub sha256: Option<String>,
}

/// What is known about a repository.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    pub is_gated: bool,
    pub licence: Option<String>,
}

/// Searches repositories of models.
///
/// # Errors
/// If the hub does not answer.
pub fn search(network: &Network, stop: &Stop, words: &str) -> Result<Vec<Found>, DownloadError> {
    let words = utf8_percent_encode(words.trim(), NON_ALPHANUMERIC);
    let address =
        format!("{}/api/models?search={words}&limit={RESULTS}&sort=downloads&direction=-1", network.endpoint);
    let client = Client::new(network, stop)?;
    // One page is enough.
    let pages = client.json(&address, ("the search", None))?;
    let found = pages.iter().filter_map(Value::as_array).flatten().filter_map(found);
    Ok(found.take(RESULTS).collect())
}

fn found(value: &Value) -> Option<Found> {
    let repository = value.get("id").or_else(|| value.get("modelId"))?.as_str()?;
    let number = |name: &str| value.get(name).and_then(Value::as_u64);
    Some(Found {
        repository: repository.to_owned(),
        downloads: number("downloads"),
        likes: number("likes"),
        is_gated: is_gated(value),
        licence: licence(value),
    })
}

/// `false`, or how it is granted.
fn is_gated(value: &Value) -> bool {
    value.get("gated").is_some_and(|gated| !matches!(gated, Value::Null | Value::Bool(false)))
}

fn licence(value: &Value) -> Option<String> {
    let card =
        value.get("cardData").and_then(|card| card.get("license_name").or_else(|| card.get("license")));
    let tags = value.get("tags").and_then(Value::as_array);
    let tagged = || tags?.iter().filter_map(Value::as_str).find_map(|tag| tag.strip_prefix("license:"));
    card.and_then(Value::as_str).or_else(tagged).map(str::to_owned)
}

/// The page with a repository's conditions.
pub(super) fn page(repository: &str) -> String {
    format!("{HUGGING_FACE}/{repository}")
}

/// What is known about a repository.
///
/// # Errors
/// If the hub does not answer, or has no such repository.
pub(super) fn about(network: &Network, stop: &Stop, repository: &str) -> Result<About, DownloadError> {
    let client = Client::new(network, stop)?;
    let address = format!("{}/api/models/{repository}", network.endpoint);
    let pages = client.json(&address, (repository, Some(&page(repository))))?;
    let about = pages.first().map(|value| About { is_gated: is_gated(value), licence: licence(value) });
    Ok(about.unwrap_or_default())
}

/// The files of a repository.
///
/// # Errors
/// If the hub does not answer, or has no such repository.
pub(super) fn files(
    network: &Network,
    stop: &Stop,
    repository: &str,
    revision: &str,
) -> Result<Vec<HubFile>, DownloadError> {
    let client = Client::new(network, stop)?;
    let revision = utf8_percent_encode(revision, NON_ALPHANUMERIC);
    let address = format!("{}/api/models/{repository}/tree/{revision}?recursive=true", network.endpoint);
    let pages = client.json(&address, (repository, Some(&page(repository))))?;
    Ok(pages.iter().filter_map(Value::as_array).flatten().filter_map(file).collect())
}

fn file(value: &Value) -> Option<HubFile> {
    if value.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "file") {
        return None;
    }
    let path = value.get("path").or_else(|| value.get("rfilename"))?.as_str()?.to_owned();
    let stored = value.get("lfs").filter(|stored| stored.is_object());
    let number = |value: &Value| value.get("size").and_then(Value::as_u64);
    let hash = stored.and_then(|stored| stored.get("oid").or_else(|| stored.get("sha256"))?.as_str());
    let sha256 = hash.map(|hash| hash.trim_start_matches("sha256:").to_ascii_lowercase());
    Some(HubFile {
        path,
        bytes: stored.and_then(number).or_else(|| number(value)),
        sha256: sha256.filter(|hash| is_sha256(hash)),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_read_leniently() {
        let value = json!({
            "id": "a/b", "downloads": 12, "likes": "many", "gated": "auto", "tags": ["x", "license:apache-2.0"], "new": {}
        });
        let expected = Found {
            repository: "a/b".to_owned(),
            downloads: Some(12),
            likes: None,
            is_gated: true,
            licence: Some("apache-2.0".to_owned()),
        };
        assert_eq!(found(&value), Some(expected));
        assert!(!is_gated(&json!({ "gated": false })) && !is_gated(&json!({})));
        assert_eq!(found(&json!({ "name": 3 })), None);
        assert_eq!(
            licence(&json!({ "cardData": { "license": "other", "license_name": "flux" } })),
            Some("flux".to_owned())
        );
    }

    #[test]
    fn a_file_has_the_hash_of_its_contents_if_it_is_large() {
        let hash = "6CE0161689b3853acaa03779ec93eafe75a02f4ced659bee03f50797806fa2fa";
        let large = json!({ "type": "file", "path": "a.gguf", "size": 130, "oid": "1234", "lfs": { "oid": hash, "size": 99 } });
        let large = file(&large).unwrap();
        assert_eq!((large.bytes, large.sha256), (Some(99), Some(hash.to_ascii_lowercase())));
        let small = file(&json!({ "type": "file", "path": "a.json", "size": 3, "oid": "12" })).unwrap();
        assert_eq!((small.bytes, small.sha256), (Some(3), None));
        assert_eq!(file(&json!({ "type": "directory", "path": "a" })), None);
    }
}
