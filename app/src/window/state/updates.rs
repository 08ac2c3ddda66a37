//! Newer releases of this program.

use sluice_engine::session::Failure;

use crate::downloads::Release;

/// What is known about newer releases.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Updates {
    /// This program does not know where releases are told.
    #[default]
    Nowhere,
    /// Nobody has asked.
    Unasked,
    /// The answer is on its way.
    Asking,
    /// There is none.
    Newest,
    /// There is one.
    Newer(Release),
    /// The answer did not come.
    Failed(Failure),
}
