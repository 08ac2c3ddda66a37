//! Whether there is a newer release, and which files one has, from a page in the form in which GitHub and Forgejo tell
//! the latest one.

use std::env;

use semver::Version as Number;
use serde_json::Value;

use super::{DownloadError, Network, Stop, client::Client};

/// What the page is called in errors.
const LIST: &str = "the list of releases";

/// A release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Its version.
    pub version: String,
    /// The page about it.
    pub page: String,
}

/// The page that tells the latest release, as the program was built or as a variable says.
pub fn releases_page() -> Option<String> {
    let given = env::var("SLUICE_RELEASES").ok();
    let address = given.or_else(|| option_env!("SLUICE_RELEASES").map(str::to_owned));
    address.filter(|address| !address.is_empty())
}

/// The latest release at `address`, if it is newer than `version`.
///
/// # Errors
/// If the server does not answer, or tells no release.
pub fn newer_release(
    network: &Network,
    stop: &Stop,
    address: &str,
    version: &str,
) -> Result<Option<Release>, DownloadError> {
    let client = Client::new(network, stop)?;
    let pages = client.json(address, (LIST, None))?;
    let release = pages.first().and_then(release).ok_or_else(|| DownloadError::Answer {
        host: address.split('/').nth(2).unwrap_or(address).to_owned(),
        reason: "it tells no release".to_owned(),
    })?;
    let (latest, own) = (Number::parse(&release.version), Number::parse(version));
    Ok(matches!((latest, own), (Ok(latest), Ok(own)) if latest > own).then_some(release))
}

/// A file of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub address: String,
}

/// The files of the release of `version`: the latest one at `address`, or the one with its tag beside that. None if neither
/// is of this version.
///
/// # Errors
/// If the server does not answer.
pub fn assets_of(
    network: &Network,
    stop: &Stop,
    address: &str,
    version: &str,
) -> Result<Vec<Asset>, DownloadError> {
    let latest = json_at(network, stop, address, LIST)?;
    if is_of(&latest, version) {
        return Ok(assets(&latest));
    }
    let Some(all) = address.strip_suffix("/latest") else { return Ok(Vec::new()) };
    match json_at(network, stop, &format!("{all}/tags/v{version}"), LIST) {
        Ok(release) if is_of(&release, version) => Ok(assets(&release)),
        Ok(_) | Err(DownloadError::NotFound { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The JSON at an address; `what` names it in errors.
///
/// # Errors
/// If the server does not answer, or with something else.
pub fn json_at(network: &Network, stop: &Stop, address: &str, what: &str) -> Result<Value, DownloadError> {
    let pages = Client::new(network, stop)?.json(address, (what, None))?;
    Ok(pages.into_iter().next().unwrap_or_default())
}

fn is_of(release: &Value, version: &str) -> bool {
    let tag = release.get("tag_name").and_then(Value::as_str);
    tag.is_some_and(|tag| tag.trim_start_matches('v') == version)
}

fn assets(release: &Value) -> Vec<Asset> {
    let all = release.get("assets").and_then(Value::as_array);
    let text = |asset: &Value, key: &str| Some(asset.get(key)?.as_str()?.to_owned());
    let asset = |asset: &Value| {
        Some(Asset { name: text(asset, "name")?, address: text(asset, "browser_download_url")? })
    };
    all.into_iter().flatten().filter_map(asset).collect()
}

fn release(value: &Value) -> Option<Release> {
    let tag = value.get("tag_name")?.as_str()?.trim_start_matches('v');
    let page = value.get("html_url")?.as_str()?;
    let is_page = page.starts_with("https://") || page.starts_with("http://");
    (Number::parse(tag).is_ok() && is_page)
        .then(|| Release { version: tag.to_owned(), page: page.to_owned() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_release_has_files() {
        let read = json!({"tag_name": "v1.2.0", "assets": [
            {"name": "a.json", "size": 3, "browser_download_url": "https://example.org/a.json"},
            {"name": "without an address"},
        ]});
        let asset = Asset { name: "a.json".to_owned(), address: "https://example.org/a.json".to_owned() };
        assert!(is_of(&read, "1.2.0") && !is_of(&read, "1.2"));
        assert_eq!(assets(&read), [asset]);
        assert_eq!(assets(&json!({"message": "Not Found"})), []);
    }

    #[test]
    fn a_release_has_a_version_and_a_page() {
        let page = "https://example.org/releases/v1.2.0";
        let read = release(&json!({"tag_name": "v1.2.0", "html_url": page, "draft": false}));
        assert_eq!(read, Some(Release { version: "1.2.0".to_owned(), page: page.to_owned() }));
        for wrong in [
            json!({"tag_name": "nightly", "html_url": page}),
            json!({"tag_name": "v1.2.0", "html_url": "file:///etc/passwd"}),
            json!({"message": "Not Found"}),
            json!([]),
        ] {
            assert_eq!(release(&wrong), None, "{wrong}");
        }
    }
}
