//! Prompts spelled out, and models with adapters.

use std::path::{Path, PathBuf};

use super::PipelineError;
use crate::{
    adapters::{AdapterReport, adapt, find, folders_of, without_tags},
    checkpoint::{Component, NoiseHalf, Role},
    models::{Model, ModelPart, family_of_adapter},
    request::{AdapterUse, PromptFolders, PromptTemplate, Request, RequestError, label_of},
    text::{Wildcards, chosen, leaves_open, styled},
};

/// A request whose prompts are complete: styles are applied, words that they leave open are chosen by the seed, and the adapters that they name
/// are among its adapters.
///
/// # Errors
/// When a name is unknown, or the text in the brackets is not valid.
pub fn spelled_out(request: &Request, folders: &PromptFolders) -> Result<Request, PipelineError> {
    if request.writes() {
        // The language model reads the prompt as it is written.
        return Ok(request.clone());
    }
    with_named_adapters(&with_words_chosen(request, &folders.wildcards)?, &folders.adapters)
}

/// A request with its styles applied, and with the words chosen that its prompts leave open. A batch has one prompt.
fn with_words_chosen(request: &Request, folders: &[PathBuf]) -> Result<Request, PipelineError> {
    let [prompt, negative_prompt] = styled(&request.prompt, &request.negative_prompt, &request.styles);
    let is_open = leaves_open(&prompt) || leaves_open(&negative_prompt);
    if !is_open && request.styles.is_empty() {
        return Ok(Request { template: None, ..request.clone() });
    }
    let [prompt, negative_prompt] = match is_open {
        true => {
            let wildcards = Wildcards::around(&request.model.resolve()?, folders);
            let choose = |prompt: &str| chosen(prompt, request.seed, &wildcards);
            [choose(&prompt)?, choose(&negative_prompt)?]
        }
        false => [prompt, negative_prompt],
    };
    let template = PromptTemplate {
        prompt: request.prompt.clone(),
        negative_prompt: request.negative_prompt.clone(),
        styles: request.styles.iter().map(|style| style.name.clone()).collect(),
    };
    let template = Some(template);
    Ok(Request { prompt, negative_prompt, template, styles: Vec::new(), ..request.clone() })
}

/// A request that has the adapters named in its prompts as adapters, after those that it has already. The name of one
/// that it has sets the weight of that one; others are looked up in `folders` and in the folders next to the model.
///
/// # Errors
/// When a name is unknown, or the text in the brackets is not valid.
fn with_named_adapters(request: &Request, folders: &[PathBuf]) -> Result<Request, PipelineError> {
    let (prompt, mut tags) = without_tags(&request.prompt)?;
    let (negative_prompt, more) = without_tags(&request.negative_prompt)?;
    tags.extend(more);
    let is_known = |name: &str| {
        let is_own = |adapter: &AdapterUse| names(&adapter.path, name);
        tags.iter().any(|tag| tag.name.eq_ignore_ascii_case(name)) || request.adapters.iter().any(is_own)
    };
    let mut detailers = request.detailers.clone();
    for detailer in &mut detailers {
        for prompt in [&mut detailer.prompt, &mut detailer.negative_prompt] {
            let (text, named) = without_tags(prompt)?;
            if let Some(stranger) = named.into_iter().find(|tag| !is_known(&tag.name)) {
                return Err(RequestError::DetailerAdapter(stranger.name).into());
            }
            *prompt = text;
        }
    }
    let mut regions = request.regions.clone();
    for region in &mut regions.all {
        let (text, named) = without_tags(&region.prompt)?;
        if let Some(stranger) = named.into_iter().find(|tag| !is_known(&tag.name)) {
            return Err(RequestError::RegionAdapter(stranger.name).into());
        }
        region.prompt = text;
    }
    let mut adapters = request.adapters.clone();
    if !tags.is_empty() {
        let folders = folders_of(&request.model.resolve()?, folders);
        for tag in tags {
            let is_named = |adapter: &&mut AdapterUse| names(&adapter.path, &tag.name);
            if let Some(adapter) = adapters.iter_mut().find(is_named) {
                adapter.weight = tag.weight;
                continue;
            }
            adapters.push(AdapterUse { path: find(&tag.name, &folders)?, weight: tag.weight });
        }
    }
    Ok(Request { prompt, negative_prompt, adapters, detailers, regions, ..request.clone() })
}

/// Whether a tag means the adapter in a file.
fn names(path: &Path, tag: &str) -> bool {
    let stem = path.file_stem().unwrap_or_default();
    label_of(&stem.to_string_lossy()).eq_ignore_ascii_case(tag)
}

/// Applies adapters to a model that has none. Returns a report for each.
///
/// # Errors
/// When one cannot be read or is for another family.
pub fn adapt_model(model: &mut Model, uses: &[AdapterUse]) -> Result<Vec<AdapterReport>, PipelineError> {
    let bare: Vec<Component> = adaptable(model).map(|part| part.component.clone()).collect();
    let (components, reports) = adapted(&bare, model, uses)?;
    replace(model, components);
    Ok(reports)
}

/// The parts that adapters change.
pub(super) fn adaptable(model: &Model) -> impl Iterator<Item = &ModelPart> {
    model.parts.iter().filter(|part| part.takes_adapters)
}

/// The components of a model's [`adaptable`] parts with adapters, from the components without.
pub(super) fn adapted(
    bare: &[Component],
    model: &Model,
    uses: &[AdapterUse],
) -> Result<(Vec<Component>, Vec<AdapterReport>), PipelineError> {
    let bare: Vec<&Component> = bare.iter().collect();
    let takes_turns = bare.iter().filter(|component| component.role == Role::Denoiser).count() > 1;
    let halves = if takes_turns { other_halves(uses) } else { Vec::new() };
    let all: Vec<AdapterUse> = uses.iter().chain(halves.iter().map(|(half, _)| half)).cloned().collect();
    let mut adapted = adapt(&bare, model.family.name(), &all, family_of_adapter)?;
    for (report, (_, of)) in adapted.reports[uses.len()..].iter_mut().zip(halves) {
        report.half_of = Some(of);
    }
    Ok((adapted.components, adapted.reports))
}

/// The other halves of files for high or for low noise that are there and not used already, each with the weight and the
/// path of its half.
fn other_halves(uses: &[AdapterUse]) -> Vec<(AdapterUse, PathBuf)> {
    let halves = uses.iter().filter_map(|AdapterUse { path, weight }| {
        let other = NoiseHalf::of(path)?.other;
        let is_new = other.is_file() && uses.iter().all(|known| known.path != other);
        is_new.then(|| (AdapterUse { path: other, weight: *weight }, path.clone()))
    });
    halves.collect()
}

/// Replaces the components of a model's [`adaptable`] parts.
pub(super) fn replace(model: &mut Model, components: Vec<Component>) {
    let own = model.parts.iter_mut().filter(|part| part.takes_adapters);
    own.zip(components).for_each(|(part, component)| part.component = component);
}
