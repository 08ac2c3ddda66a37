//! ControlNets in the side panel.

use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable};
use sluice::{
    units,
    window::{
        app::SluiceApp,
        library::LibraryOptions,
        state::{Search, State, map_name},
    },
};
use sluice_engine::{
    checkpoint::MapKind,
    output::{Image, Media},
    request::{ControlMode, ControlNet, MapOf, ModelSource, Preprocessor},
    session::{Event, Failure, ModelSummary, Picture},
};
use sluice_tests::failures::write_header;

use super::{
    behaviour::nothing_is_unnamed,
    input_image::photo,
    runs::Scene,
    snapshots::look,
    support::{Window, starter},
};

/// A wrong file is not found out only when its image was chosen.
#[test]
fn a_file_that_cannot_steer_is_said_before_an_image_is_missed() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut saved = sluice::window::settings::Settings::default();
        let net = ControlNet { model: "/models/a-lora.safetensors".into(), ..ControlNet::default() };
        saved.draft.request.control_nets = vec![net];
        setup.settings = Some(saved);
    });
    let lacks = "A ControlNet has no image to follow; choose one, or remove the ControlNet.";
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_control_nets: true, ..starter() })));
    let query = window.take_plans().pop().expect("a question");
    assert!(window.shows(lacks), "as long as nothing else is known");
    let message = "/models/a-lora.safetensors cannot be used: it is no ControlNet".to_owned();
    let failure = |message| Failure { message, advice: None };
    window.says(Event::NotPlanned { id: query.id, failure: failure(message.clone()) });
    window.frames();
    assert!(window.shows(&format!("{message}.")) && !window.shows(lacks));
    assert!(window.harness.get_by_label("Generate").accesskit_node().is_disabled());
    window.fill("Prompt", "a fox");
    window.harness.run_steps(60);
    let query = window.take_plans().pop().expect("another question");
    let missing = "a ControlNet has no image to follow; choose one, or remove the ControlNet".to_owned();
    window.says(Event::NotPlanned { id: query.id, failure: failure(missing) });
    window.frames();
    assert!(window.shows(lacks));
}

#[test]
fn a_control_net_is_added_with_its_image_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("control_canny.safetensors"), "").unwrap();
    photo(folder.path(), "house.png");
    let model = folder.path().join("sd15.safetensors");
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.settings =
            Some(sluice::window::settings::Settings { recent_models: vec![model], ..Default::default() });
    });
    window.says(Event::ModelLoaded(Box::new(starter())));
    window.frames();
    assert!(!window.shows("ControlNet"), "the starter takes none");
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_control_nets: true, ..starter() })));
    window.frames();
    window.click("ControlNet");
    assert!(window.shows("No ControlNet for Z-Image was found in your model folders."));
    window.click("Add ControlNet…");
    choose(&mut window, "control_canny.safetensors");
    window.wait_for("the ControlNet", |app| !app.state().draft().request.control_nets.is_empty());
    window.harness.run_steps(30);
    const UNFINISHED: &str = "A ControlNet has no image to follow; choose one, or remove the ControlNet.";
    assert_eq!(window.harness.query_all_by_label(UNFINISHED).count(), 1, "it is said once");
    let edge = window.harness.get_by_label("Generate").rect().top();
    let last = window.harness.get_by_label("Preprocessor").rect();
    assert!(last.bottom() < edge, "what was added is in sight: {last:?} above {edge}");
    assert!(!window.shows("No ControlNet for Z-Image"));
    window.click("Image…");
    choose(&mut window, "house.png");
    window.wait_for("the image", |app| {
        let net = app.state().draft().request.control_nets.first();
        net.is_some_and(|net| app.state().input.files.pixels(&net.image).is_some())
    });
    window.frames();
    nothing_is_unnamed(&window, "ControlNet");
    window.click("Preprocessor");
    window.click("Canny edges");
    window.wait_for("the map", |app| {
        let request = &app.state().draft().request;
        let map = map_name(&request.control_nets[0], [request.width, request.height]).unwrap();
        app.state().input.files.pixels(&map).is_some()
    });
    window.frames();
    assert!(window.shows("What the ControlNet sees"));
    window.see("Add ControlNet…");
    let _results = look(&mut window, "control-net-dark-1280");
    window.click("View map");
    let large = window.harness.get_by_role_and_label(Role::Image, "What the ControlNet sees").rect();
    assert!(large.height() > 200.0, "{large:?}");
    window.harness.key_press(egui::Key::Escape);
    window.frames();
    window.take_commands();
    window.click("Generate");
    let request = window.take_job().request;
    let net = &request.control_nets[0];
    assert_eq!((net.preprocessor, net.weight, net.start, net.end), (Preprocessor::Canny, 1.0, 0.0, 1.0));
    assert!(net.model.ends_with("control_canny.safetensors") && net.image.ends_with("house.png"));
    window.click("Remove control_canny");
    assert!(window.harness.state().state().draft().request.control_nets.is_empty());
}

/// Chooses a file in the window's own dialog.
pub fn choose(window: &mut Window, name: &str) {
    for _ in 0..500 {
        if window.shows(name) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
        window.frames();
    }
    window.click(name);
}

#[test]
fn maps_of_networks_are_made_when_they_are_asked_for_and_shown_beside_the_image() {
    for (kind, preprocessor, estimator) in [
        (MapKind::Depth, "Depth map", "Depth estimator"),
        (MapKind::Pose, "Pose", "Pose estimator"),
        (MapKind::Segments, "Segments", "Segment estimator"),
        (MapKind::SoftEdge, "Soft edges", "Edge estimator"),
    ] {
        a_map_is_made_and_shown(kind, preprocessor, estimator);
    }
}

fn a_map_is_made_and_shown(kind: MapKind, preprocessor: &str, estimator: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("estimator.safetensors"), "").unwrap();
    photo(folder.path(), "house.png");
    let model = folder.path().join("sd15.safetensors");
    let image = folder.path().join("house.png");
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut settings =
            sluice::window::settings::Settings { recent_models: vec![model], ..Default::default() };
        let net =
            ControlNet { model: "depth.safetensors".into(), image: image.clone(), ..Default::default() };
        settings.draft.request.control_nets = vec![net];
        setup.settings = Some(settings);
    });
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_control_nets: true, ..starter() })));
    window.frames();
    window.click("ControlNet (1)");
    window.click("Preprocessor");
    window.click(preprocessor);
    window.frames();
    let (maps, networks) = (kind.maps(), kind.networks());
    assert!(
        window.shows(&format!(
            "No model is chosen that makes {maps}; choose a .safetensors file of {networks}."
        ))
    );
    nothing_is_unnamed(&window, maps);
    // The input image has a button of the same name.
    let height = window.harness.get_by_label(estimator).rect().center().y;
    let is_beside = |middle: &egui::Pos2| (middle.y - height).abs() < 8.0;
    let mut middles = window.harness.get_all_by_label("Choose…").map(|button| button.rect().center());
    let middle = middles.find(is_beside).unwrap();
    drop(middles);
    window.harness.hover_at(middle);
    window.harness.drag_at(middle);
    window.harness.drop_at(middle);
    window.frames();
    window.click("Choose a file…");
    choose(&mut window, "estimator.safetensors");
    window.wait_for("the estimator", |app| app.state().draft().request.estimators.contains_key(&kind));
    window.frames();
    window.take_commands();
    window.click("Show map");
    let job = window.take_job();
    assert_eq!(job.request.map_of, Some(MapOf { kind, image: image.clone() }));
    assert!(job.output.is_none());
    window.frames();
    assert!(window.shows("The map is being made"));
    let media = Media::Image(Image::opaque(4, 4, vec![90; 48]));
    let pictures = vec![Picture { media, seed: 0, path: None }];
    window.says(Event::Finished { job: job.id, pictures, seconds: 1.0 });
    window.frames();
    assert!(window.shows("What the ControlNet sees"));
    let state = window.harness.state().state();
    assert!(state.images.recents.iter().next().is_none(), "a map is no image of the session");
}

#[test]
fn what_a_map_takes_is_said_below_its_button() {
    let image = std::path::PathBuf::from("/photos/house.png");
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut settings = sluice::window::settings::Settings::default();
        settings.draft.request.control_nets = vec![ControlNet {
            model: "net.safetensors".into(),
            image: image.clone(),
            preprocessor: Preprocessor::Depth,
            ..Default::default()
        }];
        settings.draft.request.estimators = [(MapKind::Depth, "/models/depth.safetensors".into())].into();
        setup.settings = Some(settings);
    });
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_control_nets: true, ..starter() })));
    window.click("ControlNet (1)");
    let queries = window.take_plans();
    let query = queries.iter().find(|query| query.request.map_of.is_some()).expect("a question");
    assert_eq!(query.request.map_of, Some(MapOf { kind: MapKind::Depth, image }));
    assert_eq!(query.request.model, ModelSource::Path("/models/depth.safetensors".into()));
    assert!(!window.shows("Takes about"));
    let scene = Scene::here();
    window.says(scene.answer(query.id));
    let (time, memory) =
        (units::seconds(scene.plan().seconds), units::memory_needed(scene.plan().peak_device()));
    let takes = format!("Takes about {time} and up to {memory} of memory");
    assert!(window.shows(&takes));
    window.harness.run_steps(10);
    assert!(window.take_plans().iter().all(|query| query.request.map_of.is_none()), "it is known");
    window.take_commands();
    window.click("Show map");
    assert!(window.take_job().request.map_of.is_some());
    assert!(window.shows("The map is being made") && !window.shows(&takes));
}

#[test]
fn what_makes_no_such_maps_cannot_be_asked_for_one() {
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut settings = sluice::window::settings::Settings::default();
        settings.draft.request.control_nets = vec![ControlNet {
            model: "net.safetensors".into(),
            image: "/photos/house.png".into(),
            preprocessor: Preprocessor::Depth,
            ..Default::default()
        }];
        settings.draft.request.estimators = [(MapKind::Depth, "/models/pose.safetensors".into())].into();
        setup.settings = Some(settings);
    });
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_control_nets: true, ..starter() })));
    window.click("ControlNet (1)");
    let can = |window: &Window| !window.harness.get_by_label("Show map").accesskit_node().is_disabled();
    assert!(can(&window));
    let queries = window.take_plans();
    let query = queries.iter().find(|query| query.request.map_of.is_some()).expect("a question");
    let failure = Failure { message: "it makes poses".to_owned(), advice: None };
    window.says(Event::NotPlanned { id: query.id, failure });
    assert!(!can(&window) && window.shows("It makes poses."));
}

#[test]
fn the_first_map_estimator_of_the_library_makes_each_kind_of_map() {
    let folder = tempfile::tempdir().unwrap();
    let estimators = sluice_tests::estimators::write_all(folder.path()).unwrap();
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut settings = sluice::window::settings::Settings {
            recent_models: vec![folder.path().join("sd15.safetensors")],
            ..Default::default()
        };
        let nets = [Preprocessor::Pose, Preprocessor::SoftEdge].map(|preprocessor| ControlNet {
            model: "net.safetensors".into(),
            image: "house.png".into(),
            preprocessor,
            ..Default::default()
        });
        settings.draft.request.control_nets = nets.to_vec();
        setup.settings = Some(settings);
        setup.library =
            LibraryOptions { folders: vec![folder.path().to_owned()], ..LibraryOptions::default() };
    });
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_control_nets: true, ..starter() })));
    window.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::M);
    window.wait_for("the list", |app| matches!(app.state().library.search, Search::Ended(_)));
    window.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::M);
    window.frames();
    window.click("ControlNet (2)");
    window.frames();
    let chosen = window.harness.state().state().draft().request.estimators.clone();
    let kinds = [MapKind::Pose, MapKind::SoftEdge];
    assert_eq!(chosen, kinds.map(|kind| (kind, estimators[&kind].clone())).into());
    assert!(window.shows("Pose estimator") && window.shows("Edge estimator"));
    assert!(!window.shows("Depth estimator") && !window.shows("Segment estimator"));
    window.see("pose_estimator.safetensors");
    window.click("pose_estimator.safetensors");
    let mut named = window.harness.query_all_by_label_contains("pose_estimator");
    let tells = |tip: Option<&str>| tip.is_some_and(|tip| tip.contains("map estimator for poses"));
    assert!(named.any(|row| tells(row.accesskit_node().data().description())), "what is cut is in the tip");
}

#[test]
fn a_long_name_makes_the_panel_no_wider_and_every_preprocessor_can_be_chosen() {
    let name = "Depth Anything V2 Large, the second copy, of the folder with everything.safetensors";
    let estimator = std::path::Path::new("/models").join(name);
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut settings = sluice::window::settings::Settings::default();
        let net = ControlNet { preprocessor: Preprocessor::Depth, ..Default::default() };
        settings.draft.request.control_nets = vec![net];
        settings.draft.request.estimators = [(MapKind::Depth, estimator)].into();
        setup.settings = Some(settings);
    });
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_control_nets: true, ..starter() })));
    let before = window.harness.get_by_label("Generate").rect();
    window.click("ControlNet (1)");
    window.harness.run_steps(8);
    let menu = window.harness.get_by_label(name).rect();
    assert!(menu.right() < 328.0, "{menu:?}");
    assert_eq!(window.harness.get_by_label("Generate").rect().width(), before.width());
    window.click("Preprocessor");
    window.click("Soft edges");
    let net = &window.harness.state().state().draft().request.control_nets[0];
    assert_eq!(net.preprocessor, Preprocessor::SoftEdge);
}

#[test]
fn a_map_estimator_that_is_opened_as_a_model_makes_maps_from_then_on() {
    let path = std::path::PathBuf::from("/models/segformer.safetensors");
    let source = ModelSource::Path(path.clone());
    let summary = ModelSummary { source: source.clone(), maps: Some(MapKind::Segments), ..starter() };
    let mut state = State::default();
    state.apply(Event::ModelLoaded(Box::new(starter())), 0.0);
    state.choose_model(source, true);
    state.apply(Event::ModelLoaded(Box::new(summary)), 0.0);
    assert_eq!(state.draft().request.estimators, [(MapKind::Segments, path)].into());
    assert_eq!(*state.chosen_model(), ModelSource::Starter);
    let notice = state.messages.notice.as_ref().map(|notice| notice.text.as_str());
    assert_eq!(notice, Some("Segments are found by segformer.safetensors from now on."));
}

#[test]
fn the_masked_input_image_is_followed_instead_of_an_image() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("sd15.safetensors");
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        let mut settings =
            sluice::window::settings::Settings { recent_models: vec![model], ..Default::default() };
        settings.draft.request.control_nets =
            vec![ControlNet { model: "inpaint.safetensors".into(), ..Default::default() }];
        setup.settings = Some(settings);
    });
    window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_control_nets: true, ..starter() })));
    window.frames();
    window.click("ControlNet (1)");
    window.frames();
    assert!(window.shows("Image…"));
    window.click("Preprocessor");
    window.click("Masked input image");
    window.frames();
    assert!(!window.shows("Image…") && window.shows("Weight"));
    assert!(window.shows("The ControlNet sees the input image without its masked part."));
    assert!(window.shows(
        "A ControlNet follows the input image without its masked part, and there is no input image with a mask; add \
         both, or choose another preprocessor."
    ));
    nothing_is_unnamed(&window, "the masked input image");
}

#[test]
fn a_chip_removes_only_its_own_entry_of_a_union() {
    let net = |mode| ControlNet { model: "union.safetensors".into(), mode, ..Default::default() };
    let twice = [net(Some(ControlMode::Canny)), net(Some(ControlMode::Depth))];
    for (removed, left) in [(0, 1), (1, 0)] {
        let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
            let mut settings = sluice::window::settings::Settings::default();
            settings.draft.request.control_nets = twice.to_vec();
            setup.settings = Some(settings);
        });
        window.says(Event::ModelLoaded(Box::new(ModelSummary { takes_control_nets: true, ..starter() })));
        window.frames();
        let chip = "Do not use the ControlNet union";
        window.harness.get_all_by_label(chip).nth(removed).unwrap().click();
        window.frames();
        let nets = &window.harness.state().state().draft().request.control_nets;
        assert_eq!(nets[..], twice[left..=left]);
    }
}

/// Writes the header of a file with these tensors of two by two values.
fn header_of(path: &std::path::Path, tensors: &[&str]) {
    let rows = tensors.iter().enumerate().map(|(number, name)| {
        let (from, to) = (8 * number, 8 * number + 8);
        format!(r#""{name}":{{"dtype":"F16","shape":[2,2],"data_offsets":[{from},{to}]}}"#)
    });
    let header = format!("{{{}}}", rows.collect::<Vec<_>>().join(","));
    write_header(path, &header, 8 * tensors.len()).unwrap();
}

#[test]
fn the_library_lists_those_for_the_model_and_a_union_is_told_the_kind_of_image() {
    let folder = tempfile::tempdir().unwrap();
    let own = ["controlnet_x_embedder.weight", "x_embedder.weight", "context_embedder.weight"];
    header_of(&folder.path().join("edges.safetensors"), &own);
    header_of(
        &folder.path().join("union.safetensors"),
        &[&own[..], &["controlnet_mode_embedder.weight"]].concat(),
    );
    let other = ["controlnet_x_embedder.weight", "img_in.weight", "txt_norm.weight"];
    header_of(&folder.path().join("of_qwen.safetensors"), &other);
    photo(folder.path(), "house.png");
    let model = folder.path().join("flux.safetensors");
    let mut window = Window::open([1280.0, 800.0], egui::Theme::Dark, |setup| {
        setup.settings =
            Some(sluice::window::settings::Settings { recent_models: vec![model], ..Default::default() });
        setup.library =
            LibraryOptions { folders: vec![folder.path().to_owned()], ..LibraryOptions::default() };
    });
    window.says(Event::ModelLoaded(Box::new(ModelSummary {
        takes_control_nets: true,
        control_modes: ControlMode::ALL.to_vec(),
        family_name: "FLUX.1".to_owned(),
        ..starter()
    })));
    window.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::M);
    window.wait_for("the list", |app| matches!(app.state().library.search, Search::Ended(_)));
    window.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::M);
    window.frames();
    window.click("ControlNet");
    window.click("In the library");
    window.frames();
    assert!(window.shows("edges") && window.shows("union") && !window.shows("of_qwen"));
    window.click("edges");
    window.frames();
    window.click("Image…");
    choose(&mut window, "house.png");
    let has_image = |app: &SluiceApp| {
        let nets = &app.state().draft().request.control_nets;
        nets.last().is_some_and(|net| app.state().input.files.pixels(&net.image).is_some())
    };
    window.wait_for("the image", has_image);
    window.frames();
    assert!(!window.shows("Kind of image"), "it follows one kind only");
    window.click("Remove edges");
    window.click("In the library");
    window.frames();
    window.click("union");
    window.frames();
    window.click("Image…");
    choose(&mut window, "house.png");
    window.wait_for("the image", has_image);
    window.frames();
    nothing_is_unnamed(&window, "a union");
    window.click("Kind of image");
    window.click("Tile");
    window.frames();
    let net = window.harness.state().state().draft().request.control_nets[0].clone();
    assert_eq!(net.mode, Some(ControlMode::Tile));
    window.click("In the library");
    window.harness.get_by_role_and_label(Role::Button, "union").click();
    window.frames();
    let nets = &window.harness.state().state().draft().request.control_nets;
    assert_eq!(nets.len(), 2, "it is offered again, for another image");
    assert_eq!((&nets[1].model, nets[1].mode), (&net.model, None));
}
