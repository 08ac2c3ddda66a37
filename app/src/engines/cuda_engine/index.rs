//! The list of engines that `packaging/cuda/package` writes: archives, and the libraries of NVIDIA that they need.

use std::path::Path;

use serde::Deserialize;

use super::CudaEngineError;

/// The version whose engines are of use.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A list of engines of one version.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Index {
    /// The version.
    pub version: String,
    /// One archive for each compute capability.
    pub packages: Vec<Package>,
    /// NVIDIA's libraries that all of them need.
    pub libraries: Vec<Library>,
}

/// An archive with an engine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Package {
    /// Its name.
    pub file: String,
    /// The compute capability that it is built for, times ten. Later ones run it, too.
    pub capability: u32,
    /// Its size.
    pub bytes: u64,
    /// What it takes once it is unpacked.
    pub unpacked: u64,
    /// Its SHA-256 in lower case.
    pub sha256: String,
}

/// A wheel on PyPI with libraries of NVIDIA.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Library {
    /// The name of the package, such as `nvidia-cublas`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where it is on the server for files of PyPI.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256 in lower case.
    pub sha256: String,
    /// What the files take that are used.
    pub unpacked: u64,
    /// The files that are used, with their paths in the wheel.
    pub files: Vec<String>,
}

impl Package {
    /// Checks that a card of this compute capability runs it.
    ///
    /// # Errors
    /// If it is older.
    pub fn runs_on(&self, capability: u32) -> Result<(), CudaEngineError> {
        match self.capability <= capability {
            true => Ok(()),
            false => Err(CudaEngineError::TooOld {
                found: as_number(capability),
                least: as_number(self.capability),
            }),
        }
    }
}

impl Library {
    /// The name of its file.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

impl Index {
    /// The name of the list for this version.
    pub fn file_name() -> String {
        format!("sluice-cuda-{VERSION}.json")
    }

    /// Reads a list; `name` is what it is called.
    ///
    /// # Errors
    /// If it is none, or one for another version.
    pub fn read(name: &str, text: &[u8]) -> Result<Self, CudaEngineError> {
        let wrong =
            |reason: &str| CudaEngineError::Index { name: name.to_owned(), reason: reason.to_owned() };
        let index: Self = serde_json::from_slice(text).map_err(|error| wrong(&error.to_string()))?;
        let is_name = |file: &str| Path::new(file).file_name().is_some_and(|name| name == file);
        if !index.packages.iter().all(|package| is_name(&package.file)) {
            return Err(wrong("an archive has a name that is a path"));
        }
        let files = index.libraries.iter().flat_map(|library| &library.files);
        let ends_in_name = |path: &str| path.rsplit('/').next().is_some_and(is_name);
        if !index.libraries.iter().map(|library| &library.path).chain(files).all(|path| ends_in_name(path)) {
            return Err(wrong("a library has no name"));
        }
        match index.version == VERSION {
            true => Ok(index),
            false => Err(CudaEngineError::Version { found: index.version, own: VERSION.to_owned() }),
        }
    }

    /// The archive for a compute capability: the one for the latest that the card has.
    ///
    /// # Errors
    /// If the card is older than all of them.
    pub fn package_for(&self, capability: u32) -> Result<&Package, CudaEngineError> {
        let fitting = self.packages.iter().filter(|package| package.capability <= capability);
        fitting.max_by_key(|package| package.capability).ok_or_else(|| CudaEngineError::TooOld {
            found: as_number(capability),
            least: as_number(self.packages.iter().map(|package| package.capability).min().unwrap_or(0)),
        })
    }

    /// The archive of this name.
    ///
    /// # Errors
    /// If the list has none.
    pub fn package_named(&self, name: &str) -> Result<&Package, CudaEngineError> {
        let mut all = self.packages.iter();
        all.find(|package| package.file == name)
            .ok_or_else(|| CudaEngineError::NotListed { name: name.to_owned() })
    }
}

/// A compute capability as NVIDIA writes it: 8.6 for 86.
fn as_number(capability: u32) -> String {
    format!("{}.{}", capability / 10, capability % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(version: &str, file: &str) -> String {
        format!(
            r#"{{"version": "{version}", "libraries": [], "packages": [
                {{"file": "{file}", "capability": 75, "bytes": 1, "unpacked": 2, "sha256": "a"}},
                {{"file": "new", "capability": 80, "bytes": 1, "unpacked": 2, "sha256": "b"}}]}}"#
        )
    }

    #[test]
    fn a_card_gets_the_latest_build_that_it_can_run() {
        let index = Index::read("list", list(VERSION, "old").as_bytes()).unwrap();
        for (capability, file) in [(75, "old"), (80, "new"), (86, "new"), (120, "new")] {
            assert_eq!(index.package_for(capability).unwrap().file, file);
        }
        let error = index.package_for(61).unwrap_err().to_string();
        assert!(error.contains("6.1") && error.contains("7.5"), "{error}");
        assert!(matches!(index.package_named("other"), Err(CudaEngineError::NotListed { .. })));
    }

    #[test]
    fn lists_of_other_versions_and_names_that_are_paths_are_refused() {
        let other = Index::read("list", list("0.0.1", "old").as_bytes());
        assert!(matches!(other, Err(CudaEngineError::Version { .. })));
        let library = |path: &str| {
            let library = format!(
                r#""libraries": [{{"name": "a", "version": "1", "path": "{path}", "bytes": 1, "sha256": "a", "unpacked": 1,
                    "files": ["lib/a.so"]}}]"#
            );
            list(VERSION, "old").replace(r#""libraries": []"#, &library)
        };
        assert!(Index::read("list", library("packages/a.whl").as_bytes()).is_ok());
        let wrong_lists = [
            list(VERSION, "../old"),
            list(VERSION, "a/b"),
            "{}".to_owned(),
            library("packages/.."),
            library("packages/"),
        ];
        for wrong in wrong_lists {
            assert!(
                matches!(Index::read("list", wrong.as_bytes()), Err(CudaEngineError::Index { .. })),
                "{wrong}"
            );
        }
    }
}
