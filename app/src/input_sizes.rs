//! The size of a result that its inputs suggest.

use sluice_engine::{
    request::{References, Request},
    source::{SourceError, size_of},
};

/// Width and height that the inputs of a request suggest to a model that takes references in this way, if it does, and whose
/// sizes are multiples of `multiple`: those of the input image with what is added to it, or those that the model gives to
/// images made from its first reference. None if the inputs say nothing about the size.
///
/// # Errors
/// When the image cannot be read.
pub fn size_of_inputs(
    request: &Request,
    takes: Option<&References>,
    multiple: u32,
) -> Result<Option<[u32; 2]>, SourceError> {
    let multiple = multiple.max(1);
    let whole = |size: [u32; 2]| size.map(|side| (side / multiple * multiple).max(multiple));
    if let Some(source) = request.source.as_ref().filter(|source| !source.outpaint.is_empty()) {
        return Ok(Some(whole(source.outpaint.extended(size_of(&source.path)?))));
    }
    // Through Redux, references are read in a size of their own.
    let takes = takes.filter(|takes| takes.edits && request.redux.is_none());
    let (Some(takes), Some(first)) = (takes, request.references.first()) else { return Ok(None) };
    Ok(takes.size(size_of(first)?, None).map(whole))
}
