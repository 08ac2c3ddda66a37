//! The words of the window in the user's language. They are in `assets/languages`, in files of
//! [Fluent](https://projectfluent.org), and are compiled in. What a language lacks is English.
//!
//! The language belongs to the process: whatever draws takes its words with [`tr!`] or [`text`]. It is English until
//! a window chooses another one, and always in the command line. What the engine says is
//! translated by [`said`].

mod amounts;
mod files;
mod keys;
mod said;
mod system;
pub mod units;
mod value;

use std::{
    collections::BTreeSet,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};

pub use amounts::{memory_of, time_left};
pub use files::LANGUAGES;
pub use keys::keys;
pub use said::{IDEOGRAPHIC_STOP, said, template_of};
pub use system::of_system;
pub use value::Value;

type Bundle = FluentBundle<FluentResource>;

/// A language of the window.
pub struct Language {
    /// Its tag by BCP 47, which is its folder in `assets/languages`.
    pub tag: &'static str,
    /// What it calls itself.
    pub name: &'static str,
    /// Its name in English.
    pub english: &'static str,
    /// What is between a whole number and its decimals.
    pub decimal: &'static str,
    /// Characters that the window's own fonts lack, if it is written with such.
    pub sample: &'static str,
    /// Its files, compressed.
    folder: &'static [u8],
    bundle: OnceLock<Bundle>,
}

/// The place of the current language in [`LANGUAGES`].
static CURRENT: AtomicUsize = AtomicUsize::new(0);

/// The current language.
pub fn current() -> &'static Language {
    LANGUAGES.get(CURRENT.load(Ordering::Relaxed)).unwrap_or_else(english)
}

/// English, which has every text.
pub fn english() -> &'static Language {
    let [english, ..] = &LANGUAGES;
    english
}

/// The language with a tag.
pub fn find(tag: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.tag == tag)
}

/// Makes a language the current one.
pub fn choose(language: &Language) {
    if let Some(place) = LANGUAGES.iter().position(|known| known.tag == language.tag) {
        CURRENT.store(place, Ordering::Relaxed);
    }
}

/// The text of a key in the current language. A key that no language has is its own text.
pub fn text(key: &str) -> String {
    in_words(key, None)
}

/// The text of a key with values for its variables. The macro [`tr!`] calls it.
pub fn text_with<const N: usize>(key: &str, values: [(&'static str, Value<'_>); N]) -> String {
    let values = values.into_iter().map(|(name, value)| (name, FluentValue::from(value)));
    in_words(key, Some(&values.collect()))
}

fn in_words(key: &str, values: Option<&FluentArgs<'_>>) -> String {
    let languages = [current(), english()];
    languages.iter().find_map(|language| language.text(key, values)).unwrap_or_else(|| {
        warn_once(key, "no language has this text");
        key.to_owned()
    })
}

impl Language {
    /// Its files, unpacked: their names without `.ftl`, and what they contain.
    pub fn files(&self) -> Vec<(String, String)> {
        files::unpacked(self.folder).unwrap_or_else(|error| {
            tracing::error!(self.tag, %error, "the texts that are compiled in cannot be read");
            Vec::new()
        })
    }

    fn text(&self, key: &str, values: Option<&FluentArgs<'_>>) -> Option<String> {
        let bundle = self.bundle.get_or_init(|| self.load());
        let pattern = bundle.get_message(key)?.value()?;
        let mut errors = Vec::new();
        let text = bundle.format_pattern(pattern, values, &mut errors).into_owned();
        for error in errors {
            warn_once(key, &format!("{}: {error}", self.tag));
        }
        Some(text)
    }

    fn load(&self) -> Bundle {
        let tag = self.tag.parse().unwrap_or_else(|error| {
            tracing::warn!(self.tag, %error, "the tag is not understood: plurals are those of no language");
            unic_langid::LanguageIdentifier::default()
        });
        let mut bundle = Bundle::new_concurrent(vec![tag]);
        bundle.set_use_isolating(false);
        for (file, source) in self.files() {
            let resource = FluentResource::try_new(source).unwrap_or_else(|(readable, errors)| {
                tracing::warn!(self.tag, file, ?errors, "the file has errors: some texts are missing");
                readable
            });
            if let Err(errors) = bundle.add_resource(resource) {
                tracing::warn!(self.tag, file, ?errors, "a text is there twice");
            }
        }
        bundle
    }
}

/// Texts are drawn in each frame; what is wrong with one is logged once.
fn warn_once(key: &str, what: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(format!("{key}: {what}")) {
        tracing::warn!(key, what, "a text of the window");
    }
}

/// The text of a key in the current language, with values for its variables: `tr!("status-bar-step", step = 3, steps = 20)`. Values
/// are integers, which choose plurals, and texts. Decimals and units are formatted before.
macro_rules! tr {
    ($key:literal $(,)?) => {
        $crate::language::text($key)
    };
    ($key:literal, $($name:ident = $value:expr),+ $(,)?) => {
        $crate::language::text_with(
            $key,
            [$((stringify!($name), $crate::language::Value::from($value))),+],
        )
    };
}
pub(crate) use tr;
