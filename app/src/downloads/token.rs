//! Tokens for servers that want to know who asks. They are never written into logs.

use std::{
    env, fmt, fs,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

/// The service of the entries in the system's keyring.
const SERVICE: &str = "sluice";

/// A site that gives tokens to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// Hugging Face.
    HuggingFace,
    /// Civitai.
    Civitai,
}

impl Site {
    /// Both.
    pub const ALL: [Self; 2] = [Self::HuggingFace, Self::Civitai];

    /// The user of the entry in the system's keyring.
    fn user(self) -> &'static str {
        match self {
            Self::HuggingFace => "huggingface",
            Self::Civitai => "civitai",
        }
    }

    /// Where tokens are given from outside.
    fn variables(self) -> [&'static str; 2] {
        match self {
            Self::HuggingFace => ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"],
            Self::Civitai => ["CIVITAI_API_TOKEN", "CIVITAI_TOKEN"],
        }
    }
}

/// A secret that shows who asks.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The token in a text; `None` if it cannot be one.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_plain = !text.is_empty() && text.chars().all(|letter| letter.is_ascii_graphic());
        is_plain.then(|| Self(text.to_owned()))
    }

    /// For the header of a request.
    pub(super) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Where tokens come from. They are looked up when a server asks for the first time.
#[derive(Debug, Clone)]
pub struct Credentials {
    hub: Arc<OnceLock<Option<Token>>>,
    civitai: Arc<OnceLock<Option<Token>>>,
}

impl Credentials {
    /// No tokens.
    pub fn none() -> Self {
        Self::of(None)
    }

    /// This token for the hub, and no other.
    pub fn of(token: Option<Token>) -> Self {
        let known = |token: Option<Token>| Arc::new(OnceLock::<Option<Token>>::from(token));
        Self { hub: known(token), civitai: known(None) }
    }

    /// Those of this user: the variable `HF_TOKEN`, the system's keyring, and the file of Hugging Face's own program; for
    /// Civitai the variable `CIVITAI_API_TOKEN` and the keyring.
    pub fn of_user() -> Self {
        Self { hub: Arc::default(), civitai: Arc::default() }
    }

    /// The token for the hub. May wait for the keyring.
    pub(super) fn hub(&self) -> Option<&Token> {
        self.hub.get_or_init(|| of_user(Site::HuggingFace).or_else(from_file)).as_ref()
    }

    /// The token for Civitai. May wait for the keyring.
    pub(super) fn civitai(&self) -> Option<&Token> {
        self.civitai.get_or_init(|| of_user(Site::Civitai)).as_ref()
    }
}

/// The token in a variable, or in the keyring.
fn of_user(site: Site) -> Option<Token> {
    let variable = site.variables().iter().find_map(|name| Token::new(&env::var(name).ok()?));
    variable.or_else(|| kept(site))
}

/// The file in which `hf auth login` keeps a token.
fn from_file() -> Option<Token> {
    let path = match env::var_os("HF_TOKEN_PATH") {
        Some(path) => PathBuf::from(path),
        None => match env::var_os("HF_HOME") {
            Some(home) => PathBuf::from(home).join("token"),
            None => directories::BaseDirs::new()?.home_dir().join(".cache/huggingface/token"),
        },
    };
    Token::new(&fs::read_to_string(path).ok()?)
}

/// The token for a site in the system's keyring, if there is one.
pub fn kept(site: Site) -> Option<Token> {
    match keyring::Entry::new(SERVICE, site.user()) {
        Ok(entry) => read(&entry),
        Err(error) => {
            tracing::debug!(%error, "the system's keyring is not used");
            None
        }
    }
}

fn read(entry: &keyring::Entry) -> Option<Token> {
    match entry.get_password() {
        Ok(secret) => Token::new(&secret),
        Err(keyring::Error::NoEntry) => None,
        Err(error) => {
            tracing::debug!(%error, "the system's keyring is not used");
            None
        }
    }
}

/// Keeps a token for a site in the system's keyring, or removes it. May wait for the keyring.
///
/// # Errors
/// Says in words what is wrong, when there is no keyring or it refuses.
pub fn keep(site: Site, token: Option<&Token>) -> Result<(), String> {
    let entry = keyring::Entry::new(SERVICE, site.user());
    entry.and_then(|entry| write(&entry, token)).map_err(|error| in_words(site, error))
}

fn write(entry: &keyring::Entry, token: Option<&Token>) -> keyring::Result<()> {
    match token {
        Some(token) => entry.set_password(token.secret()),
        None => match entry.delete_credential() {
            Err(keyring::Error::NoEntry) => Ok(()),
            result => result,
        },
    }
}

fn in_words(site: Site, error: keyring::Error) -> String {
    match error {
        keyring::Error::NoDefaultStore
        | keyring::Error::NoStorageAccess(_)
        | keyring::Error::PlatformFailure(_) => match site {
            Site::HuggingFace => {
                "This system has no keyring. Set the variable HF_TOKEN instead, or sign in with `hf auth login`."
            }
            Site::Civitai => "This system has no keyring. Set the variable CIVITAI_API_TOKEN instead.",
        }
        .to_owned(),
        error => format!("The keyring refuses: {error}."),
    }
}

#[cfg(test)]
mod tests {
    use keyring_core::{Error, api::CredentialStoreApi as _, mock};

    use super::*;

    /// The entry in a keyring that is empty.
    fn entry() -> keyring::Entry {
        entry_of(&mock::Store::new().unwrap(), Site::HuggingFace)
    }

    fn entry_of(store: &mock::Store, site: Site) -> keyring::Entry {
        keyring::Entry { inner: store.build(SERVICE, site.user(), None).unwrap() }
    }

    /// The next step with the keyring fails.
    fn fails(entry: &keyring::Entry, error: Error) {
        entry.inner.as_any().downcast_ref::<mock::Cred>().unwrap().set_error(error);
    }

    #[test]
    fn a_token_is_kept_replaced_and_removed() {
        let (entry, token) = (entry(), |text: &str| Token::new(text).unwrap());
        assert_eq!(read(&entry), None);
        for secret in ["hf_first", "hf_second"] {
            write(&entry, Some(&token(secret))).unwrap();
            assert_eq!(read(&entry), Some(token(secret)));
        }
        for _ in 0..2 {
            write(&entry, None).unwrap();
            assert_eq!(read(&entry), None, "what is not there can be removed, too");
        }
        // Another program may have written something else.
        entry.set_password("two words").unwrap();
        assert_eq!(read(&entry), None);
    }

    #[test]
    fn each_site_has_an_entry_of_its_own() {
        let store = mock::Store::new().unwrap();
        let [hub, civitai] = Site::ALL.map(|site| entry_of(&store, site));
        let token = Token::new("civitai_secret").unwrap();
        write(&civitai, Some(&token)).unwrap();
        assert_eq!((read(&hub), read(&civitai)), (None, Some(token)));
        let why = in_words(Site::Civitai, Error::NoStorageAccess("it is locked".into()));
        assert!(why.ends_with("Set the variable CIVITAI_API_TOKEN instead."), "{why}");
    }

    #[test]
    fn a_keyring_that_fails_is_said_and_never_shows_the_token() {
        let (entry, token) = (entry(), Token::new("hf_secret").unwrap());
        write(&entry, Some(&token)).unwrap();
        let locked = || Error::NoStorageAccess("it is locked".into());
        fails(&entry, locked());
        assert_eq!(read(&entry), None);
        assert_eq!(read(&entry), Some(token.clone()), "once it is open again");
        for (error, expected) in [
            (locked(), "This system has no keyring. Set the variable HF_TOKEN"),
            (Error::TooLong("password".to_owned(), 5), "The keyring refuses: "),
        ] {
            fails(&entry, error);
            let words = in_words(Site::HuggingFace, write(&entry, Some(&token)).unwrap_err());
            assert!(words.starts_with(expected) && !words.contains("hf_secret"), "{words}");
        }
        fails(&entry, locked());
        write(&entry, None).unwrap_err();
        assert_eq!(read(&entry), Some(token), "it is still there");
    }

    #[test]
    fn a_token_is_never_shown() {
        let token = Token::new(" hf_secret\n").unwrap();
        assert_eq!(token.secret(), "hf_secret");
        let shown = format!("{token:?} {:?}", Credentials::of(Some(token.clone())));
        assert!(!shown.contains("secret"), "{shown}");
        for wrong in ["", "  ", "two words", "line\nbreak", "umläut"] {
            assert_eq!(Token::new(wrong), None, "{wrong}");
        }
    }
}
