//! LoRAs and styles that a grid adds, and the weights of LoRAs.

use std::path::Path;

use super::GridError;
use crate::{
    checkpoint::may_be_model,
    request::{AdapterUse, Request, Style},
};

/// The LoRA that another axis of the grid adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weighed<'a> {
    /// No axis adds one.
    NoAxis,
    /// This one, or none in this cell.
    Added(Option<&'a str>),
}

/// Adds a LoRA in place of the others that the axis adds, with the weight that it has in the list. One that is no path is
/// named in the prompt, so that it is looked up where prompts look.
pub(super) fn lora(request: &mut Request, name: Option<&str>, all: &[&str]) {
    let is_of_axis = |stem: &str| all.iter().any(|other| name_of(other) == stem);
    let wanted = name.map(name_of);
    let is_other = |stem: &str| is_of_axis(stem) && wanted.as_deref() != Some(stem);
    request.adapters.retain(|adapter| !is_other(&stem(&adapter.path)));
    for (other, place) in named_in(&request.prompt).into_iter().rev() {
        if is_other(&other) {
            request.prompt.replace_range(place, "");
        }
    }
    let (Some(name), Some(wanted)) = (name, wanted) else { return };
    let is_there = request.adapters.iter().any(|adapter| stem(&adapter.path) == wanted)
        || named_in(&request.prompt).iter().any(|(other, _)| *other == wanted);
    if is_there {
        return;
    }
    if is_path(name) {
        request.adapters.push(AdapterUse { path: name.into(), weight: 1.0 });
    } else {
        request.prompt.push_str(&format!(" <lora:{name}:1>"));
    }
}

/// Adds a style in place of the others that the axis adds.
pub(super) fn style(
    request: &mut Request,
    name: Option<&str>,
    all: &[&str],
    known: &[Style],
) -> Result<(), GridError> {
    let is = |style: &Style, name: &str| style.name.eq_ignore_ascii_case(name);
    let find = |name: &str| request.styles.iter().chain(known).find(|style| is(style, name)).cloned();
    let style = match name {
        Some(name) => Some(find(name).ok_or_else(|| GridError::NoStyle(name.to_owned()))?),
        None => None,
    };
    request.styles.retain(|style| all.iter().all(|name| !is(style, name)));
    request.styles.extend(style);
    Ok(())
}

/// Sets the weight of a LoRA, which is in the list or named in the prompt. Without a name it is the one that another axis
/// adds, or the only one.
pub(super) fn weigh(
    request: &mut Request,
    lora: Option<&str>,
    added: Weighed<'_>,
    weight: f32,
) -> Result<(), GridError> {
    let named = named_in(&request.prompt);
    let listed = request.adapters.iter().map(|AdapterUse { path, .. }| stem(path));
    let used: Vec<String> = listed.chain(named.iter().map(|(name, _)| name.clone())).collect();
    let name = match (lora, added, used.as_slice()) {
        (Some(name), ..) => name.to_owned(),
        (None, Weighed::Added(None), _) => return Ok(()),
        (None, Weighed::Added(Some(name)), _) => name_of(name),
        (None, Weighed::NoAxis, [only]) => only.clone(),
        (None, Weighed::NoAxis, []) => return Err(GridError::NoLora { name: String::new(), used }),
        (None, Weighed::NoAxis, [first, ..]) => return Err(GridError::WhichLora(first.clone())),
    };
    let mut is_found = false;
    for adapter in &mut request.adapters {
        if stem(&adapter.path) == name {
            (adapter.weight, is_found) = (weight, true);
        }
    }
    // From the end, so that places before it stay.
    for (_, place) in named.into_iter().rev().filter(|(other, _)| *other == name) {
        request.prompt.replace_range(place, &format!("<lora:{name}:{weight}>"));
        is_found = true;
    }
    if is_found { Ok(()) } else { Err(GridError::NoLora { name, used }) }
}

/// Whether a LoRA is written as a path, and not as a name.
fn is_path(name: &str) -> bool {
    name.contains(std::path::is_separator)
        || Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("safetensors"))
}

/// The names of the LoRAs in a prompt, and where each is written.
fn named_in(prompt: &str) -> Vec<(String, std::ops::Range<usize>)> {
    const BEGINNING: &str = "<lora:";
    let found = prompt.match_indices(BEGINNING).filter_map(|(start, _)| {
        let inner = &prompt[start + BEGINNING.len()..];
        let inner = &inner[..inner.find('>')?];
        let name = inner.split(':').next().unwrap_or_default().trim();
        Some((name.to_owned(), start..start + BEGINNING.len() + inner.len() + 1))
    });
    found.collect()
}

/// What a LoRA is called that is written as a name or as a path.
pub(super) fn name_of(written: &str) -> String {
    if is_path(written) { stem(written.as_ref()) } else { written.to_owned() }
}

/// What a model is called: its file without the extension, or its folder, whose name may have dots.
pub(super) fn model_name(path: &Path) -> String {
    match path.file_name().filter(|_| !may_be_model(path)) {
        Some(folder) => folder.to_string_lossy().into_owned(),
        None => stem(path),
    }
}

pub(super) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
