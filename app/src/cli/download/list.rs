//! The catalogue as a table or JSON, with how each model runs.

use anyhow::Context;
use serde_json::{Value, json};
use sluice_engine::{
    hardware::card,
    memory::{DeviceChoice, MemoryPreferences, PlanError},
    models::KnownDefaults,
    request::{PromptFolders, Request},
    session::{Defaults, PlanQuery},
};

use super::{
    super::{
        engine::Engine,
        exit::{Outcome, refuse},
        model_folders::ModelFolderArgs,
        table::{Align, table},
    },
    size,
};
use crate::{
    cli::stdout,
    downloads::{Listed, Version, catalogue},
    units,
};

/// Bytes of memory of a GPU, or of that of this machine; `None` if there is none.
pub(super) fn memory_of(id: Option<&str>) -> anyhow::Result<Option<u64>> {
    match id {
        Some(id) => Ok(card(id).map(|card| card.vram)),
        None => {
            let gpus = sluice_engine::hardware::Probe::new().sample().gpus;
            Ok(gpus.iter().map(|gpu| gpu.vram_total).max())
        }
    }
}

pub(super) fn run(id: Option<&str>, as_json: bool) -> anyhow::Result<Outcome> {
    let device = id.map_or(DeviceChoice::default(), |id| DeviceChoice::Simulated(id.to_owned()));
    let memory = MemoryPreferences { device, ..MemoryPreferences::default() };
    let vram = memory_of(id)?.unwrap_or(0);
    let engine = Engine::start(None, &ModelFolderArgs::none(), PromptFolders::default())?;
    let mut fits = Vec::new();
    for listed in &catalogue::catalogue().models {
        let wanted = match as_json {
            true => listed.versions.iter().collect(),
            false => Vec::from_iter(listed.version_for(vram)),
        };
        let mut of_versions = Vec::new();
        for version in wanted {
            let Some(fit) = fit(&engine, listed, version, &memory)? else { return Ok(Outcome::Cancelled) };
            of_versions.push(fit);
        }
        fits.push(of_versions);
    }
    let all = || catalogue::catalogue().models.iter().zip(&fits);
    if as_json {
        let all: Vec<Value> = all().map(|(listed, fit)| as_value(listed, fit, vram)).collect();
        let text = serde_json::to_string_pretty(&all).context("the list cannot be written as JSON")?;
        stdout::line(&text)?;
        return Ok(Outcome::Done);
    }
    let rows: Vec<[String; 6]> = all().map(|(listed, fit)| row(listed, fit, vram)).collect();
    let columns = [
        ("name", Align::Left),
        ("model", Align::Left),
        ("version", Align::Left),
        ("download", Align::Right),
        ("fit", Align::Left),
        ("licence", Align::Left),
    ];
    for line in table(columns, &rows) {
        stdout::line(&line)?;
    }
    let date = &catalogue::catalogue().date;
    stdout::line("")?;
    stdout::line(&format!(
        "Sizes as of {date}. The version is the smallest good choice here; --format chooses another one, and --json lists all. \
         A * means that conditions have to be accepted first."
    ))?;
    Ok(Outcome::Done)
}

/// How a version of a model runs, in words.
fn fit(
    engine: &Engine,
    listed: &Listed,
    version: &Version,
    memory: &MemoryPreferences,
) -> anyhow::Result<Option<String>> {
    let (Some(known), Some(subject)) = (listed.known, listed.subject(version)) else {
        return Ok(Some("not predicted".to_owned()));
    };
    let defaults = known.defaults().map_err(|error| refuse(error.to_string(), error.advice()))?;
    let KnownDefaults { width, height, frames, steps, guidance, modes, fills_in } = defaults;
    let defaults = Defaults { width, height, frames, steps, guidance, ..Defaults::default() };
    let request = defaults.given_to(Request::default()).with_needed_images(&modes, fills_in);
    let query = PlanQuery { id: 1, subject, request, memory: memory.clone() };
    let Some((forecast, _)) = engine.plan(query)? else { return Ok(None) };
    Ok(Some(match forecast.plan {
        Ok(plan) => {
            let how = if plan.streamed().is_some() { "runs, streamed" } else { "runs well" };
            format!("{how}, about {}", units::seconds(plan.seconds))
        }
        Err(PlanError::Device { needed, .. }) => format!("too big, needs {}", units::memory_needed(needed)),
        Err(PlanError::Host { needed, .. }) => {
            format!("too big, needs {} of RAM", units::memory_needed(needed))
        }
    }))
}

fn row(listed: &Listed, fits: &[String], vram: u64) -> [String; 6] {
    let version = listed.version_for(vram);
    let format = version.map_or_else(String::new, |version| {
        format!("{}{}", version.format, if version.is_gated { " *" } else { "" })
    });
    let bytes = size(version.and_then(|version| listed.bytes(version)));
    let licence = listed.licence.clone().unwrap_or_else(|| "see its page".to_owned());
    [listed.id.clone(), listed.name.clone(), format, bytes, fits.concat(), licence]
}

fn as_value(listed: &Listed, fits: &[String], vram: u64) -> Value {
    let chosen = listed.version_for(vram).map(|version| version.format.as_str());
    let versions = listed.versions.iter().zip(fits).map(|(version, fit)| {
        let files = version.files.iter().map(|file| {
            json!({ "source": file.wanted.source, "to": file.wanted.to, "bytes": file.wanted.bytes, "sha256": file.wanted.sha256 })
        });
        json!({
            "format": version.format, "bytes": listed.bytes(version), "gated": version.is_gated, "cards": version.cards,
            "fit": fit,
            "files": files.collect::<Vec<_>>(),
        })
    });
    json!({
        "id": listed.id, "name": listed.name, "repository": listed.repository, "licence": listed.licence,
        "chosen": chosen, "versions": versions.collect::<Vec<_>>(),
    })
}
