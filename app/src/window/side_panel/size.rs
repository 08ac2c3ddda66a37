//! Width and height.

use egui::{DragValue, RichText, Ui, vec2};
use sluice_engine::{
    request::{Request, RequestError},
    session::{Defaults, ModelSummary},
};

use super::{
    hires, outpaint,
    parts::{Parts, sentence},
};
use crate::{
    language::tr,
    window::{
        icons,
        state::{Aspect, MAX_SIDE, State, snap},
        tokens::{Palette, size, space},
        widgets::{self, Weight},
    },
};

/// Draws the aspect ratios and the sides.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>) {
    let Parts { state, mistake, draft, .. } = parts;
    widgets::field_label(ui, &tr!("side-panel-size"));
    let multiple = state.size_multiple();
    let request = &mut draft.request;
    let area = state.summary().map_or(u64::from(request.width) * u64::from(request.height), |summary| {
        u64::from(summary.defaults.width) * u64::from(summary.defaults.height)
    });
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let count = Aspect::presets().len() as f32;
        let width = (ui.available_width() - 2.0 * (count - 1.0)) / count;
        for &aspect in Aspect::presets() {
            let wanted = aspect.size(area, multiple);
            let selected = wanted == (request.width, request.height);
            let tip = format!("{} × {}", wanted.0, wanted.1);
            let sides = (aspect.width, aspect.height);
            let button = widgets::aspect_button(ui, sides, &aspect.name(), selected, width);
            if button.on_hover_text(tip).clicked() {
                (request.width, request.height) = wanted;
            }
        }
    });
    ui.horizontal(|ui| {
        let width = (ui.available_width() - size::CONTROL - 2.0 * space::S) / 2.0;
        side(ui, &tr!("side-panel-width"), &mut request.width, multiple, width);
        if widgets::icon_button(ui, icons::ARROW_LEFT_RIGHT, &tr!("side-panel-swap-sides")).clicked() {
            std::mem::swap(&mut request.width, &mut request.height);
        }
        side(ui, &tr!("side-panel-height"), &mut request.height, multiple, width);
    });
    if let Some([width, height]) = outpaint::size_before_drag(ui) {
        if let Some(summary) = state.summary() {
            let mut before = Request { width, height, ..draft.request.clone() };
            trained_for(ui, state, summary, &mut before, multiple);
        }
        return;
    }
    if let Some(error @ (RequestError::SizeNotMultiple { .. } | RequestError::SideTooLong { .. })) = mistake {
        widgets::mistake(ui, &sentence(error));
        if widgets::button(ui, None, &tr!("side-panel-round-size"), Weight::Plain)
            .on_hover_text(tr!("side-panel-round-size-tip"))
            .clicked()
        {
            draft.snap_size(multiple);
        }
        return;
    }
    if let Some(summary) = state.summary() {
        trained_for(ui, state, summary, &mut draft.request, multiple);
    }
}

/// Says when a size is far from what the model was trained for, and offers the nearest one that is not, also to start from
/// with hires fix.
fn trained_for(ui: &mut Ui, state: &State, summary: &ModelSummary, request: &mut Request, multiple: u32) {
    let defaults = &summary.defaults;
    let area = u64::from(defaults.width) * u64::from(defaults.height);
    let Some(is_larger) = outside(defaults, request) else {
        usual_aspect(ui, request, area, multiple, summary.frame_multiple.is_some());
        return;
    };
    let Defaults { width, height, .. } = *defaults;
    let words = match is_larger {
        true => tr!("side-panel-size-larger", width = width, height = height),
        false => tr!("side-panel-size-smaller", width = width, height = height),
    };
    widgets::hint(ui, words);
    let aspect = Aspect { width: request.width.max(1), height: request.height.max(1) };
    let (width, height) = aspect.size(area, multiple);
    if widgets::button(ui, None, &tr!("side-panel-use-size", width = width, height = height), Weight::Plain)
        .on_hover_text(tr!("side-panel-use-size-trained-tip"))
        .clicked()
    {
        (request.width, request.height) = (width, height);
        return;
    }
    if is_larger {
        hires::offer(ui, state, request, (width, height));
    }
}

/// Says when an image or a clip is much wider or taller than those that models are made for, and offers the nearest aspect
/// ratio.
fn usual_aspect(ui: &mut Ui, request: &mut Request, area: u64, multiple: u32, makes_clips: bool) {
    let Some(nearest) = Aspect::instead_of(request.width, request.height) else { return };
    let Some([tallest, widest]) = Aspect::extremes() else { return };
    let (tallest, widest) = (tallest.name(), widest.name());
    widgets::hint(
        ui,
        match makes_clips {
            true => tr!("side-panel-aspect-far", tallest = tallest, widest = widest),
            false => tr!("side-panel-aspect-far-image", tallest = tallest, widest = widest),
        },
    );
    let (width, height) = nearest.size(area, multiple);
    if widgets::button(ui, None, &tr!("side-panel-use-size", width = width, height = height), Weight::Plain)
        .on_hover_text(tr!("side-panel-use-size-trained-tip"))
        .clicked()
    {
        (request.width, request.height) = (width, height);
    }
}

/// Whether a size is much larger or much smaller than what the model was trained for.
fn outside(defaults: &Defaults, request: &Request) -> Option<bool> {
    let area = |width: u32, height: u32| f64::from(width) * f64::from(height);
    let share = area(request.width, request.height) / area(defaults.width, defaults.height).max(1.0);
    let [fewest, most] = defaults.range.map(f64::from);
    (!(fewest..=most).contains(&share)).then_some(share > 1.0)
}

fn side(ui: &mut Ui, name: &str, value: &mut u32, multiple: u32, width: f32) {
    let prefix = RichText::new(format!("{name}  ")).color(Palette::of(ui).text_faint);
    let field = DragValue::new(value)
        .range(multiple..=MAX_SIDE)
        .clamp_existing_to_range(false)
        .speed(multiple as f32 / 4.0)
        .update_while_editing(false)
        .prefix(prefix);
    let response = ui.add_sized(vec2(width, size::CONTROL), field).accessible_name(name);
    if response.on_hover_text(tr!("side-panel-side-tip", multiple = multiple)).changed() {
        *value = snap(*value, multiple);
    }
}
