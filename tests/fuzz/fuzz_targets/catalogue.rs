//! Catalogues of models: what is offered, for which cards, and where its files go.
#![no_main]

use std::path::Path;

use sluice::downloads::{CLASSES, Listed, Version, catalogue::read};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(catalogue) = read(text) else { return };
    for listed in &catalogue.models {
        assert!(catalogue.find(&listed.id).is_some(), "a model is not found by its identifier");
        let _ = (catalogue.other_half(&listed.repository), listed.link());
        for class in CLASSES {
            let version = listed.version_for(u64::from(class) << 30);
            assert_eq!(version.is_some(), !listed.versions.is_empty(), "a card has no version");
        }
        for version in &listed.versions {
            assert!(listed.version(&version.format).is_some(), "a version is not found by its format");
            look(listed, version);
        }
    }
});

fn look(listed: &Listed, version: &Version) {
    let folder = Path::new("downloads");
    let _ = (listed.bytes(version), listed.subject(version));
    for wanted in listed.order(version, folder.to_owned()).iter().flat_map(|order| &order.files) {
        let Ok(target) = wanted.target(folder) else { continue };
        assert!(target.starts_with(folder) && target != folder, "a file leaves its folder");
    }
}
