//! Models and LoRAs by the names that prompts and other programs use.

use std::{borrow::Cow, path::Path};

use sluice_engine::{
    adapters::without_tags,
    models::{Content, Item, Kind, adapter_fits},
    request::{AdapterUse, ModelSource, Request},
};

use super::{Library, State, plain};

impl Library {
    /// The model of this name: that of a file, with or without its extension, or of a repository. It is the current one if
    /// that has the name.
    pub fn model_named(&self, name: &str, current: &ModelSource) -> Option<ModelSource> {
        let wanted = plain(without_extension(name));
        if let ModelSource::Path(path) = current
            && !wanted.is_empty()
            && plain(&stem(path)) == wanted
        {
            return Some(current.clone());
        }
        let own = self.item_named(name, |content| content.kind == Kind::Model);
        let found = own.or_else(|| {
            let (item, _) = self.of_further_engines().find(|(item, _)| is_named(item, &wanted))?;
            Some(item.path.as_path())
        })?;
        Some(ModelSource::Path(found.to_owned()))
    }

    /// The file or folder of this name, with or without its extension, or of a repository, among those of some kind.
    pub(super) fn item_named(&self, name: &str, is_one: impl Fn(&Content) -> bool) -> Option<&Path> {
        let wanted = plain(without_extension(name));
        let is_of_kind = |item: &&Item| item.content().is_some_and(&is_one);
        let mut found = self.inventory.items.iter().filter(is_of_kind);
        found.find(|item| is_named(item, &wanted)).map(|item| item.path.as_path())
    }

    /// The LoRA whose file has this name, one for models of `family` first.
    fn lora_named(&self, name: &str, family: Option<&str>) -> Option<&Path> {
        let fits = |item: &&Item| {
            let own = item.content().and_then(|content| content.family.as_deref());
            family.and_then(|family| adapter_fits(own, family))
        };
        let is_named = |item: &&Item| {
            item.content().is_some_and(|content| content.kind == Kind::Adapter)
                && stem(&item.path).eq_ignore_ascii_case(name)
        };
        let named = self.inventory.items.iter().filter(is_named);
        let best = named.filter(|item| fits(item) != Some(false)).min_by_key(|item| fits(item).is_none());
        best.map(|item| item.path.as_path())
    }
}

impl State {
    /// The request that Generate sends: without switched off LoRAs, and with those of the library that its prompts name. The
    /// engine finds those next to the model by itself.
    pub fn to_send(&self) -> Cow<'_, Request> {
        self.with_named_loras(self.settings.draft.to_send())
    }

    /// A request with the LoRAs of the library that its prompts name.
    pub(in crate::window::state) fn with_named_loras<'a>(
        &self,
        request: Cow<'a, Request>,
    ) -> Cow<'a, Request> {
        let named = self.loras_in_prompts(&request);
        if named.is_empty() {
            return request;
        }
        let mut request = request.into_owned();
        request.adapters.extend(named);
        Cow::Owned(request)
    }

    fn loras_in_prompts(&self, request: &Request) -> Vec<AdapterUse> {
        let styles = request.styles.iter().flat_map(|style| [&style.prompt, &style.negative_prompt]);
        let family = self.summary().map(|summary| summary.family_name.as_str());
        let mut found: Vec<AdapterUse> = Vec::new();
        for prompt in [&request.prompt, &request.negative_prompt].into_iter().chain(styles) {
            // What is wrong in a prompt is said with the forecast.
            let Ok((_, tags)) = without_tags(prompt) else { continue };
            for tag in tags {
                let used = request.adapters.iter().chain(&found).map(|used| &used.path);
                let mut listed = used.chain(&self.adapters.known);
                if listed.any(|path| stem(path).eq_ignore_ascii_case(&tag.name)) {
                    continue;
                }
                let named = self.library.lora_named(&tag.name, family);
                found.extend(named.map(|path| AdapterUse { path: path.to_owned(), weight: tag.weight }));
            }
        }
        found
    }
}

/// Whether a file or a folder has this plain name, or its repository does.
fn is_named(item: &Item, wanted: &str) -> bool {
    let repository = item.name.rsplit('/').next().unwrap_or(&item.name);
    let names = [stem(&item.path), item.name.clone(), repository.to_owned()];
    !wanted.is_empty() && names.iter().any(|own| plain(own) == wanted)
}

pub(super) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A name without the extension of a model's file.
fn without_extension(name: &str) -> &str {
    let name = name.trim();
    [".safetensors", ".gguf", ".sft", ".ckpt"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}
