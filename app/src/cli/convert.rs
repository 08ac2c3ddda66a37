//! `sluice convert`: converts a model's weights to another format.

use std::{fs, path::PathBuf};

use sluice_engine::units;
use sluice_tools::{Conversion, ConvertTo, convert};

use super::{
    exit::{self, Outcome, refuse},
    names::named,
    progress::tenths,
    stdout,
    table::{Align, table},
};

const EXAMPLES: &str = "\
Examples:
  sluice convert z_image_bf16.safetensors z_image-Q8_0.gguf --type q8_0
  sluice convert ~/models/z-image/transformer z_image_fp8.safetensors --type fp8";

/// Convert weights to another format.
///
/// Only matrices become smaller: norms, biases, embeddings and modulation layers keep their type. Weights are converted
/// in small pieces, so this needs little memory for files of any size.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A file with weights, or the folder of a component.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; an existing one is replaced.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The format: q8_0 and q4_k write a GGUF file, the others a safetensors file.
    #[arg(long = "type", value_name = "NAME", value_parser = named(&ConvertTo::ALL, ConvertTo::name))]
    to: ConvertTo,
    /// Do not show progress.
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let extension = if args.to.is_gguf() { "gguf" } else { "safetensors" };
    if args.output.extension().is_none_or(|own| !own.eq_ignore_ascii_case(extension)) {
        let message =
            format!("{} must end in .{extension} for {} weights", args.output.display(), args.to.name());
        return Err(refuse(message, format!("Choose a file name that ends in .{extension}.")));
    }
    let interrupts = exit::interrupts()?;
    let mut told = tenths(args.quiet);
    let conversion = convert(&args.input, &args.output, args.to, |part| {
        told(part);
        interrupts.is_empty()
    });
    match conversion.map_err(|error| refuse(error.to_string(), error.advice()))? {
        None => Ok(Outcome::Cancelled),
        Some(conversion) => {
            let size = fs::metadata(&args.output).map_or(0, |metadata| metadata.len());
            stdout::line(&describe(&conversion, size))?;
            Ok(Outcome::Done)
        }
    }
}

/// A row for each format that was written, and one for the whole file.
fn describe(conversion: &Conversion, size: u64) -> String {
    let mut rows: Vec<_> = conversion
        .iter()
        .map(|(format, share)| {
            let error = share.error();
            [
                format.name().to_owned(),
                share.tensors.to_string(),
                units::count(share.weights),
                units::bytes(share.before),
                units::bytes(share.after),
                if error == 0.0 { "none".to_owned() } else { units::percent(error) },
            ]
        })
        .collect();
    rows.push([
        "file".to_owned(),
        conversion.values().map(|share| share.tensors).sum::<usize>().to_string(),
        units::count(conversion.values().map(|share| share.weights).sum()),
        units::bytes(conversion.values().map(|share| share.before).sum()),
        units::bytes(size),
        String::new(),
    ]);
    let columns = [
        ("stored as", Align::Left),
        ("tensors", Align::Right),
        ("weights", Align::Right),
        ("before", Align::Right),
        ("after", Align::Right),
        ("error", Align::Right),
    ];
    table(columns, &rows).join("\n")
}
