//! Better prompts, and descriptions of images: what a language model is told for which models, which language model is asked, and
//! where descriptions are saved.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::LazyLock,
};

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

#[derive(Default, Deserialize)]
struct File {
    instruction: Vec<Instruction>,
    description: Vec<Instruction>,
}

/// In the names of models that were made to follow instructions.
const FOLLOWS: &str = "instruct";
/// What the names of weights that transformers saves begin with.
const UNNAMED: &str = "model";

static ALL: LazyLock<File> = LazyLock::new(|| {
    toml::from_str(include_str!("../../presets/instructions.toml")).unwrap_or_else(|error| {
        tracing::error!(%error, "presets/instructions.toml cannot be read");
        File::default()
    })
});

/// All instructions for better prompts that come with Sluice.
pub fn instructions() -> &'static [Instruction] {
    &ALL.instruction
}

/// All instructions for descriptions of images. The first is the usual one.
pub fn descriptions() -> &'static [Instruction] {
    &ALL.description
}

/// The instruction for a better prompt for models of a family.
pub fn instruction_for(family: &str) -> Option<&'static Instruction> {
    for_family(instructions(), family)
}

/// The one of these that is for models of a family.
pub fn for_family<'a>(all: &'a [Instruction], family: &str) -> Option<&'a Instruction> {
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

/// Those of them that see images.
pub fn describers<'a>(items: impl Iterator<Item = &'a Item>) -> impl Iterator<Item = &'a Item> {
    language_models(items).filter(|item| sees_images(item))
}

/// What a model is called: its file, or its folder where files have no names of their own, as those of transformers.
pub fn model_name(path: &Path) -> String {
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let file = name(path);
    match path.parent().filter(|folder| file.starts_with(UNNAMED) && folder.file_name().is_some()) {
        Some(folder) => name(folder),
        None => file,
    }
}

/// The one that is asked for a better prompt if none was chosen: the smallest of those that were made to follow instructions, or
/// else of all; one that sees images only if there is no other.
pub fn usual_model<'a>(items: impl Iterator<Item = &'a Item>) -> Option<&'a Item> {
    language_models(items).min_by_key(|item| (sees_images(item), preference(item)))
}

/// The one that is asked about images if none was chosen.
pub fn usual_describer<'a>(items: impl Iterator<Item = &'a Item>) -> Option<&'a Item> {
    describers(items).min_by_key(|item| preference(item))
}

fn sees_images(item: &Item) -> bool {
    item.content().is_some_and(|content| content.sees_images)
}

/// The file for the words about an image: `NAME.txt` in a folder, as trainers of LoRAs read them. `is_taken` says whether another
/// image has that file, which differs from this one only in its extension or its folder.
pub fn text_of(image: &Path, folder: &Path, is_taken: impl FnOnce(&Path) -> bool) -> PathBuf {
    let named = |name: &OsStr| {
        let mut name = name.to_owned();
        name.push(".txt");
        folder.join(name)
    };
    let usual = named(image.file_stem().unwrap_or_default());
    if is_taken(&usual) { named(image.file_name().unwrap_or_default()) } else { usual }
}

/// Images with the files for the words about them, each beside its image, and how many images are left out because that file is
/// there.
pub fn texts_beside(images: &[PathBuf]) -> (Vec<(PathBuf, PathBuf)>, usize) {
    let (mut texts, mut taken, mut done) = (Vec::new(), HashSet::<PathBuf>::new(), 0);
    for image in images {
        let folder = image.parent().unwrap_or(Path::new(""));
        let text = text_of(image, folder, |file| taken.contains(file));
        taken.insert(text.clone());
        if text.exists() {
            done += 1;
        } else {
            texts.push((image.clone(), text));
        }
    }
    (texts, done)
}

/// Writes words about an image whole or not at all. A file that is there is left as it is.
///
/// # Errors
/// When the file is there, or cannot be written.
pub fn save_text(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // The standard library creates it with the usual permissions; tempfile would make it private.
    let mut whole = tempfile::Builder::new()
        .prefix(".sluice-")
        .suffix(".tmp")
        .make_in(folder, |path| fs::File::create_new(path))?;
    writeln!(whole, "{text}")?;
    whole.persist_noclobber(file).map_err(|error| error.error)?;
    Ok(())
}

/// Less for what is asked rather: what was made to follow instructions, and what is small.
fn preference(item: &Item) -> (bool, u64) {
    let follows = model_name(&item.path).to_lowercase().contains(FOLLOWS);
    (!follows, item.content().map_or(u64::MAX, |content| content.bytes))
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
        assert!(descriptions().len() >= 4 && descriptions()[0].families.is_empty());
        for description in descriptions() {
            assert!(description.text.len() > 100 && !description.text.contains('\n'), "{description:?}");
        }
        let all = instructions().iter().chain(descriptions());
        for name in all.flat_map(|instruction| &instruction.families) {
            assert!(FAMILIES.iter().any(|family| family.id() == name), "{name}");
        }
        let id = |family: &str| instruction_for(family).unwrap().id.as_str();
        assert_eq!(
            ["sdxl", "wan", "ltx", "z_image", "qwen_image", "flux", "new"].map(id),
            ["tags", "motion", "shot", "objective", "layout", "sentences", "sentences"]
        );
        let id = |family: &str| for_family(descriptions(), family).unwrap().id.as_str();
        assert_eq!([id("sdxl"), id("wan"), id("z_image"), id("new")], ["tags", "motion", "prompt", "prompt"]);
    }

    #[test]
    fn words_about_images_are_beside_them_and_none_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("done.txt"), "mine").unwrap();
        let images = ["a.jpg", "a.png", "b.webp", "done.jpg", "done.png"].map(path);
        let (texts, done) = texts_beside(&images);
        let wanted =
            [("a.jpg", "a.txt"), ("a.png", "a.png.txt"), ("b.webp", "b.txt"), ("done.png", "done.png.txt")];
        assert_eq!(texts, wanted.map(|(image, text)| (path(image), path(text))));
        assert_eq!(done, 1);
        save_text(&path("a.txt"), "a den").unwrap();
        assert_eq!(fs::read_to_string(path("a.txt")).unwrap(), "a den\n");
        assert!(save_text(&path("done.txt"), "other words").is_err());
        assert_eq!(fs::read_to_string(path("done.txt")).unwrap(), "mine");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing half-written is left");
    }

    #[test]
    fn files_of_transformers_are_called_by_their_folders() {
        for (path, name) in [
            ("/llm/Qwen3-0.6B-Q8_0.gguf", "Qwen3-0.6B-Q8_0.gguf"),
            ("/llm/Qwen2.5-VL-3B-Instruct/model-00001-of-00002.safetensors", "Qwen2.5-VL-3B-Instruct"),
            ("/llm/Qwen2.5-VL-3B-Instruct", "Qwen2.5-VL-3B-Instruct"),
            ("model.safetensors", "model.safetensors"),
        ] {
            assert_eq!(model_name(Path::new(path)), name);
        }
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
                sees_images: false,
                maps: None,
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
        let about_images = |items: &[Item]| usual_describer(items.iter()).map(|item| item.name.clone());
        assert_eq!(about_images(&items), None);
        for (name, bytes) in [("qwen_2.5_vl_7b", 9), ("Qwen2.5-VL-3B-Instruct", 4)] {
            let mut seeing = item(name, bytes, &both);
            if let Finding::Content(content) = &mut seeing.content {
                content.sees_images = true;
            }
            items.push(seeing);
        }
        assert_eq!(about_images(&items).as_deref(), Some("Qwen2.5-VL-3B-Instruct"));
        assert_eq!(asked(&items).as_deref(), Some("Qwen3-4B-Instruct-2507-Q4_K_M"));
        assert_eq!(asked(&items[4..]).as_deref(), Some("Qwen2.5-VL-3B-Instruct"), "it writes, too");
    }
}
