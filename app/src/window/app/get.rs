//! Executes the actions of the place for downloads, and follows what runs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use egui::Context;
use sluice_engine::{
    request::ModelSource,
    session::{Command, Failure},
};

use super::{Lock, SluiceApp};
use crate::{
    downloads::{
        Credentials, Download, DownloadId, Downloads, Network, Order, Phase, Release, Site, Token,
        catalogue::catalogue,
    },
    language::tr,
    window::{
        action::{GetAction, LibraryAction},
        get::{DownloadOptions, GetEvent, GetTask, GetWorker},
        library::LibraryTask,
        settings::DownloadSettings,
        state::{Asked, NextFit, TokenState, Updates},
        told::Told,
    },
};

/// The threads that download, and what they start with.
pub(super) struct Getting {
    options: DownloadOptions,
    downloads: Downloads,
    worker: GetWorker,
    version: u64,
    /// Downloads that are known to be done.
    done: Vec<DownloadId>,
    /// A model of the catalogue whose files are being looked up: its name.
    looked_up: Option<String>,
    /// Whether the well-known models were asked for.
    asked_known: bool,
    /// Whether progress is in sight.
    is_seen: Arc<AtomicBool>,
}

impl Getting {
    /// Starts the threads; `None` if there can be none.
    pub fn start(
        ctx: &Context,
        options: Option<DownloadOptions>,
        settings: &DownloadSettings,
        lock: &Lock,
    ) -> Option<Self> {
        let mut options = options?;
        // The kept list is that of the first window.
        options.kept.take_if(|_| matches!(lock, Lock::Taken));
        let (repaint, again) = (ctx.clone(), ctx.clone());
        let is_seen = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_seen);
        // The window is not drawn more often for progress than it is of use.
        let wake = Arc::new(move || {
            let millis = if seen.load(Ordering::Relaxed) { 200 } else { 1000 };
            repaint.request_repaint_after(Duration::from_millis(millis));
        });
        let network = with(&options, settings);
        let downloads = Downloads::start(network, options.kept.clone(), wake)
            .inspect_err(|error| tracing::error!(%error, "models cannot be downloaded"))
            .ok()?;
        let worker = GetWorker::start(Arc::new(move || again.request_repaint()));
        Some(Self {
            options,
            downloads,
            worker,
            version: u64::MAX,
            done: Vec::new(),
            looked_up: None,
            asked_known: false,
            is_seen,
        })
    }
}

impl Getting {
    /// How servers are reached now.
    pub fn network(&self) -> Network {
        self.downloads.network()
    }
}

/// How servers are reached with these settings.
fn with(options: &DownloadOptions, settings: &DownloadSettings) -> Network {
    let DownloadSettings { endpoint, proxy, .. } = settings;
    let own = Network::of_user(Some(endpoint), Some(proxy));
    let base = options.network.clone();
    Network {
        endpoint: if endpoint.trim().is_empty() { base.endpoint } else { own.endpoint },
        proxy: own.proxy.or(base.proxy),
        ..base
    }
}

impl SluiceApp {
    pub(super) fn act_in_get(&mut self, action: GetAction) {
        let Some(getting) = &mut self.getting else { return };
        let settings = &mut self.state.settings.library.downloads;
        match action {
            GetAction::Show(shown) => self.show_get(shown),
            GetAction::Ask(what) => {
                let network = Box::new(getting.downloads.network());
                if getting.worker.request(GetTask::Ask(network, what.clone())) {
                    self.state.downloads.asked = Asked::Waiting(what);
                }
            }
            GetAction::Forget => {
                getting.looked_up = None;
                self.state.downloads.asked = Asked::Nothing;
            }
            GetAction::Start(id, format) => self.start_download(&id, &format),
            GetAction::Choose(index) => self.choose_offered(index),
            GetAction::Pause(id) => getting.downloads.pause(id),
            GetAction::Resume(id) => getting.downloads.resume(id),
            GetAction::Cancel(id) => getting.downloads.cancel(id),
            GetAction::Open(path) => {
                self.library_place.get().is_open = false;
                self.act_in_library(LibraryAction::Show(false));
                self.choose_model(ModelSource::Path(path));
            }
            GetAction::Folder(folder) => {
                settings.folder = folder;
                self.follow_folder();
            }
            GetAction::Connection { endpoint, proxy } => {
                (settings.endpoint, settings.proxy) = (endpoint.trim().to_owned(), proxy.trim().to_owned());
                getting.downloads.set_network(with(&getting.options, settings));
            }
            GetAction::Token(site, text) => {
                let token = text.as_deref().map(Token::new);
                if token == Some(None) {
                    self.state.downloads.set_token(site, TokenState::Failed(tr!("app-no-token")));
                } else {
                    getting.worker.request(GetTask::KeepToken(site, token.flatten()));
                }
            }
        }
    }

    fn show_get(&mut self, shown: bool) {
        if !shown {
            self.library_place.get().is_open = false;
            return;
        }
        if !self.state.library.is_open {
            self.act_in_library(LibraryAction::Show(true));
        }
        self.library_place.get().open();
        self.follow_folder();
        let Some(getting) = &self.getting else { return };
        for site in Site::ALL {
            if *self.state.downloads.token_of(site) == TokenState::Unknown {
                getting.worker.request(GetTask::HasToken(site));
            }
        }
    }

    /// Uses the folder that is set, or the usual one, and finds models in it.
    pub(super) fn follow_folder(&mut self) {
        let Some(getting) = &self.getting else { return };
        let own = self.state.settings.library.downloads.folder.clone();
        let folder = own.clone().unwrap_or_else(|| getting.options.folder.clone());
        let network = Box::new(getting.downloads.network());
        getting.worker.request(GetTask::Free(network, folder.clone()));
        self.state.downloads.folder = Some(folder);
        if let Some(own) = own.filter(|own| !self.state.settings.library.folders.contains(own)) {
            self.add_library_folder(own);
        }
    }

    fn start_download(&mut self, id: &str, format: &str) {
        let (Some(getting), Some(folder)) = (&mut self.getting, self.state.downloads.folder.clone()) else {
            return;
        };
        let Some(listed) = catalogue().find(id) else { return };
        let Some(version) = listed.version(format) else { return };
        match listed.order(version, folder) {
            Some(order) => {
                getting.downloads.add(order);
            }
            // The files of a whole repository are looked up first.
            None => {
                let network = Box::new(getting.downloads.network());
                if getting.worker.request(GetTask::Ask(network, listed.repository.clone())) {
                    getting.looked_up = Some(listed.name.clone());
                }
            }
        }
    }

    fn choose_offered(&mut self, index: usize) {
        let (Some(getting), Some(folder)) = (&self.getting, self.state.downloads.folder.clone()) else {
            return;
        };
        let Asked::Offer(offer) = &self.state.downloads.asked else { return };
        let Some(choice) = offer.choices.get(index) else { return };
        let title = match choice.folder {
            Some(_) => offer.title.clone(),
            None => choice.name.clone(),
        };
        getting.downloads.add(Order {
            title,
            files: choice.files.clone(),
            folder,
            opens: choice.folder.clone(),
        });
    }

    /// Looks for a newer release, if that is wanted at the start.
    pub(super) fn look_for_updates_at_start(&mut self) {
        let knows_where = self.getting.as_ref().is_some_and(|getting| getting.options.releases.is_some());
        if knows_where {
            self.state.updates = Updates::Unasked;
        }
        if self.state.settings.looks_for_updates {
            self.look_for_updates();
        }
    }

    pub(super) fn look_for_updates(&mut self) {
        let Some(getting) = &self.getting else { return };
        let Some(address) = getting.options.releases.clone() else { return };
        if getting.worker.request(GetTask::Release(Box::new(getting.downloads.network()), address)) {
            self.state.updates = Updates::Asking;
        }
    }

    fn take_release(&mut self, newer: Result<Option<Release>, Failure>) {
        self.state.updates = match newer {
            Ok(Some(release)) => {
                if self.settings_page.is_none() {
                    let details = vec![tr!("app-update-details")];
                    let version = release.version.as_str();
                    self.state.messages.say(tr!("app-update", version = version), details);
                }
                Updates::Newer(release)
            }
            Ok(None) => Updates::Newest,
            Err(failure) => Updates::Failed(failure),
        };
    }

    /// Takes what the threads say.
    pub(super) fn follow_downloads(&mut self) {
        let Some(getting) = &mut self.getting else { return };
        let mut newer = None;
        while let Some(event) = getting.worker.try_recv() {
            match event {
                GetEvent::Release(answer) => newer = Some(answer),
                GetEvent::Offer(offer) => match getting.looked_up.take() {
                    Some(name) => {
                        if let (Ok(choice), Some(folder)) =
                            (offer.only(), self.state.downloads.folder.clone())
                        {
                            let (files, opens) = (choice.files.clone(), choice.folder.clone());
                            getting.downloads.add(Order { title: name, files, folder, opens });
                        } else {
                            self.state.downloads.asked = Asked::Offer(offer);
                        }
                    }
                    None => self.state.downloads.asked = Asked::Offer(offer),
                },
                GetEvent::Found(words, found) => self.state.downloads.asked = Asked::Found(words, found),
                GetEvent::Failed { what, failure, is_offline } => {
                    getting.looked_up = None;
                    self.state.downloads.asked = Asked::Failed { what, failure, is_offline };
                }
                GetEvent::Free(free) => {
                    self.state.downloads.take_free(free, &getting.downloads.list());
                }
                GetEvent::Token(site, Ok(is_there)) => {
                    let is_change = *self.state.downloads.token_of(site) != TokenState::Unknown;
                    let token = if is_there { TokenState::Kept } else { TokenState::None };
                    self.state.downloads.set_token(site, token);
                    if is_change {
                        let network = getting.downloads.network();
                        getting
                            .downloads
                            .set_network(Network { credentials: Credentials::of_user(), ..network });
                    }
                }
                GetEvent::Token(site, Err(why)) => {
                    self.state.downloads.set_token(site, TokenState::Failed(why));
                }
            }
        }
        let is_seen = self.library_place.get().is_open || self.state.is_first_start();
        getting.is_seen.store(is_seen, Ordering::Relaxed);
        let version = getting.downloads.version();
        if getting.version != version {
            getting.version = version;
            let list = getting.downloads.list();
            let done = list.iter().filter(|one| matches!(one.phase, Phase::Done { .. }));
            let new: Vec<&Download> = done.filter(|one| !getting.done.contains(&one.id)).collect();
            getting.done.extend(new.iter().map(|one| one.id));
            let has_arrived = !new.is_empty();
            if has_arrived && !is_seen {
                let titles: Vec<&str> = new.iter().map(|one| one.title.as_str()).collect();
                let details = vec![tr!("app-downloaded-details")];
                let told = Told::about(titles.join(", "), |models| tr!("app-downloaded", models = models));
                self.state.messages.say(told, details);
            }
            self.state.downloads.list = list;
            if has_arrived {
                let folder = self.state.downloads.folder.clone();
                if let (Some(getting), Some(folder)) = (&self.getting, folder) {
                    getting.worker.request(GetTask::Free(Box::new(getting.downloads.network()), folder));
                }
                self.search_models();
            }
        }
        if let Some(newer) = newer {
            self.take_release(newer);
        }
        self.prepare_first_start();
    }

    /// Finds out how well-known models run, to suggest some to who has none.
    fn prepare_first_start(&mut self) {
        if !self.state.is_first_start() || self.state.library.is_open || self.state.engine.hardware.is_none()
        {
            return;
        }
        let Some(getting) = &mut self.getting else { return };
        if !std::mem::replace(&mut getting.asked_known, true) {
            self.library.request(LibraryTask::Known);
        }
        if self.state.library.known.is_empty() || self.state.jobs.running().is_some() {
            return;
        }
        let wanted = self.state.first_to_fit();
        if let NextFit::Ask(id, request) = self.state.next_fit(&wanted) {
            let query = self.state.library.fits.ask(id, *request);
            self.send([Command::Plan(Box::new(query))]);
        }
    }
}
