//! Carries out orders: names and pictures become a request, its forecast decides whether it runs, and results are files.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use sluice_engine::{
    memory::{Forecast, MemoryPreferences},
    models::{Inventory, Remembered},
    output::{NamedOutput, Output, StillFormat},
    request::{ModelSource, Request},
    session::{Job, JobId, ModelSummary, PlanQuery, PlanSubject},
};

use super::{
    Refusal,
    hub::{Hub, Made, Phase, Ticket},
};
use crate::{
    orders::{Given, Inputs, Order, OrderError, Shelf},
    upscaling::request_of,
};

/// What every order has in common.
pub struct DeskOptions {
    /// Folders with models.
    pub folders: Vec<PathBuf>,
    /// What an engine elsewhere has, in place of what is in the folders.
    pub listed: Option<Inventory>,
    /// Where results are kept.
    pub output: PathBuf,
    /// How memory is used.
    pub memory: MemoryPreferences,
    /// The model of orders that name none.
    pub model: ModelSource,
    /// The folder where paths of pictures begin, if an order may have paths.
    pub pictures: Option<PathBuf>,
}

/// Carries out orders.
pub struct Desk {
    /// The engine.
    pub hub: Arc<Hub>,
    options: DeskOptions,
    shelf: RwLock<Arc<Shelf>>,
    remembered: Mutex<Remembered>,
    model: Mutex<ModelSource>,
}

/// Where the results of an order go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// Into the folder of results, in a format.
    Kept(StillFormat),
    /// To who ordered them alone.
    Sent(StillFormat),
}

/// An order with everything that it needs.
#[derive(Clone)]
pub struct Prepared {
    /// What to generate.
    pub request: Request,
    /// The model.
    pub model: String,
    /// Its pictures, which are there until it has ended.
    pub inputs: Arc<Inputs>,
}

/// A job that runs, with its pictures and perhaps its results.
pub struct Running {
    /// The job.
    pub ticket: Ticket,
    /// Pictures and what is not kept.
    pub inputs: Arc<Inputs>,
}

impl Running {
    /// Waits for what is made.
    ///
    /// # Errors
    /// When the job fails or is cancelled.
    pub async fn made(&mut self) -> Result<Vec<Made>, Refusal> {
        match self.ticket.end().await {
            Phase::Done { made, .. } => Ok(made),
            Phase::Failed(failure) => Err(Refusal::invalid(failure)),
            Phase::Cancelled | Phase::Queued | Phase::Running => Err(Refusal::cancelled()),
        }
    }
}

impl Desk {
    /// Looks through the model folders.
    pub fn new(hub: Arc<Hub>, options: DeskOptions) -> Self {
        let mut remembered = Remembered::default();
        let shelf = match &options.listed {
            Some(listed) => Shelf::elsewhere(listed.clone()),
            None => Shelf::of(&options.folders, &mut remembered),
        };
        let shelf = RwLock::new(Arc::new(shelf));
        let model = Mutex::new(options.model.clone());
        Self { hub, options, shelf, remembered: Mutex::new(remembered), model }
    }

    /// What is in the model folders.
    pub fn shelf(&self) -> Arc<Shelf> {
        Arc::clone(&self.shelf.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks through the model folders again, unless they are those of an engine elsewhere.
    ///
    /// # Errors
    /// When a thread of the server fails.
    pub async fn look_again(self: &Arc<Self>) -> Result<(), Refusal> {
        if self.options.listed.is_some() {
            return Ok(());
        }
        let desk = Arc::clone(self);
        blocking(move || {
            let mut remembered = desk.remembered.lock().unwrap_or_else(PoisonError::into_inner);
            let shelf = Arc::new(Shelf::of(&desk.options.folders, &mut remembered));
            *desk.shelf.write().unwrap_or_else(PoisonError::into_inner) = shelf;
        })
        .await
    }

    /// The model of orders that name none.
    pub fn model(&self) -> ModelSource {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes it, by a name on the shelf.
    ///
    /// # Errors
    /// When nothing has the name.
    pub fn choose(&self, name: &str) -> Result<(), Refusal> {
        let model = self.shelf().model(name)?;
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = model;
        Ok(())
    }

    /// The name of a model on the shelf.
    pub fn name_of(&self, model: &ModelSource) -> String {
        let shelf = self.shelf();
        let found = shelf.models.iter().find(|shelved| shelved.source == *model);
        found.map_or_else(|| model.to_string(), |shelved| shelved.name.clone())
    }

    /// The headers of the model of an order.
    ///
    /// # Errors
    /// When there is no such model, or it cannot be opened.
    pub async fn summary(&self, order: &Order) -> Result<ModelSummary, Refusal> {
        let source = order.source(&self.shelf(), &self.model())?;
        self.hub.load(source).await
    }

    /// The request of an order. Nothing is computed.
    ///
    /// # Errors
    /// When a name is not known, or a picture is none.
    pub async fn prepare(&self, order: Order) -> Result<Prepared, Refusal> {
        let summary = self.summary(&order).await?;
        let (shelf, pictures) = (self.shelf(), self.options.pictures.clone());
        blocking(move || {
            let mut inputs = inputs(pictures.as_deref())?;
            let request = order.request(&summary, &shelf, &mut inputs)?;
            Ok(Prepared { request, model: summary.name, inputs: Arc::new(inputs) })
        })
        .await?
    }

    /// The request that enlarges a picture with the upscaler of this name.
    ///
    /// # Errors
    /// When there is no such upscaler, or the picture is none.
    pub async fn prepare_upscale(
        &self,
        picture: Given,
        upscaler: Option<String>,
        scale: f32,
    ) -> Result<Prepared, Refusal> {
        let (shelf, pictures) = (self.shelf(), self.options.pictures.clone());
        blocking(move || {
            let model = upscaler.as_deref().map_or(Ok(ModelSource::Upscaler), |name| shelf.upscaler(name))?;
            let mut inputs = inputs(pictures.as_deref())?;
            let path = inputs.file(&picture, "the image")?;
            let (request, _) = request_of(&path, &model, scale)
                .map_err(|error| Refusal::wrong(error.to_string(), error.advice()))?;
            Ok(Prepared { request, model: model.to_string(), inputs: Arc::new(inputs) })
        })
        .await?
    }

    /// What a request needs.
    ///
    /// # Errors
    /// When it is not valid.
    pub async fn forecast(&self, request: &Request) -> Result<Forecast, Refusal> {
        let query = PlanQuery {
            id: 0,
            subject: PlanSubject::Model,
            request: request.clone(),
            memory: self.options.memory.clone(),
        };
        self.hub.plan(query).await
    }

    /// Queues an order, if it fits.
    ///
    /// # Errors
    /// When it is not valid, or does not fit: then with what would.
    pub async fn start(&self, prepared: Prepared, keeping: Keeping) -> Result<Running, Refusal> {
        let forecast = self.forecast(&prepared.request).await?;
        if forecast.plan.is_err() {
            return Err(Refusal::unfit(&forecast));
        }
        self.queue(prepared, keeping)
    }

    /// Queues an order that is known to fit.
    ///
    /// # Errors
    /// When too many jobs wait, or there is no engine.
    pub fn queue(&self, prepared: Prepared, keeping: Keeping) -> Result<Running, Refusal> {
        let Prepared { request, inputs, .. } = prepared;
        let (folder, format) = match keeping {
            Keeping::Kept(format) => (self.options.output.clone(), format),
            Keeping::Sent(format) => (inputs.folder().join("results"), format),
        };
        let output = match format {
            StillFormat::Png => Output::Folder(folder),
            format => Output::Named(NamedOutput { folder, format, names: "{name}".to_owned() }),
        };
        let job = Job {
            output: Some(output),
            previews: true,
            memory: self.options.memory.clone(),
            ..Job::new(JobId(0), request)
        };
        Ok(Running { ticket: self.hub.run(job)?, inputs })
    }
}

fn inputs(pictures: Option<&Path>) -> Result<Inputs, OrderError> {
    pictures.map_or_else(Inputs::of_data, Inputs::of_files_in)
}

/// The bytes of a result.
///
/// # Errors
/// When the file is gone.
pub async fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    let path = path.to_owned();
    blocking(move || {
        std::fs::read(&path)
            .map_err(|error| Refusal::broken(format!("{} cannot be read: {error}", path.display())))
    })
    .await?
}

/// Runs what waits for disks on a thread for that.
///
/// # Errors
/// When it panics.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Refusal::broken(format!("a thread of the server failed: {error}")))
}
