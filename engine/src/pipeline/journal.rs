//! Saves what a run has computed to disk, so that the run can resume if its process dies.
//!
//! The journal holds the directions that the denoiser predicted, in order. A resumed run starts at the first
//! step and takes the predictions from the journal, so that every sampler reaches exactly the state that it
//! was in.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufReader, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use candle_core::{DType, Device, Tensor};
use serde::{Deserialize, Serialize};

use super::PipelineError;
use crate::{
    checkpoint::FileStamp,
    hardware::unmetered,
    models::Model,
    request::Request,
    wire::{WireError, read_record, write_record},
};

#[derive(Serialize, Deserialize)]
enum Record {
    /// Identifies the run by everything that affects its result.
    Run { key: String },
    /// A predicted direction, f32 in little-endian bytes.
    Prediction {
        sigma: f32,
        shape: Vec<usize>,
        #[serde(with = "serde_bytes")]
        values: Vec<u8>,
    },
    /// An image of the batch was written.
    Saved { index: u32, path: PathBuf },
}

/// The journal of one run, or an empty one that records nothing.
#[derive(Debug, Default)]
pub struct Journal {
    file: Option<File>,
    /// File positions of the unread predictions, the next one last.
    ahead: Vec<u64>,
    saved: Vec<(u32, PathBuf)>,
}

impl Journal {
    /// Opens the journal at `path` for `model` and `request`. Removes entries of another run, and an
    /// incomplete last entry.
    pub fn open(path: &Path, model: &Model, request: &Request, latents: Option<&Path>) -> io::Result<Self> {
        let key = key(model, request, latents);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut journal = Self { file: Some(file), ..Self::default() };
        if !unmetered(|| journal.read(&key))? {
            journal.restart(&Record::Run { key })?;
        }
        Ok(journal)
    }

    /// Reads the entries. Returns whether they belong to this run.
    fn read(&mut self, key: &str) -> io::Result<bool> {
        let Some(file) = &self.file else { return Ok(false) };
        let mut reader = BufReader::new(file);
        match read_record(&mut reader) {
            Ok(Some(Record::Run { key: own })) if own == key => {}
            Ok(_) | Err(WireError::Truncated | WireError::TooLong(_)) => return Ok(false),
            Err(WireError::Damaged | WireError::NotUnderstood(_)) => return Ok(false),
            Err(WireError::Io(error)) => return Err(error),
        }
        loop {
            let place = reader.stream_position()?;
            match read_record(&mut reader) {
                Ok(Some(Record::Prediction { .. })) => self.ahead.push(place),
                Ok(Some(Record::Saved { index, path })) => self.saved.push((index, path)),
                Ok(Some(Record::Run { .. }) | None) => break,
                Err(WireError::Io(error)) => return Err(error),
                Err(error) => {
                    tracing::info!(%error, "the journal of an interrupted run is incomplete");
                    file.set_len(place)?;
                    break;
                }
            }
        }
        self.ahead.reverse();
        Ok(true)
    }

    fn restart(&mut self, first: &Record) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.set_len(0)?;
        file.rewind()?;
        write_record(file, first).map(|_| ()).map_err(io::Error::other)
    }

    /// Whether there are predictions left to read.
    pub fn is_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// The next prediction, if it was made at this noise level for latents of this shape.
    pub fn next(&mut self, sigma: f32, shape: &[usize]) -> Option<Tensor> {
        let place = self.ahead.pop()?;
        match self.prediction(place) {
            Ok((level, tensor)) if level.to_bits() == sigma.to_bits() && tensor.dims() == shape => {
                Some(tensor)
            }
            _ => {
                tracing::warn!("the journal of an interrupted run does not match it; the run starts over");
                self.ahead.clear();
                if let Some(file) = &self.file
                    && let Err(error) = file.set_len(place)
                {
                    self.give_up(&error);
                }
                None
            }
        }
    }

    fn prediction(&mut self, place: u64) -> Result<(f32, Tensor), PipelineError> {
        let record = match &mut self.file {
            Some(file) => {
                let mut file: &File = file;
                file.seek(SeekFrom::Start(place))
                    .map_err(WireError::from)
                    .and_then(|_| read_record(&mut BufReader::new(file)))
            }
            None => Ok(None),
        };
        match record {
            Ok(Some(Record::Prediction { sigma, shape, values })) => {
                let tensor = Tensor::from_raw_buffer(&values, DType::F32, &shape, &Device::Cpu)?;
                Ok((sigma, tensor))
            }
            _ => Err(candle_core::Error::Msg("the journal has no prediction here".to_owned()).into()),
        }
    }

    /// Saves a prediction. If that fails, nothing more is saved and the run continues.
    pub fn predicted(&mut self, sigma: f32, direction: &Tensor) {
        if self.file.is_none() {
            return;
        }
        let record = unmetered(|| {
            let values: Vec<f32> = direction.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
            let values = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            candle_core::Result::Ok(Record::Prediction { sigma, shape: direction.dims().to_vec(), values })
        });
        match record {
            Ok(record) => unmetered(|| self.add(&record)),
            Err(error) => self.give_up(&error),
        }
    }

    /// Path of an image of the batch that was written before the process died, if it still exists.
    pub fn saved(&self, index: u32) -> Option<&Path> {
        let (_, path) = self.saved.iter().find(|(saved, _)| *saved == index)?;
        path.is_file().then_some(path)
    }

    /// Saves the path of an image of the batch.
    pub fn save(&mut self, index: u32, path: &Path) {
        self.add(&Record::Saved { index, path: path.to_owned() });
    }

    fn add(&mut self, record: &Record) {
        let Some(file) = &mut self.file else { return };
        let written =
            file.seek(SeekFrom::End(0)).map_err(WireError::from).and_then(|_| write_record(file, record));
        if let Err(error) = written {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &dyn std::error::Error) {
        tracing::warn!(%error, "the journal cannot be written; if its process dies, the run starts over");
        self.file = None;
        self.ahead.clear();
    }
}

/// Everything that affects a run's result: the request, the current model files and the initial latents.
fn key(model: &Model, request: &Request, latents: Option<&Path>) -> String {
    let stamp = |path: &Path| FileStamp::of(path).to_string();
    let files = model.components().flat_map(|component| &component.files).map(|path| stamp(path));
    let latents = latents.map(stamp).unwrap_or_default();
    let files: Vec<String> = files.collect();
    format!("{request:?}\n{latents}\n{}\n{}", files.join("\n"), env!("SLUICE_ENGINE_SOURCE"))
}
