//! Compares whole runs with diffusers, through the session, stage by stage.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use candle_core::{DType, Tensor};
use sluice_engine::output::Image;

use crate::{
    checkpoint::{Fixture, Layout, Run, Stored},
    golden::{MODULE, WHOLE_RUN, compare, distance, ids},
    original_names::Tensors,
    runner::Runner,
};

/// The tolerance for a tensor of a run.
fn tolerance(name: &str) -> f64 {
    match name {
        "latents.init" => 0.0,
        name if name.starts_with("refiner.encode_prompt.") => MODULE,
        // One rounding of a value between −1 and 1.
        "vae.encode.0.in" | "vae.encode.1.in" => 2e-7,
        name if ["encode_prompt.", "transformer.0.out.", "unet.0.out."]
            .iter()
            .any(|of| name.starts_with(of)) =>
        {
            MODULE
        }
        _ => WHOLE_RUN,
    }
}

/// Repeats all runs of a case, and compares their tensors and images.
pub fn check_case(family: &str, case: &str) -> Result<()> {
    check_runs(family, case, |_| true)
}

/// Repeats the runs of a case whose names are `chosen`.
pub fn check_runs(family: &str, case: &str, chosen: impl Fn(&str) -> bool) -> Result<()> {
    let (fixture, folder) = (Fixture::new(family, case), tempfile::tempdir()?);
    let model = fixture.write_diffusers(folder.path())?;
    let mut runner = Runner::start()?;
    for run in fixture.runs()?.iter().filter(|run| chosen(&run.name())) {
        run.write_beside(&model)?;
        check_run(&mut runner, run, &model)?;
    }
    Ok(())
}

/// Repeats one run, with its refiner if it has one, and compares its tensors and images.
pub fn check_run(runner: &mut Runner, run: &Run, model: &Path) -> Result<()> {
    let (pictures, dump) = runner.repeat(run, model)?;
    check(run, &dump)?;
    let frames: Vec<&Image> = pictures.iter().flat_map(|picture| picture.media.frames()).collect();
    let output = &dump["output"];
    if output.rank() == 5 {
        return check_pixels(&output.transpose(1, 2)?.flatten(0, 1)?, &frames);
    }
    check_pixels(output, &frames)
}

fn check(run: &Run, dump: &Tensors) -> Result<()> {
    let golden = run.golden()?;
    let mut wrong = Vec::new();
    for name in golden.keys() {
        let found = if name.ends_with(".input_ids") {
            let found = dump.get(name).with_context(|| format!("{name} is missing"))?;
            ensure!(ids(found)? == ids(&golden[name])?, "{} {name}: other ids", run.name());
            continue;
        } else if name.ends_with(".in.t") {
            continue; // Not in the dump; the outputs depend on it.
        } else if name.contains("scheduler.") {
            // In diffusers, Heun's method counts intermediate levels twice.
            distance(name, &without_repeats(&golden[name])?, &dump[name], MODULE)
        } else {
            compare(name, &golden, dump, tolerance(name))
        };
        match found {
            Ok(distance) => println!("{} {name}: {distance:.1e}", run.name()),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    ensure!(wrong.is_empty(), "{}\n{}", run.name(), wrong.join("\n"));
    for name in ["encode_prompt.0.1.0", "text_encoder.1.input_ids", "transformer.0.out.0.1"] {
        // An empty negative prompt may be encoded where the reference uses zeros.
        let tolerated = name == "text_encoder.1.input_ids" && golden.contains_key("encode_prompt.0.1.0");
        // The embeddings of long prompts are not kept.
        let left_out = name == "encode_prompt.0.1.0"
            && golden.contains_key("text_encoder.1.input_ids")
            && !golden.contains_key("encode_prompt.0.0.0");
        let expected = golden.contains_key(name) || tolerated || left_out;
        ensure!(dump.contains_key(name) == expected, "{}: {name} is there only with guidance", run.name());
    }
    Ok(())
}

fn without_repeats(levels: &Tensor) -> Result<Tensor> {
    let mut values: Vec<f32> = levels.to_dtype(DType::F32)?.to_vec1()?;
    values.dedup();
    Ok(Tensor::new(values.as_slice(), levels.device())?)
}

/// Checks that the images are the floats of `output`, rounded.
fn check_pixels(output: &Tensor, images: &[&Image]) -> Result<()> {
    let (batch, _, height, width) = output.dims4()?;
    ensure!(images.len() == batch, "{} images of {batch}", images.len());
    for (index, image) in images.iter().enumerate() {
        ensure!((image.width as usize, image.height as usize) == (width, height), "another size");
        let rows = over_white(&output.get(index)?)?.permute((1, 2, 0))?.flatten_all()?.to_vec1::<f32>()?;
        let expected: Vec<u8> = rows.iter().map(|value| (value * 255.0).round_ties_even() as u8).collect();
        ensure!(expected == image.pixels, "image {index} differs from `output`");
    }
    Ok(())
}

/// Colours `[3, height, width]` in 0…1; those that have an opacity as a fourth channel over white.
fn over_white(image: &Tensor) -> Result<Tensor> {
    if image.dim(0)? == 3 {
        return Ok(image.clone());
    }
    let (colours, opacity) = (image.narrow(0, 0, 3)?, image.narrow(0, 3, 1)?);
    Ok(colours.broadcast_mul(&opacity)?.broadcast_add(&opacity.affine(-1.0, 1.0)?)?)
}

/// Repeats a run with the same weights in every layout; all tensors must be bit-identical.
pub fn check_layouts(fixture: &Fixture, run: &Run) -> Result<()> {
    check_layouts_of(fixture, run, |_| Ok(()))
}

/// The same for folders with configurations that are changed.
pub fn check_layouts_of(fixture: &Fixture, run: &Run, configure: impl Fn(&Path) -> Result<()>) -> Result<()> {
    let mut runner = Runner::start()?;
    let mut dump_of = |layout| {
        let folder = tempfile::tempdir()?;
        let model = fixture.write(folder.path(), layout, Stored::F32)?;
        if matches!(layout, Layout::Diffusers | Layout::Sharded | Layout::Variant) {
            configure(&model)?;
        }
        runner.repeat(run, &model)
    };
    let (pictures, expected) = dump_of(Layout::Diffusers)?;
    for layout in [Layout::Sharded, Layout::Variant, Layout::Split, Layout::SplitPrefixed, Layout::Single] {
        let (others, dump) = dump_of(layout)?;
        ensure!(pictures.iter().zip(&others).all(|(a, b)| a.media == b.media), "{layout:?}: other pixels");
        ensure!(dump.len() == expected.len(), "{layout:?}: other tensors");
        for (name, tensor) in &expected {
            distance(name, &tensor.to_dtype(DType::F64)?, &dump[name], 0.0)
                .with_context(|| format!("{layout:?}"))?;
        }
    }
    Ok(())
}
