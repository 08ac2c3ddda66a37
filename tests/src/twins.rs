//! Models with the same values, stored in different ways.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use candle_core::{DType, Tensor};

use crate::{
    checkpoint::{Fixture, Layout, Run, Stored, load, save},
    golden::{WHOLE_RUN, compare},
    original_names::Tensors,
    packed::{Packaged, ScaleNames, widened, write_safetensors},
    runner::Runner,
};

/// The bits of a tensor's values in f32.
pub fn bits(tensor: &Tensor) -> Vec<u32> {
    let values = tensor.to_dtype(DType::F32).and_then(|tensor| tensor.flatten_all()?.to_vec1::<f32>());
    values.unwrap_or_default().into_iter().map(f32::to_bits).collect()
}

/// Repeats a run with both; all tensors and images must be bit-identical.
pub fn check_twins(name: &str, run: &Run, packed: &Path, wide: &Path) -> Result<()> {
    let mut runner = Runner::start()?;
    let (pictures, dump) = runner.repeat(run, packed)?;
    let (others, expected) = runner.repeat(run, wide)?;
    ensure!(dump.len() == expected.len(), "{name}: other tensors");
    for (tensor, want) in &expected {
        let same = dump[tensor].dims() == want.dims() && bits(&dump[tensor]) == bits(want);
        ensure!(same, "{name}: {tensor} differs");
    }
    ensure!(pictures.iter().zip(&others).all(|(a, b)| a.media == b.media), "{name}: other pixels");
    Ok(())
}

/// Repeats a run with both; all tensors must be as near as those of whole runs. Rotated weights are computed with in
/// another order than widened ones.
pub fn check_near_twins(name: &str, run: &Run, packed: &Path, wide: &Path) -> Result<()> {
    let mut runner = Runner::start()?;
    let [dump, expected] = [packed, wide].map(|model| runner.repeat(run, model).map(|(_, dump)| dump));
    let (dump, expected) = (dump?, expected?);
    ensure!(dump.len() == expected.len(), "{name}: other tensors");
    for tensor in expected.keys() {
        compare(tensor, &expected, &dump, WHOLE_RUN).with_context(|| name.to_owned())?;
    }
    Ok(())
}

/// The split files of a fixture. The `files` are left to `write`, which gets the tensors of each.
pub fn with_files(
    fixture: &Fixture,
    folder: &Path,
    files: &[&str],
    write: impl Fn(&Path, &str, &Tensors) -> Result<()>,
) -> Result<PathBuf> {
    let model = fixture.write(folder, Layout::Split, Stored::F32)?;
    for file in files {
        let path = model.join(format!("{file}.safetensors"));
        let tensors = load(&path)?;
        fs::remove_file(&path)?;
        write(&model, file, &tensors)?;
    }
    Ok(model)
}

/// Compares a run of a fixture with `files` of its split layout as `pack` packs and `write` writes them, and with their
/// values in f32.
pub fn check_files(
    name: &str,
    (fixture, run): (&Fixture, &str),
    files: &[&str],
    pack: impl Fn(&str, &Tensors) -> Packaged,
    write: impl Fn(&Path, &str, &Packaged) -> Result<()>,
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let packed = with_files(fixture, &folder.path().join("packed"), files, |model, file, tensors| {
        write(model, file, &pack(file, tensors))
    })?;
    let wide = with_files(fixture, &folder.path().join("wide"), files, |model, file, tensors| {
        save(&widened(&pack(file, tensors))?, &model.join(format!("{file}.safetensors")))
    })?;
    check_twins(name, &fixture.run(run)?, &packed, &wide)
}

/// Writes files in safetensors, with scales under these names.
pub fn as_safetensors(names: ScaleNames) -> impl Fn(&Path, &str, &Packaged) -> Result<()> {
    move |model, file, tensors| write_safetensors(&model.join(format!("{file}.safetensors")), tensors, names)
}
