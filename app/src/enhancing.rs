//! Better prompts: what a language model is told for which models, and which language model is asked.

use std::sync::LazyLock;

use serde::Deserialize;
use sluice_engine::{checkpoint::Role, models::Item};

/// What a language model is told.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Instruction {
    /// Its name.
    pub id: String,
    /// The families of models that it is for; empty for all that have none of their own.
    #[serde(default)]
    families: Vec<String>,
    /// The words.
    pub text: String,
}

#[derive(Deserialize)]
struct File {
    instruction: Vec<Instruction>,
}

/// In the names of models that were made to follow instructions.
const FOLLOWS: &str = "instruct";

/// All instructions that come with Sluice.
pub fn instructions() -> &'static [Instruction] {
    static ALL: LazyLock<Vec<Instruction>> = LazyLock::new(|| {
        toml::from_str::<File>(include_str!("../../presets/instructions.toml"))
            .map(|file| file.instruction)
            .unwrap_or_else(|error| {
                tracing::error!(%error, "presets/instructions.toml cannot be read");
                Vec::new()
            })
    });
    &ALL
}

/// The instruction for models of a family.
pub fn instruction_for(family: &str) -> Option<&'static Instruction> {
    let all = instructions();
    let own = all.iter().find(|instruction| instruction.families.iter().any(|known| known == family));
    own.or_else(|| all.iter().find(|instruction| instruction.families.is_empty()))
}

/// The language models among the files of a library.
pub fn language_models<'a>(items: impl Iterator<Item = &'a Item>) -> impl Iterator<Item = &'a Item> {
    items.filter(|item| {
        item.content().is_some_and(|content| content.roles.contains(&Role::LanguageModel))
            && item.same_as.is_none()
    })
}

/// The one that is asked if none was chosen: the smallest of those that were made to follow instructions, or else of all.
pub fn usual_model<'a>(items: impl Iterator<Item = &'a Item>) -> Option<&'a Item> {
    language_models(items).min_by_key(|item| {
        let follows = item.name.to_lowercase().contains(FOLLOWS);
        (!follows, item.content().map_or(u64::MAX, |content| content.bytes))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sluice_engine::models::{About, Content, FAMILIES, Finding, Kind};

    use super::*;

    #[test]
    fn every_family_has_an_instruction_and_every_named_family_exists() {
        assert!(instructions().len() >= 3);
        for family in FAMILIES {
            let instruction = instruction_for(family.id()).unwrap();
            assert!(instruction.text.len() > 200 && !instruction.text.contains('\n'), "{instruction:?}");
        }
        for name in instructions().iter().flat_map(|instruction| &instruction.families) {
            assert!(FAMILIES.iter().any(|family| family.id() == name), "{name}");
        }
        let id = |family: &str| instruction_for(family).unwrap().id.as_str();
        assert_eq!(
            [id("sdxl"), id("wan"), id("z_image"), id("new")],
            ["tags", "motion", "sentences", "sentences"]
        );
    }

    #[test]
    fn a_small_model_that_follows_instructions_is_asked() {
        let item = |name: &str, bytes, roles: &[Role]| Item {
            path: name.into(),
            name: name.to_owned(),
            content: Finding::Content(Content {
                what: String::new(),
                kind: Kind::Part,
                family: None,
                roles: roles.to_vec(),
                modes: Vec::new(),
                format: String::new(),
                parameters: 0,
                bytes,
                dtypes: BTreeMap::new(),
            }),
            about: About::default(),
            same_as: None,
            half_of: None,
        };
        let both = [Role::TextEncoder, Role::LanguageModel];
        let mut items = vec![item("clip_l", 1, &[Role::TextEncoder]), item("qwen_3_4b", 8, &both)];
        let asked = |items: &[Item]| usual_model(items.iter()).map(|item| item.name.clone());
        assert_eq!(asked(&items[..1]), None);
        assert_eq!(asked(&items).as_deref(), Some("qwen_3_4b"));
        items.push(item("Qwen3-0.6B-Q8_0", 2, &both));
        assert_eq!(asked(&items).as_deref(), Some("Qwen3-0.6B-Q8_0"));
        items.push(item("Qwen3-4B-Instruct-2507-Q4_K_M", 5, &both));
        assert_eq!(asked(&items).as_deref(), Some("Qwen3-4B-Instruct-2507-Q4_K_M"));
    }
}
