//! A model as text: its family, its components, their blocks.

use std::path::PathBuf;

use sluice_engine::{
    precision::Storage,
    session::{BlockSummary, ComponentSummary, ModelSummary, PrecisionSummary},
    units,
};

use crate::cli::table::{Align, table};

pub(super) fn describe(summary: &ModelSummary, every_block: bool) -> String {
    let ModelSummary { name, family, family_name, layout, components, size_multiple, defaults, .. } = summary;
    let mut lines = vec![
        name.clone(),
        format!("  family  {family_name} ({family})"),
        format!("  layout  {layout}"),
        format!(
            "  default {}×{}, {}, guidance {} (sizes are multiples of {size_multiple})",
            defaults.width,
            defaults.height,
            units::counted(defaults.steps as usize, "step"),
            defaults.guidance
        ),
        String::new(),
    ];
    lines.extend(component_table(components));
    for component in components {
        let (role, blocks) = (role_name(component), units::counted(component.blocks.len(), "block"));
        lines.push(String::new());
        let from = from_files(&component.files);
        lines.push(format!("{role}: {blocks}{from}"));
        lines.extend(block_table(&component.blocks, every_block).into_iter().map(|line| format!("  {line}")));
    }
    lines.join("\n")
}

/// The role of a component for display: `text encoder`.
fn role_name(component: &ComponentSummary) -> String {
    component.role.to_string()
}

fn component_table(components: &[ComponentSummary]) -> Vec<String> {
    let mut rows: Vec<_> = components
        .iter()
        .map(|component| {
            [
                role_name(component),
                component.architecture.clone(),
                units::count(component.parameters),
                units::bytes(component.bytes),
                stored_as(component),
            ]
        })
        .collect();
    let parameters = components.iter().map(|component| component.parameters).sum();
    let bytes = components.iter().map(|component| component.bytes).sum();
    rows.push([
        "all".to_owned(),
        String::new(),
        units::count(parameters),
        units::bytes(bytes),
        String::new(),
    ]);
    let columns = [
        ("component", Align::Left),
        ("architecture", Align::Left),
        ("parameters", Align::Right),
        ("size", Align::Right),
        ("stored as", Align::Left),
    ];
    table(columns, &rows)
}

fn from_files(files: &[PathBuf]) -> String {
    match files {
        [] => String::new(),
        [file] => format!(" from {}", file.display()),
        [first, others @ ..] => format!(" from {} and {} more", first.display(), others.len()),
    }
}

fn stored_as(component: &ComponentSummary) -> String {
    let dtypes: Vec<_> = component.dtypes.iter().collect();
    match dtypes.as_slice() {
        [(dtype, _)] => (*dtype).clone(),
        dtypes => {
            let parts = dtypes.iter().map(|(dtype, bytes)| format!("{dtype} {}", units::bytes(**bytes)));
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

/// A row for each weight type of each component.
pub(super) fn precision_table(precisions: &[PrecisionSummary]) -> Vec<String> {
    let row = |summary: &PrecisionSummary| {
        let error = if summary.storage == Storage::Stored {
            "none".to_owned()
        } else {
            units::percent(summary.error)
        };
        [
            summary.role.to_string(),
            summary.architecture.clone(),
            summary.storage.name().to_owned(),
            units::bytes(summary.bytes),
            error,
        ]
    };
    let columns = [
        ("component", Align::Left),
        ("architecture", Align::Left),
        ("type", Align::Left),
        ("size", Align::Right),
        ("error", Align::Right),
    ];
    table(columns, &precisions.iter().map(row).collect::<Vec<_>>())
}

/// The list that a block such as `layers.3` belongs to.
fn list(block: &str) -> &str {
    block.rsplit_once('.').map_or(block, |(list, _)| list)
}

fn block_table(blocks: &[BlockSummary], every_block: bool) -> Vec<String> {
    let alike = |one: &BlockSummary, next: &BlockSummary| {
        !every_block
            && list(&one.name) == list(&next.name)
            && (one.tensors, one.parameters, one.bytes) == (next.tensors, next.parameters, next.bytes)
    };
    let rows: Vec<_> = blocks
        .chunk_by(alike)
        .filter_map(|run| Some((run.first()?, run.last()?, run.len())))
        .map(|(first, last, count)| {
            let (name, each) = match count {
                1 => (first.name.clone(), ""),
                _ => (format!("{} … {} ({count} blocks)", first.name, last.name), "each"),
            };
            [
                name,
                first.tensors.to_string(),
                units::count(first.parameters),
                units::bytes(first.bytes),
                each.to_owned(),
            ]
        })
        .collect();
    let columns = [
        ("block", Align::Left),
        ("tensors", Align::Right),
        ("parameters", Align::Right),
        ("size", Align::Right),
        ("", Align::Left),
    ];
    table(columns, &rows)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sluice_engine::{checkpoint::Role, request::ModelSource, session::Defaults};

    use super::*;

    fn block(name: &str, bytes: u64) -> BlockSummary {
        BlockSummary { name: name.to_owned(), tensors: 3, parameters: bytes / 2, bytes }
    }

    fn summary() -> ModelSummary {
        let denoiser = ComponentSummary {
            name: "denoiser".to_owned(),
            role: Role::Denoiser,
            architecture: "Z-Image".to_owned(),
            parameters: 6_154_908_736,
            bytes: 12_309_866_400,
            dtypes: BTreeMap::from([("bf16".to_owned(), 12_309_866_000), ("f32".to_owned(), 400)]),
            blocks: vec![
                block("stem", 1 << 20),
                block("refiner.0", 1 << 28),
                block("layers.0", 1 << 28),
                block("layers.1", 1 << 28),
            ],
            files: Vec::new(),
        };
        let autoencoder = ComponentSummary {
            name: "autoencoder".to_owned(),
            role: Role::Autoencoder,
            architecture: "AutoencoderKL".to_owned(),
            parameters: 83_819_683,
            bytes: 167_639_366,
            dtypes: BTreeMap::from([("bf16".to_owned(), 167_639_366)]),
            blocks: vec![block("decoder", 99)],
            files: Vec::new(),
        };
        ModelSummary {
            source: ModelSource::Starter,
            name: "Example".to_owned(),
            family: "z_image".to_owned(),
            family_name: "Z-Image".to_owned(),
            layout: "a diffusers folder".to_owned(),
            components: vec![denoiser, autoencoder],
            size_multiple: 16,
            longest_side: 16_384,
            defaults: Defaults { width: 1024, height: 768, steps: 8, guidance: 0.0, ..Defaults::default() },
            examples: Vec::new(),
            reads_clip_skip: false,
            reads_true_cfg: false,
            shift: None,
            takes_refiner: false,
            takes_redux: false,
            takes_control_nets: false,
            takes_ip_adapters: false,
            maps: None,
            control_modes: Vec::new(),
            frame_multiple: None,
            modes: Vec::new(),
            references: None,
            overlap: None,
            fills_in: false,
        }
    }

    #[test]
    fn blocks_that_are_alike_share_a_line() {
        let expected = "\
Example
  family  Z-Image (z_image)
  layout  a diffusers folder
  default 1024×768, 8 steps, guidance 0 (sizes are multiples of 16)

component    architecture   parameters      size  stored as
denoiser     Z-Image            6.15 B  11.5 GiB  bf16 11.5 GiB, f32 400 B
autoencoder  AutoencoderKL      83.8 M   160 MiB  bf16
all                             6.24 B  11.6 GiB

denoiser: 4 blocks
  block                           tensors  parameters      size
  stem                                  3       524 k  1.00 MiB
  refiner.0                             3       134 M   256 MiB
  layers.0 … layers.1 (2 blocks)        3       134 M   256 MiB  each

autoencoder: 1 block
  block    tensors  parameters  size
  decoder        3          49  99 B";
        assert_eq!(describe(&summary(), false), expected);
    }

    #[test]
    fn precisions_have_a_row_each() {
        let row = |storage, bytes, error| PrecisionSummary {
            role: Role::Denoiser,
            architecture: "Z-Image".to_owned(),
            storage,
            bytes,
            error,
        };
        let rows = [row(Storage::Stored, 1 << 30, 0.0), row(Storage::Fp8, 1 << 29, 0.0263)];
        let expected = "\
component  architecture  type        size  error
denoiser   Z-Image       stored  1.00 GiB   none
denoiser   Z-Image       fp8      512 MiB   2.6%";
        assert_eq!(precision_table(&rows).join("\n"), expected);
    }

    #[test]
    fn every_block_can_be_listed() {
        let text = describe(&summary(), true);
        assert!(
            text.contains("\n  layers.0 ") && text.contains("\n  layers.1 ") && !text.contains('…'),
            "{text}"
        );
    }
}
