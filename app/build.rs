//! Compresses the words of the window and the licences of the libraries for the program.

use std::process::ExitCode;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "window")]
    if let Err(error) = texts::compress() {
        eprintln!("cannot compress the words of the window and the licences: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[cfg(feature = "window")]
mod texts {
    use std::{
        env, fs,
        io::{self, Write},
        path::{Path, PathBuf},
    };

    use flate2::{Compression, write::GzEncoder};

    /// Writes `TAG.tar.gz` for each folder of `assets/languages`, and `libraries.txt.gz`.
    pub fn compress() -> io::Result<()> {
        let of_cargo = |name| PathBuf::from(env::var_os(name).unwrap_or_default());
        let (assets, out) = (of_cargo("CARGO_MANIFEST_DIR").join("../assets"), of_cargo("OUT_DIR"));
        let languages = assets.join("languages");
        for folder in sorted(&languages)? {
            let Some(tag) = folder.file_name().filter(|_| folder.is_dir()) else { continue };
            let bytes = archive(&folder)?;
            fs::write(out.join(tag).with_added_extension("tar.gz"), bytes)?;
        }
        let libraries = assets.join("licences/libraries.txt");
        let mut packed = packer();
        packed.write_all(&fs::read(&libraries)?)?;
        fs::write(out.join("libraries.txt.gz"), packed.finish()?)?;
        for path in [languages, libraries] {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        Ok(())
    }

    /// The texts of a folder in the order of their names, without their times: the same files give the same bytes.
    fn archive(folder: &Path) -> io::Result<Vec<u8>> {
        let mut archive = tar::Builder::new(packer());
        for path in sorted(folder)? {
            if path.extension().is_none_or(|extension| extension != "ftl") {
                continue;
            }
            let text = fs::read(&path)?;
            let mut header = tar::Header::new_ustar();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, path.file_name().unwrap_or_default(), text.as_slice())?;
        }
        archive.into_inner()?.finish()
    }

    fn packer() -> GzEncoder<Vec<u8>> {
        GzEncoder::new(Vec::new(), Compression::best())
    }

    fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
        let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    }
}
