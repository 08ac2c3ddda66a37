//! Downloads models: from Hugging Face, its mirrors, Civitai and other servers. It knows no window.
//!
//! A [`Link`] or the [catalogue] says what is wanted, [`look_up`] finds its files, and [`Downloads`] fetches them on
//! threads of its own. A file arrives as `NAME.part`, goes on from there after any interruption, and gets its name when
//! its SHA-256 is right.

pub mod catalogue;
mod client;
mod error;
mod file;
mod hub;
mod link;
mod offer;
mod part;
mod queue;
mod releases;
mod stop;
mod token;
mod transfer;

pub use catalogue::{CLASSES, Catalogue, Listed, Version};
pub use client::{HUGGING_FACE, Network, Patience};
pub use error::DownloadError;
pub use file::{Source, Wanted, safe_path};
pub use hub::{Found, search};
pub use link::{Link, LinkError, has_weights};
pub use offer::{Choice, Offer, look_up};
pub(crate) use part::{lock, sha256_of};
pub use queue::{AT_ONCE, Download, DownloadId, Downloads, Order, Phase, Wake};
pub use releases::{Asset, Release, assets_of, json_at, newer_release, releases_page};
pub use stop::Stop;
pub use token::{Credentials, Site, Token, keep as keep_token, kept as kept_token};
pub use transfer::{Arrived, RESERVE, Told, transfer};
