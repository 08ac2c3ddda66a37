//! Carries out orders: names and pictures become a request, its forecast decides whether it runs, and results are files.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use sluice_engine::{
    memory::{Forecast, MemoryPreferences},
    models::{Inventory, Remembered},
    output::{Codec, Media, NamedOutput, Output, StillFormat, write_plain},
    request::{ModelSource, Preprocessor, Request, Style},
    session::{Failure, Job, JobId, ModelSummary, PlanQuery, PlanSubject},
};

use super::{
    Refusal,
    hub::{Hub, Made, Phase, Ticket},
};
use crate::{
    mapping::maps_of,
    orders::{DescribeOrder, Given, Inputs, MapOrder, Order, OrderError, Shelf, ToMap, styles_of},
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
    /// Nowhere: it is a text.
    Told,
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

    /// The styles of orders that name no model.
    ///
    /// # Errors
    /// When a thread of the server fails.
    pub async fn styles(&self) -> Result<Vec<Style>, Refusal> {
        let model = self.model();
        blocking(move || styles_of(&model)).await
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

    /// The request that makes maps of a picture or a clip with a network.
    ///
    /// # Errors
    /// When a name is not known, or the picture is none.
    pub async fn prepare_map(&self, order: MapOrder) -> Result<Prepared, Refusal> {
        self.prepared(move |shelf, inputs| Ok(order.to_map(shelf, inputs)?.request)).await
    }

    /// Makes maps of a picture or a clip without a network, and keeps them. That is cancelled when nobody waits for it any more.
    ///
    /// # Errors
    /// When the picture is none, or the maps cannot be written.
    pub async fn map(&self, order: MapOrder) -> Result<Made, Refusal> {
        let (shelf, pictures, folder) =
            (self.shelf(), self.options.pictures.clone(), self.options.output.clone());
        cancellable(move |is_cancelled| {
            let mut inputs = inputs(pictures.as_deref())?;
            let ToMap { path, given, .. } = order.to_map(&shelf, &mut inputs)?;
            let maps = maps_of(&path, &given, order.preprocessor, is_cancelled)?;
            kept_map(&folder, &maps, order.preprocessor, is_cancelled)
        })
        .await?
    }

    /// The request that describes pictures.
    ///
    /// # Errors
    /// When there is no such language model, or a picture is none.
    pub async fn prepare_describe(&self, order: DescribeOrder) -> Result<Prepared, Refusal> {
        self.prepared(move |shelf, inputs| order.request(shelf, inputs)).await
    }

    /// What is made of an order by the shelf and its pictures, with them.
    async fn prepared(
        &self,
        request: impl FnOnce(&Shelf, &mut Inputs) -> Result<Request, OrderError> + Send + 'static,
    ) -> Result<Prepared, Refusal> {
        let (shelf, pictures) = (self.shelf(), self.options.pictures.clone());
        blocking(move || {
            let mut inputs = inputs(pictures.as_deref())?;
            let request = request(&shelf, &mut inputs)?;
            Ok(Prepared { model: request.model.to_string(), request, inputs: Arc::new(inputs) })
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
        let place = match keeping {
            Keeping::Kept(format) => Some((self.options.output.clone(), format)),
            Keeping::Sent(format) => Some((inputs.folder().join("results"), format)),
            Keeping::Told => None,
        };
        let output = place.map(|(folder, format)| match format {
            StillFormat::Png => Output::Folder(folder),
            format => Output::Named(NamedOutput { folder, format, names: "{name}".to_owned() }),
        });
        let job = Job {
            output,
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

/// Writes maps under a new name in a folder. Nothing is left there if it `is_cancelled` before or while they are written.
fn kept_map(
    folder: &Path,
    maps: &Media,
    preprocessor: Preprocessor,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Made, Refusal> {
    if is_cancelled() {
        return Err(Refusal::cancelled());
    }
    let extension = if maps.is_clip() { Codec::H264.extension() } else { StillFormat::Png.extension() };
    let path = reserved(folder, &format!("map-{}", preprocessor.name()), extension)
        .map_err(|error| Refusal::broken(format!("{} cannot be written: {error}", folder.display())))?;
    if let Err(error) = write_plain(&path, maps, None, Codec::H264) {
        remove(&path);
        let advice = error.advice().map(str::to_owned);
        return Err(Refusal::engine(Failure { message: error.to_string(), advice }));
    }
    if is_cancelled() {
        remove(&path);
        return Err(Refusal::cancelled());
    }
    let (width, height) = maps.first().map_or((0, 0), |frame| (frame.width, frame.height));
    Ok(Made { seed: 0, path, width, height, frames: maps.frames().len() })
}

/// Removes a file that is of no use.
fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        tracing::warn!(path = %path.display(), %error, "a file of no use stays");
    }
}

/// Creates an empty file with a name that is free: `map-canny.png`, `map-canny-2.png` and so on.
fn reserved(folder: &Path, name: &str, extension: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let mut number = 1;
    loop {
        let path = folder.join(match number {
            1 => format!("{name}.{extension}"),
            number => format!("{name}-{number}.{extension}"),
        });
        match fs::File::create_new(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// The bytes of a result.
///
/// # Errors
/// When the file is gone.
pub async fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    let path = path.to_owned();
    blocking(move || {
        fs::read(&path)
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

/// Whether nobody waits any more for what a thread does. That is so when this is dropped, as a job is cancelled with its ticket.
#[derive(Default)]
struct Waiting {
    has_ended: Arc<AtomicBool>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }
}

/// Runs work on a thread of its own. It can ask whether it is cancelled, which it is when nobody waits for it any more.
///
/// # Errors
/// When it panics.
async fn cancellable<T: Send + 'static>(
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, Refusal> {
    let waiting = Waiting::default();
    let has_ended = Arc::clone(&waiting.has_ended);
    blocking(move || work(&|| has_ended.load(Ordering::Relaxed))).await
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, sync::mpsc, thread, time::Duration};

    use sluice_engine::output::Image;

    use super::*;

    #[test]
    fn what_nobody_waits_for_is_cancelled() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (ended, ends) = mpsc::channel();
        runtime.block_on(async {
            let work = cancellable(move |is_cancelled| {
                while !is_cancelled() {
                    thread::sleep(Duration::from_millis(1));
                }
                ended.send(()).unwrap();
            });
            let waited = tokio::time::timeout(Duration::from_millis(20), work).await;
            assert!(waited.is_err(), "it does not end by itself");
        });
        ends.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(runtime.block_on(cancellable(|is_cancelled| is_cancelled())), Ok(false));
    }

    #[test]
    fn maps_that_nobody_waits_for_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let maps = Media::Image(Image::opaque(2, 2, vec![0; 12]));
        let files = || fs::read_dir(folder.path()).unwrap().count();
        let kept_before = |cancelled: usize| {
            let asked = Cell::new(0);
            let is_cancelled = || asked.replace(asked.get() + 1) >= cancelled;
            kept_map(folder.path(), &maps, Preprocessor::Canny, &is_cancelled)
        };
        for cancelled in [0, 1] {
            assert_eq!(kept_before(cancelled).unwrap_err(), Refusal::cancelled());
            assert_eq!(files(), 0, "cancelled when it was asked {cancelled} times");
        }
        let made = kept_before(2).unwrap();
        assert_eq!((files(), made.path), (1, folder.path().join("map-canny.png")));
    }
}
