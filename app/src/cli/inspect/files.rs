//! Files as text: a single one, or a table of many.

use std::path::Path;

use sluice_engine::{
    models::{Content, Finding, Inventory, Item},
    units,
};

use crate::cli::table::{Align, table};

/// A file that is not a whole model.
pub(super) fn describe(path: &Path, content: &Content) -> String {
    let Content { what, format, parameters, bytes, .. } = content;
    let name =
        path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
    [
        name,
        format!("  what       {what}"),
        format!("  format     {format}"),
        format!("  weights    {}", units::count(*parameters)),
        format!("  stored as  {}", content.stored_as()),
        format!("  size       {}", units::bytes(*bytes)),
    ]
    .join("\n")
}

/// A row for each file.
pub(super) fn list(folder: &Path, inventory: &Inventory) -> String {
    let rows: Vec<_> = inventory
        .items
        .iter()
        .map(|item| {
            let path = item.path.strip_prefix(folder).unwrap_or(&item.path).display().to_string();
            match &item.content {
                Finding::Content(content) => [
                    path,
                    what(item, content, folder),
                    content.format.clone(),
                    content.stored_as(),
                    units::bytes(content.bytes),
                ],
                Finding::Error(error) => {
                    [path, format!("cannot be used: {error}"), String::new(), String::new(), String::new()]
                }
            }
        })
        .collect();
    let columns = [
        ("file", Align::Left),
        ("what it is", Align::Left),
        ("format", Align::Left),
        ("stored as", Align::Left),
        ("size", Align::Right),
    ];
    let mut lines = table(columns, &rows);
    if inventory.others > 0 {
        let files = if inventory.others == 1 { "file is not a model" } else { "files are not models" };
        lines.push(String::new());
        lines.push(format!("{} other {files}", inventory.others));
    }
    lines.join("\n")
}

/// What a file is, and what it has to do with another one.
fn what(item: &Item, content: &Content, folder: &Path) -> String {
    let within = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    match (&item.same_as, &item.half_of) {
        (Some(other), _) => format!("{}, same as {}", content.what, within(other)),
        (None, Some(high)) => format!("{}, used with {}", content.what, within(high)),
        (None, None) => content.what.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sluice_engine::{
        checkpoint::Role,
        models::{About, Kind},
    };

    use super::*;

    fn content() -> Content {
        Content {
            sees_images: false,
            maps: None,
            what: "FLUX.1 denoiser".to_owned(),
            kind: Kind::Model,
            family: Some("FLUX.1".to_owned()),
            roles: vec![Role::Denoiser],
            modes: Vec::new(),
            format: "GGUF".to_owned(),
            parameters: 11_901_408_320,
            bytes: 6_806_000_000,
            dtypes: [("Q4_K", 6_000), ("F32", 10), ("Q6_K", 800)]
                .map(|(name, bytes)| (name.to_owned(), bytes))
                .into(),
        }
    }

    #[test]
    fn a_file_is_described() {
        let expected = "\
flux1-dev-Q4_K_S.gguf
  what       FLUX.1 denoiser
  format     GGUF
  weights    11.9 B
  stored as  Q4_K, Q6_K
  size       6.34 GiB";
        assert_eq!(describe(Path::new("models/flux1-dev-Q4_K_S.gguf"), &content()), expected);
        let nothing = Content { dtypes: BTreeMap::new(), ..content() };
        assert!(describe(Path::new("a"), &nothing).contains("stored as"));
    }

    #[test]
    fn files_are_listed() {
        let item = |path: &str, content, same_as: Option<&str>| Item {
            path: path.into(),
            name: path.to_owned(),
            content,
            about: About::default(),
            same_as: same_as.map(Into::into),
            half_of: None,
        };
        let inventory = Inventory {
            items: vec![
                item("m/unet/a.gguf", Finding::Content(content()), None),
                item("m/b.ckpt", Finding::Error("it is a pickle".to_owned()), None),
                item("m/unet/c.gguf", Finding::Content(content()), Some("m/unet/a.gguf")),
            ],
            others: 1,
        };
        let expected = "\
file         what it is                            format  stored as       size
unet/a.gguf  FLUX.1 denoiser                       GGUF    Q4_K, Q6_K  6.34 GiB
b.ckpt       cannot be used: it is a pickle
unet/c.gguf  FLUX.1 denoiser, same as unet/a.gguf  GGUF    Q4_K, Q6_K  6.34 GiB

1 other file is not a model";
        assert_eq!(list(Path::new("m"), &inventory), expected);
    }
}
