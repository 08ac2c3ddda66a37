//! The dialog for grids: what varies, and how many images that makes.

use std::path::{Path, PathBuf};

use egui::{ComboBox, Context, Frame, Key, Margin, RichText, Ui, vec2};
use sluice_engine::request::{
    ComputeDtype, Enlarger, Fit, Preprocessor, Request, Sampler, Schedule,
    grid::{Axis, Grid, GridError, GridSetting},
};

use super::{
    action::{Action, Making},
    icons,
    sentences::sentence,
    state::State,
    tokens::{Palette, font, size, space},
    widgets::{self, Weight},
};
use crate::language::{tr, units};

/// Width of the choice of a setting.
const CHOICE: f32 = 170.0;

/// The dialog. What was typed stays for the next time.
#[derive(Debug, Default)]
pub struct GridDialog {
    /// Whether it is shown.
    pub is_open: bool,
    axes: [Typed; 3],
    checked: Option<Checked>,
}

/// An axis as it is typed.
#[derive(Debug, Clone, Default, PartialEq)]
struct Typed {
    setting: Option<GridSetting>,
    values: String,
    /// Whether values were typed, or asked for.
    is_answered: bool,
}

/// What is known about the typed axes, and what it depends on.
#[derive(Debug, Clone, PartialEq)]
struct Checked {
    axes: [Typed; 3],
    request: Request,
    /// The seconds of one image.
    one: Option<f64>,
    result: Result<(Grid, Option<f64>), GridError>,
}

impl Typed {
    fn axis(&self) -> Option<Result<Axis, GridError>> {
        Some(Axis::typed(self.setting?, &self.values))
    }

    fn lacks_values(&self) -> bool {
        matches!(self.axis(), Some(Err(GridError::NoValues(_))))
    }
}

impl GridDialog {
    /// The grid, once it makes sense.
    pub fn grid(&self) -> Option<&Grid> {
        self.checked.as_ref()?.result.as_ref().ok().map(|(grid, _)| grid)
    }

    /// Whether only values are missing that nobody was asked for yet.
    fn awaits_values(&self) -> bool {
        let result = self.checked.as_ref().map(|checked| &checked.result);
        matches!(result, Some(Err(GridError::NoValues(_))))
            && !self.axes.iter().any(|axis| axis.is_answered && axis.lacks_values())
    }

    /// Draws it over the window.
    pub fn show(&mut self, ctx: &Context, state: &State, actions: &mut Vec<Action>) {
        let modal = widgets::dialog(ctx, "sluice grid").show(ctx, |ui| {
            Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| {
                ui.set_width(size::CARD);
                ui.spacing_mut().item_spacing.y = space::S;
                self.contents(ui, state, actions);
            });
        });
        if widgets::is_clicked_beside(&modal) {
            actions.push(Making::AskGrid(false).into());
        }
    }

    fn contents(&mut self, ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
        let palette = Palette::of(ui);
        ui.label(RichText::new(tr!("grid-title")).font(font::semibold(font::HEADING)).color(palette.text));
        widgets::hint(ui, tr!("grid-hint"));
        let mut is_entered = false;
        for (names, typed) in axis_names().iter().zip(&mut self.axes) {
            is_entered |= axis(ui, names, typed, state);
        }
        self.check(state);
        let result = self.checked.as_ref().map(|checked| &checked.result);
        ui.scope(|ui| {
            ui.set_min_height(20.0);
            match result {
                Some(Ok((grid, seconds))) => {
                    ui.label(RichText::new(summary(grid, *seconds)).color(palette.text));
                }
                Some(Err(GridError::Nothing)) | None => {
                    widgets::hint(ui, tr!("grid-choose"));
                }
                Some(Err(_)) if self.awaits_values() => {
                    widgets::hint(ui, tr!("grid-type-values"));
                }
                Some(Err(error)) => widgets::mistake(ui, &sentence(&error.to_string())),
            }
        });
        ui.horizontal(|ui| {
            let can = self.grid().is_some() && state.can_ask();
            let generate = ui.add_enabled_ui(can, |ui| {
                widgets::button(ui, Some(icons::LAYOUT_GRID), &tr!("grid-generate"), Weight::Primary)
                    .on_hover_text(tr!("grid-generate-tip"))
            });
            let is_wanted = generate.inner.clicked() || is_entered || widgets::is_entered(ui);
            if let Some(grid) = self.grid().filter(|_| can && is_wanted) {
                actions.push(Making::Grid(Box::new(grid.clone())).into());
            } else if is_entered {
                self.axes.iter_mut().for_each(|axis| axis.is_answered = true);
            }
            if widgets::button(ui, None, &tr!("common-cancel"), Weight::Plain)
                .on_hover_text(tr!("grid-cancel-tip"))
                .clicked()
            {
                actions.push(Making::AskGrid(false).into());
            }
        });
    }

    /// Reads what is typed, if anything has changed.
    fn check(&mut self, state: &State) {
        let request = state.to_send();
        let one = state.planning.plan().map(|plan| plan.seconds);
        let is_known = self.checked.as_ref().is_some_and(|checked| {
            checked.axes == self.axes && checked.request == *request && checked.one == one
        });
        if is_known {
            return;
        }
        let mut axes = [None, None, None];
        let mut error = None;
        for (axis, typed) in axes.iter_mut().zip(&self.axes) {
            match typed.axis().transpose() {
                Ok(read) => *axis = read,
                Err(wrong) => error = error.or(Some(wrong)),
            }
        }
        let result = match error {
            Some(error) => Err(error),
            None => Grid::new(axes).and_then(|grid| {
                let grid = grid.with_styles(state.styles.clone());
                grid.cells(&request)?;
                let seconds = state.seconds_of(&grid);
                Ok((grid, seconds))
            }),
        };
        self.checked = Some(Checked { axes: self.axes.clone(), request: request.into_owned(), one, result });
    }
}

/// What an axis is called: alone, as the name of its field, and as that of the button for all values.
fn axis_names() -> [[String; 3]; 3] {
    [
        [tr!("grid-columns"), tr!("grid-columns-values"), tr!("grid-columns-all")],
        [tr!("grid-rows"), tr!("grid-rows-values"), tr!("grid-rows-all")],
        [tr!("grid-tables"), tr!("grid-tables-values"), tr!("grid-tables-all")],
    ]
}

/// Draws an axis, and returns whether Enter was pressed in the field of its values.
fn axis(ui: &mut Ui, [name, values, all_of_them]: &[String; 3], typed: &mut Typed, state: &State) -> bool {
    let before = typed.setting;
    let mut is_entered = false;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        let label = ui
            .scope(|ui| {
                ui.set_min_width(56.0);
                widgets::field_label(ui, name)
            })
            .inner;
        let title = |setting: Option<GridSetting>| setting.map_or_else(|| tr!("grid-nothing"), title_of);
        let choice =
            ComboBox::from_id_salt(name).selected_text(title(typed.setting)).width(CHOICE).height(360.0);
        let choice = widgets::drop_down(ui, choice, |ui| {
            for setting in [None].into_iter().chain(GridSetting::ALL.map(Some)) {
                widgets::entry(ui, &mut typed.setting, setting, title(setting));
            }
        });
        choice.response.labelled_by(label.id).on_hover_text(tr!("grid-setting-tip"));
        if typed.setting != before {
            *typed = Typed { setting: typed.setting, ..Typed::default() };
        }
        let Some(setting) = typed.setting else { return };
        let all = all_values(setting, state);
        let room = if all.is_some() { size::CONTROL + space::S } else { 0.0 };
        let width = ui.available_width() - room;
        let field = egui::TextEdit::singleline(&mut typed.values)
            .id_salt((name, "values"))
            .hint_text(example(setting))
            .margin(Margin::symmetric(10, 6));
        let field = ui
            .add_sized(vec2(width, size::CONTROL), field)
            .on_hover_text(advice(setting))
            .accessible_name(values);
        typed.is_answered |= field.changed();
        let is_pressed = ui.input(|input| input.key_pressed(Key::Enter) && input.modifiers.is_none());
        is_entered = field.lost_focus() && is_pressed;
        if let Some(all) = all
            && widgets::icon_button(ui, icons::LAYERS, all_of_them).clicked()
        {
            typed.values = all;
        }
    });
    is_entered
}

/// The name of a setting, as in the side panel.
fn title_of(setting: GridSetting) -> String {
    match setting {
        GridSetting::Seed => tr!("side-panel-seed"),
        GridSetting::Steps => tr!("side-panel-steps"),
        GridSetting::Guidance => tr!("side-panel-guidance"),
        GridSetting::TrueCfg => tr!("side-panel-true-cfg"),
        GridSetting::Sampler => tr!("side-panel-sampler"),
        GridSetting::Schedule => tr!("side-panel-schedule"),
        GridSetting::Shift => tr!("side-panel-shift"),
        GridSetting::Strength => tr!("side-panel-denoising-strength"),
        GridSetting::Lora => tr!("grid-lora-weight"),
        GridSetting::LoraFile => tr!("grid-lora"),
        GridSetting::Style => tr!("grid-style"),
        GridSetting::Precision => tr!("side-panel-precision"),
        GridSetting::Prompt => tr!("grid-words"),
        GridSetting::Size => tr!("side-panel-size"),
        GridSetting::Width => tr!("side-panel-width"),
        GridSetting::Height => tr!("side-panel-height"),
        GridSetting::ClipSkip => tr!("side-panel-clip-skip"),
        GridSetting::Variation => tr!("side-panel-variation-strength"),
        GridSetting::Model => tr!("grid-model"),
        GridSetting::Frames => tr!("grid-frames"),
        GridSetting::Rescale => tr!("side-panel-guidance-rescale"),
        GridSetting::StepCache => tr!("side-panel-step-cache"),
        GridSetting::HiresScale => tr!("grid-hires-scale"),
        GridSetting::ControlWeight => tr!("grid-control-weight"),
        GridSetting::ImagePromptWeight => tr!("grid-image-prompt-weight"),
        GridSetting::VariationSeed => tr!("side-panel-variation-seed"),
        GridSetting::FrameRate => tr!("side-panel-frame-rate"),
        GridSetting::Interpolation => tr!("interpolate-section"),
        GridSetting::WindowFrames => tr!("grid-window-frames"),
        GridSetting::WindowOverlap => tr!("grid-window-overlap"),
        GridSetting::GuidanceStart => tr!("side-panel-guidance-start"),
        GridSetting::GuidanceEnd => tr!("side-panel-guidance-end"),
        GridSetting::HiresStrength => tr!("grid-hires-strength"),
        GridSetting::HiresSteps => tr!("grid-hires-steps"),
        GridSetting::HiresUpscaler => tr!("grid-hires-upscaler"),
        GridSetting::RefinerSwitch => tr!("side-panel-refiner-switch"),
        GridSetting::ControlStart => tr!("grid-control-start"),
        GridSetting::ControlEnd => tr!("grid-control-end"),
        GridSetting::Preprocessor => tr!("control-nets-preprocessor"),
        GridSetting::ControlStrength => tr!("side-panel-control-strength"),
        GridSetting::ImagePromptStart => tr!("grid-image-prompt-start"),
        GridSetting::ImagePromptEnd => tr!("grid-image-prompt-end"),
        GridSetting::ReferenceStrength => tr!("grid-reference-strength"),
        GridSetting::ReferenceSide => tr!("grid-reference-side"),
        GridSetting::DetailerStrength => tr!("grid-detailer-strength"),
        GridSetting::DetailerConfidence => tr!("grid-detailer-confidence"),
        GridSetting::DetailerSteps => tr!("grid-detailer-steps"),
        GridSetting::DetailerPadding => tr!("grid-detailer-padding"),
        GridSetting::RegionWeight => tr!("grid-region-weight"),
        GridSetting::RegionBase => tr!("grid-region-base"),
        GridSetting::RegionFade => tr!("grid-region-fade"),
        GridSetting::InputImage => tr!("gallery-setting-input-image"),
        GridSetting::Fit => tr!("side-panel-fit"),
        GridSetting::MaskBlur => tr!("side-panel-mask-feather"),
        GridSetting::MaskPadding => tr!("side-panel-mask-padding"),
        GridSetting::OutpaintFeather => tr!("side-panel-outpaint-feather"),
    }
}

/// How values are written, where none are typed.
fn example(setting: GridSetting) -> String {
    match setting {
        GridSetting::Model => tr!("grid-example-models"),
        GridSetting::InputImage => tr!("grid-example-images"),
        GridSetting::Prompt => tr!("grid-example-words"),
        _ => setting.example().to_owned(),
    }
}

fn advice(setting: GridSetting) -> String {
    match setting {
        GridSetting::Prompt => {
            tr!("grid-advice-prompt")
        }
        GridSetting::Lora => tr!("grid-advice-lora"),
        GridSetting::LoraFile | GridSetting::Style => tr!("grid-advice-added"),
        GridSetting::Model => tr!("grid-advice-models"),
        GridSetting::HiresUpscaler => tr!("grid-advice-upscalers"),
        GridSetting::Sampler
        | GridSetting::Schedule
        | GridSetting::Precision
        | GridSetting::Size
        | GridSetting::Fit
        | GridSetting::Preprocessor
        | GridSetting::InputImage => {
            tr!("grid-advice-names", example = example(setting))
        }
        setting if setting.has_names() => tr!("grid-advice-one"),
        _ => tr!("grid-advice-numbers"),
    }
}

/// Every value of a setting that has names.
fn all_values(setting: GridSetting, state: &State) -> Option<String> {
    let none = "none".to_owned();
    let quoted = |name: &str| if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() };
    let added = |names: Vec<String>| {
        let names: Vec<_> = std::iter::once(none).chain(names.iter().map(|name| quoted(name))).collect();
        (names.len() > 1).then(|| names.join(", "))
    };
    match setting {
        GridSetting::Sampler => Some(Sampler::ALL.map(Sampler::title).join(", ")),
        GridSetting::Schedule => Some(Schedule::ALL.map(Schedule::title).join(", ")),
        GridSetting::Precision => {
            let names: Vec<_> = ComputeDtype::ALL.map(ComputeDtype::name).into();
            Some([&["auto"], &names[..]].concat().join(", "))
        }
        GridSetting::Fit => Some(Fit::ALL.map(Fit::name).join(", ")),
        GridSetting::Preprocessor => Some(Preprocessor::ALL.map(Preprocessor::name).join(", ")),
        GridSetting::HiresUpscaler => {
            let known = state.upscalers().into_iter().map(|(model, _)| quoted(&model.to_string()));
            let all = std::iter::once(Enlarger::LATENT.to_owned()).chain(known);
            Some(all.collect::<Vec<_>>().join(", "))
        }
        GridSetting::LoraFile => {
            let stem = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            added(state.adapters.known.iter().map(stem).collect())
        }
        GridSetting::Style => added(state.styles.iter().map(|style| style.name.clone()).collect()),
        GridSetting::Model => {
            let paths: Vec<_> = state.library.image_models().filter_map(Path::to_str).map(quoted).collect();
            (!paths.is_empty()).then(|| paths.join(", "))
        }
        _ => None,
    }
}

/// `12 images · 3 × 4 · about 1 min 20 s`.
fn summary(grid: &Grid, seconds: Option<f64>) -> String {
    let [columns, rows, tables] = grid.labels().sides();
    let sides =
        if tables > 1 { format!("{columns} × {rows} × {tables}") } else { format!("{columns} × {rows}") };
    let count = grid.count();
    match seconds {
        Some(seconds) => {
            let time = units::seconds(seconds);
            tr!("grid-summary-time", count = count, sides = sides, time = time)
        }
        None => tr!("grid-summary", count = count, sides = sides),
    }
}
