//! Jobs that must fail, each with its own message.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use sluice_engine::{
    request::{ModelSource, Request},
    session::{Command, Event, Failure, Job},
};

use crate::{
    checkpoint::{Fixture, Layout, Stored, load, save},
    original_names::Tensors,
    runner::{End, Runner},
};

fn write(layout: Layout) -> Result<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let model = folder.path().join("model");
    Fixture::new("z_image", "default").write(&model, layout, Stored::F32)?;
    Ok((folder, model))
}

fn request(model: &Path) -> Result<Request> {
    let own = Fixture::new("z_image", "default").run("guided")?.request(model);
    Ok(Request { width: 16, height: 16, steps: 1, ..own })
}

/// An engine and the messages of its failed jobs. All messages must differ, and the engine must still work
/// after each failure.
pub struct Failures {
    runner: Runner,
    healthy: Request,
    messages: BTreeMap<String, String>,
    _folder: tempfile::TempDir,
}

impl Failures {
    /// Starts an engine.
    pub fn new() -> Result<Self> {
        let (folder, model) = write(Layout::Diffusers)?;
        Ok(Self {
            runner: Runner::start()?,
            healthy: request(&model)?,
            messages: BTreeMap::new(),
            _folder: folder,
        })
    }

    /// A valid request.
    pub fn healthy(&self) -> Request {
        self.healthy.clone()
    }

    /// A job for a request, with a new id.
    pub fn new_job(&mut self, request: Request) -> Job {
        self.runner.job(request)
    }

    /// Runs a job that must fail with advice and with a message that contains all of `words`.
    pub fn job(&mut self, name: &str, job: Job, words: &[&str]) -> Result<Failure> {
        self.job_in(name, job, words, None)
    }

    /// [`Failures::job`] on a model in `folder`, whose random name does not make messages different.
    fn job_in(&mut self, name: &str, job: Job, words: &[&str], folder: Option<&Path>) -> Result<Failure> {
        let failure = self.runner.run(job)?.failure().with_context(|| name.to_owned())?;
        println!("{name}: {} | {}", failure.message, failure.advice.as_deref().unwrap_or("-"));
        for word in words {
            ensure!(failure.message.contains(word), "{name}: {word:?} is not in {:?}", failure.message);
        }
        let advice = failure.advice.as_deref().unwrap_or_default();
        ensure!(advice.len() > 10, "{name}: no advice with {:?}", failure.message);
        ensure!(!failure.message.contains("internal error"), "{name}: the engine panicked");
        ensure!(!advice.contains("report"), "{name}: {:?} blames the engine: {advice:?}", failure.message);
        let folder = folder.map(|folder| folder.display().to_string()).unwrap_or_default();
        let general =
            if folder.is_empty() { failure.message.clone() } else { failure.message.replace(&folder, "") };
        if let Some(other) = self.messages.insert(general, name.to_owned()) {
            bail!("{name} and {other} have the same message: {:?}", failure.message);
        }
        let next = self.runner.job(self.healthy());
        let outcome = self.runner.run(next)?;
        ensure!(matches!(outcome.end, End::Finished(_)), "after {name}: {:?}", outcome.end);
        Ok(failure)
    }

    /// Damages a checkpoint, then opens and runs what `spoil` returns.
    pub fn model(
        &mut self,
        name: &str,
        layout: Layout,
        spoil: impl FnOnce(&Path) -> PathBuf,
        words: &[&str],
    ) -> Result<()> {
        self.spoiled(name, layout, |model| Ok(spoil(model)), words)
    }

    fn spoiled(
        &mut self,
        name: &str,
        layout: Layout,
        spoil: impl FnOnce(&Path) -> Result<PathBuf>,
        words: &[&str],
    ) -> Result<()> {
        let (folder, model) = write(layout)?;
        let path = spoil(&model)?;
        self.runner.send(Command::Load { model: ModelSource::Path(path.clone()) })?;
        let described = self.runner.event()?;
        let job = self.runner.job(request(&path)?);
        let failure = self.job_in(name, job, words, Some(folder.path()))?;
        match described {
            Event::NotLoaded { failure: seen, .. } => {
                ensure!(seen == failure, "{name}: {seen:?} when opened, {failure:?} when run");
            }
            // Some errors show only during the computation.
            Event::ModelLoaded(_) => {}
            other => bail!("{name}: {other:?}"),
        }
        Ok(())
    }

    /// Damages one file of a diffusers folder.
    pub fn file(&mut self, name: &str, file: &str, spoil: impl FnOnce(&Path), words: &[&str]) -> Result<()> {
        let spoil = |model: &Path| {
            spoil(&model.join(file));
            Ok(model.to_owned())
        };
        self.spoiled(name, Layout::Diffusers, spoil, words)
    }

    /// Changes the tensors of one weight file.
    pub fn tensors(
        &mut self,
        name: &str,
        file: &str,
        change: impl FnOnce(&mut Tensors),
        words: &[&str],
    ) -> Result<()> {
        let spoil = |model: &Path| {
            let path = model.join(file);
            let mut tensors = load(&path)?;
            change(&mut tensors);
            save(&tensors, &path)?;
            Ok(model.to_owned())
        };
        self.spoiled(name, Layout::Diffusers, spoil, words)
    }
}

/// Writes a safetensors file with this header and `data` bytes of zeros.
pub fn write_header(path: &Path, header: &str, data: usize) -> Result<()> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(bytes.len() + data, 0);
    Ok(fs::write(path, bytes)?)
}
