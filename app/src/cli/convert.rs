//! `sluice convert`: stores a model's weights in another format.

use std::{fs, path::PathBuf};

use sluice_tools::{Conversion, ConvertTo, convert};

use super::{
    exit::{self, Outcome, refuse},
    names::named,
    progress::tenths,
    stdout,
    table::{Align, table},
    units,
};

const EXAMPLES: &str = "\
Examples:
  sluice convert z_image_bf16.safetensors z_image-Q8_0.gguf --type q8_0
  sluice convert ~/models/z-image/transformer z_image_fp8.safetensors --type fp8";

/// Store weights in another format.
///
/// Matrices become smaller; norms, biases, embeddings and what modulates stay as they are. The weights pass through
/// memory piece by piece, so that a file of any size can be converted.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A file of weights, or the folder of a component.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; an existing one is replaced.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The format: q8_0 and q4_k make a GGUF file, the others a safetensors file.
    #[arg(long = "type", value_name = "NAME", value_parser = named(&ConvertTo::ALL, ConvertTo::name))]
    to: ConvertTo,
    /// Shows no progress.
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let extension = if args.to.is_gguf() { "gguf" } else { "safetensors" };
    if args.output.extension().is_none_or(|own| !own.eq_ignore_ascii_case(extension)) {
        let message = format!("{} is no name for {} weights", args.output.display(), args.to.name());
        return Err(refuse(message, format!("Choose a name that ends in .{extension}.")));
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

/// A row for each format that was written, and one for the file.
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
                if error == 0.0 { "none".to_owned() } else { format!("{:.3} %", error * 100.0) },
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
