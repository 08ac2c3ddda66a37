//! Whether there is a newer release, from a page in the form in which GitHub and Forgejo tell the latest one.

use semver::Version as Number;
use serde_json::Value;

use super::{DownloadError, Network, Stop, client::Client};

/// A release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Its version.
    pub version: String,
    /// The page about it.
    pub page: String,
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
    let pages = client.json(address, ("the list of releases", None))?;
    let release = pages.first().and_then(release).ok_or_else(|| DownloadError::Answer {
        host: address.split('/').nth(2).unwrap_or(address).to_owned(),
        reason: "it tells no release".to_owned(),
    })?;
    let (latest, own) = (Number::parse(&release.version), Number::parse(version));
    Ok(matches!((latest, own), (Ok(latest), Ok(own)) if latest > own).then_some(release))
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
