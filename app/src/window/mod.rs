//! The window. It talks to the engine only through [`link`]: commands go out, events come in.

pub mod action;
pub mod app;
mod blink;
mod browser;
pub mod collection;
mod commands;
mod cuda_offer;
mod detailing;
pub mod drag_out;
pub mod files;
mod first_start;
mod fit;
pub mod focus;
pub mod gallery;
pub mod get;
mod grid;
mod help;
pub mod history;
pub mod icons;
mod image_menu;
pub mod image_settings;
mod interpolating;
mod job_names;
mod lanes;
mod leaving;
pub mod library;
pub mod link;
mod model_menu;
mod monitor;
mod motion;
mod notification;
mod palette;
mod plan_panel;
pub mod question;
mod queue;
mod report;
mod sentences;
pub mod settings;
mod settings_page;
mod shortcuts;
mod side_panel;
pub mod state;
mod status_bar;
mod strategy_names;
mod takes;
mod taskbar;
mod textures;
pub mod tokens;
mod told;
mod top_bar;
pub mod upscaling;
mod viewer;
mod widgets;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod x_server;

use std::{env, path::PathBuf, sync::Arc};

use anyhow::{Context as _, bail};
use eframe::{
    egui_wgpu::{WgpuConfiguration, WgpuSetup},
    wgpu::DeviceType,
};
use sluice_engine::{
    request::{ModelSource, PromptFolders},
    session::{Session, SessionOptions},
};

use crate::engines::{
    self, EngineList, Engines, Place,
    cuda_engine::{self, Target},
};
use app::{CudaOptions, Lock, Setup, SluiceApp};
use collection::Places;
use files::{Files, Wake};
use get::DownloadOptions;
use library::LibraryOptions;
use link::{EngineLink, StartEngines};
use settings::{RenderGpu, Settings, StartupSettings};

use crate::{
    downloads::{Network, releases_page},
    folders::{cache_folder, data_folder, downloads_folder, model_folders, pictures_folder, wildcard_folder},
    seed::random_seed,
    sound::Speaker,
};

/// Options for opening the window.
#[derive(Debug, Clone, Default)]
pub struct WindowOptions {
    /// The model to start with; the last one if absent.
    pub model: Option<ModelSource>,
    /// Where images are saved; the folder `Sluice` in the user's pictures folder if absent.
    pub folder: Option<PathBuf>,
    /// Number of computing threads; all of the machine's if absent.
    pub threads: Option<usize>,
    /// Whether the engine runs on a thread of the window's process instead of in its own process.
    pub in_process: bool,
    /// Files to take as if they were dropped on the window.
    pub files: Vec<PathBuf>,
}

/// Opens the window and returns when it is closed.
pub fn run(options: WindowOptions) -> anyhow::Result<()> {
    if cfg!(target_os = "linux") && !has_display() {
        bail!(
            "there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set). \
             To generate images without one, see `sluice generate --help`"
        );
    }
    let startup = StartupSettings::load();
    let native = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_app_id("sluice")
            .with_title("Sluice")
            .with_inner_size([1280.0, 800.0])
            .with_min_inner_size([900.0, 600.0])
            .with_icon(icon()),
        wgpu_options: wgpu_options(startup.render_gpu),
        // Surfaces have one colour, and each pixel costs time where no GPU draws.
        dithering: false,
        // The app adds its own, which knows the language.
        system_font_fallback: false,
        ..eframe::NativeOptions::default()
    };
    eframe::run_native(
        "sluice",
        native,
        Box::new(|creation| Ok(Box::new(create(creation, options, startup)?))),
    )
    .map_err(|error| anyhow::anyhow!("{error}"))
    .context("the window could not be opened. To generate images without one, see `sluice generate --help`")
}

fn has_display() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
        .into_iter()
        .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn create(
    creation: &eframe::CreationContext<'_>,
    options: WindowOptions,
    startup: StartupSettings,
) -> anyhow::Result<SluiceApp> {
    let ctx = creation.egui_ctx.clone();
    let wake: Wake = Arc::new(move || ctx.request_repaint());
    let library = LibraryOptions {
        folders: model_folders().into_iter().chain(downloads_folder()).collect(),
        finds_programs: true,
        cache: data_folder().map(|folder| folder.join("models")),
    };
    let start_engines = start_engines(&wake, options.threads);
    let link: Box<dyn EngineLink> = match options.in_process {
        true => Box::new(
            Session::start(session_options(&wake, options.threads, &Place::Here))
                .context("the engine's threads could not be started")?,
        ),
        false => start_engines(&startup.engines)?,
    };
    let (report_cards, cards) = crossbeam_channel::bounded(1);
    let cards_wake = Arc::clone(&wake);
    std::thread::Builder::new()
        .name("sluice-cards".to_owned())
        .spawn(move || {
            // Nobody waits for it if the window is gone.
            let _ = report_cards.send(engines::cards());
            cards_wake();
        })
        .context("the thread that looks for cards could not be started")?;
    let reduced_motion = Some(motion::follow(Arc::clone(&wake)));
    let files = Files::start(wake).context("the thread for files could not be started")?;
    let speaker = Speaker::start().inspect_err(|error| tracing::warn!(%error, "clips play without sound"));
    let adapter = creation.wgpu_render_state.as_ref().map(|state| state.adapter.get_info());
    let is_drawn_by_cpu = adapter.as_ref().is_some_and(|info| info.device_type == DeviceType::Cpu);
    let settings = creation.storage.and_then(Settings::load);
    let chosen = settings.as_ref().and_then(|settings| settings.output.folder.clone());
    let setup = Setup {
        link,
        start_engines: (!options.in_process).then_some(start_engines),
        cards: Some(cards),
        files,
        settings,
        startup,
        startup_file: StartupSettings::path(),
        gpu: adapter.map(|info| info.name),
        is_drawn_by_cpu,
        folder: options.folder.or(chosen).or_else(pictures_folder),
        model: options.model,
        new_seed: random_seed,
        lock: Lock::of(data_folder().as_deref()),
        speaker: speaker.ok(),
        notify: Box::new(notification::notify),
        show_progress: taskbar::start(),
        library,
        downloads: downloads_folder().map(|folder| DownloadOptions {
            network: Network::of_user(None, None),
            kept: data_folder().map(|folder| folder.join("downloads.json")),
            folder,
            releases: releases_page(),
        }),
        cuda: cuda_options(),
        locales: sys_locale::get_locales().collect(),
        system_fonts: true,
        reduced_motion,
        drags_out: drag_out::is_possible(creation),
        places: Places { data: data_folder(), cache: cache_folder() },
        watches_folders: true,
    };
    let mut app = SluiceApp::new(&creation.egui_ctx, setup);
    app.take_files(options.files.iter().map(PathBuf::as_path));
    Ok(app)
}

/// How the engine for NVIDIA GPUs is installed, where there are packages of it.
fn cuda_options() -> Option<CudaOptions> {
    let target = Target::of_user().ok().filter(|_| cuda_engine::HAS_PACKAGES)?;
    let own = env::current_exe().ok()?;
    Some(CudaOptions {
        target,
        network: Network::of_user(None, None),
        is_beside: Engines::beside(&own).without_gpus.is_none(),
        releases: releases_page(),
    })
}

/// What starts engines for this window.
fn start_engines(wake: &Wake, threads: Option<usize>) -> StartEngines {
    let wake = Arc::clone(wake);
    Arc::new(move |list: &EngineList| {
        let places: Vec<Place> = list.used().into_iter().map(|used| used.place).collect();
        let session = engines::start(&places, |place| session_options(&wake, threads, place))
            .context("the engine could not be started")?;
        Ok(Box::new(session) as Box<dyn EngineLink>)
    })
}

/// Folders for models are those of the engine's computer.
fn session_options(wake: &Wake, threads: Option<usize>, place: &Place) -> SessionOptions {
    let wake = Arc::clone(wake);
    let is_here = !matches!(place, Place::Elsewhere(_));
    SessionOptions {
        wake: Box::new(move || wake()),
        threads,
        hardware: true,
        data: data_folder(),
        prompt_folders: PromptFolders {
            wildcards: wildcard_folder().into_iter().collect(),
            ..PromptFolders::default()
        },
        model_folders: if is_here { model_folders() } else { Vec::new() },
        downloads: downloads_folder(),
        keeps_jobs: true,
        ends_with_card: false,
    }
}

/// By default egui would use the fast GPU, whose memory is needed for models.
fn wgpu_options(render_gpu: RenderGpu) -> WgpuConfiguration {
    use eframe::wgpu::PowerPreference;
    let mut options = WgpuConfiguration::default();
    if let WgpuSetup::CreateNew(setup) = &mut options.wgpu_setup {
        setup.power_preference = PowerPreference::from_env().unwrap_or(match render_gpu {
            RenderGpu::Integrated => PowerPreference::LowPower,
            RenderGpu::Dedicated => PowerPreference::HighPerformance,
        });
    }
    options
}

fn icon() -> egui::IconData {
    let bytes = include_bytes!("../../../assets/icons/sluice.png");
    eframe::icon_data::from_png_bytes(bytes).unwrap_or_else(|error| {
        tracing::warn!(%error, "the window has no icon");
        egui::IconData::default()
    })
}
