//! Design tokens: all colours, distances, radii and font sizes of the window are defined here.

use std::{collections::BTreeMap, sync::Arc};

use egui::{
    Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, FontTweak, Margin, Shadow,
    Stroke, Style, TextStyle, Theme, Ui, Vec2, Visuals,
    style::{HandleShape, NumberFormatter, ScrollStyle, WidgetVisuals, Widgets},
};

use crate::language::{Language, units};

/// The colours of one theme.
#[derive(Debug, Clone, PartialEq)]
pub struct Palette {
    /// Around the image; the darkest surface.
    pub canvas: Color32,
    /// Panels and bars.
    pub panel: Color32,
    /// Buttons, chips, popups.
    pub raised: Color32,
    /// Hovered surfaces.
    pub hover: Color32,
    /// Pressed surfaces.
    pub press: Color32,
    /// Text fields and slider rails.
    pub field: Color32,
    /// Lines between panels and around fields.
    pub line: Color32,
    /// Lines around hovered elements.
    pub line_strong: Color32,
    /// Primary text.
    pub text: Color32,
    /// Labels and changing numbers.
    pub text_muted: Color32,
    /// Hints.
    pub text_faint: Color32,
    /// The accent colour, for what needs attention.
    pub accent: Color32,
    /// The hovered accent.
    pub accent_hover: Color32,
    /// Text on the accent.
    pub on_accent: Color32,
    /// Selected surfaces.
    pub accent_soft: Color32,
    /// Errors.
    pub danger: Color32,
    /// Surfaces of error messages.
    pub danger_soft: Color32,
    /// Success.
    pub good: Color32,
    /// Stars, on a dark ground.
    pub star: Color32,
    /// Memory of weights, and blocks with resident weights.
    pub weights: Color32,
    /// Memory of activations, and computing time.
    pub activations: Color32,
    /// Memory used by other programs or reserved for them.
    pub others: Color32,
    /// Free memory.
    pub free: Color32,
    /// Time waiting for weights.
    pub wait: Color32,
    /// Overlay on an image in the background.
    pub scrim: Color32,
    /// Shadows of popups and images.
    pub shadow: Color32,
}

const fn hex(rgb: u32) -> Color32 {
    Color32::from_rgb((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
}

/// Dark theme: calm, so that the image is the brightest thing.
pub const DARK: Palette = Palette {
    canvas: hex(0x0d_0e_10),
    panel: hex(0x16_17_1a),
    raised: hex(0x23_25_2a),
    hover: hex(0x2d_30_36),
    press: hex(0x1c_1e_22),
    field: hex(0x0f_10_12),
    line: hex(0x28_2a_2f),
    line_strong: hex(0x43_47_4f),
    text: hex(0xe7_e8_eb),
    text_muted: hex(0xa3_a7_b0),
    text_faint: hex(0x92_97_a1),
    accent: hex(0x5a_b0_dc),
    accent_hover: hex(0x74_c2_ea),
    on_accent: hex(0x06_14_1d),
    accent_soft: hex(0x1a_32_41),
    danger: hex(0xee_84_8b),
    danger_soft: hex(0x2a_1a_1d),
    good: hex(0x6c_c0_8b),
    star: hex(0xf2_c5_4b),
    weights: hex(0x3f_8f_c4),
    activations: hex(0xe3_b3_5c),
    others: hex(0x81_7d_9c),
    free: hex(0x24_27_2d),
    wait: hex(0xe8_58_34),
    scrim: Color32::from_black_alpha(150),
    shadow: Color32::from_black_alpha(110),
};

/// Light theme.
pub const LIGHT: Palette = Palette {
    canvas: hex(0xe6_e8_eb),
    panel: hex(0xf6_f7_f8),
    raised: hex(0xff_ff_ff),
    hover: hex(0xeb_ed_f0),
    press: hex(0xdd_e0_e4),
    field: hex(0xff_ff_ff),
    line: hex(0xd9_dc_e1),
    line_strong: hex(0xb4_b9_c1),
    text: hex(0x1a_1c_20),
    text_muted: hex(0x53_58_61),
    text_faint: hex(0x61_66_70),
    accent: hex(0x1a_6c_9a),
    accent_hover: hex(0x14_5a_82),
    on_accent: hex(0xff_ff_ff),
    accent_soft: hex(0xd8_e9_f3),
    danger: hex(0xa8_26_31),
    danger_soft: hex(0xfb_eb_ec),
    good: hex(0x1b_73_40),
    star: hex(0xf2_c5_4b),
    weights: hex(0x2f_83_b8),
    activations: hex(0xb2_7a_09),
    others: hex(0x7d_79_93),
    free: hex(0xe1_e4_e9),
    wait: hex(0xbf_2f_2b),
    scrim: Color32::from_rgba_premultiplied(150, 150, 150, 150),
    shadow: Color32::from_black_alpha(45),
};

impl Palette {
    /// The palette of the current theme.
    pub fn of(ui: &Ui) -> &'static Self {
        Self::of_theme(ui.visuals().dark_mode)
    }

    /// The palette of the dark theme, or of the light one.
    pub fn of_theme(dark: bool) -> &'static Self {
        if dark { &DARK } else { &LIGHT }
    }
}

/// Distances.
pub mod space {
    /// Within a control.
    pub const XS: f32 = 4.0;
    /// Between related elements.
    pub const S: f32 = 8.0;
    /// Between groups.
    pub const M: f32 = 12.0;
    /// At the edge of a panel.
    pub const L: f32 = 16.0;
    /// Around the image and in cards.
    pub const XL: f32 = 24.0;
}

/// Corner radii.
pub mod radius {
    /// Thumbnails and bars.
    pub const S: u8 = 4;
    /// Controls.
    pub const M: u8 = 7;
    /// Cards and popups.
    pub const L: u8 = 11;
}

/// Heights and widths.
pub mod size {
    /// A button or field.
    pub const CONTROL: f32 = 30.0;
    /// The primary button.
    pub const PRIMARY: f32 = 40.0;
    /// The top bar.
    pub const TOP_BAR: f32 = 48.0;
    /// The status bar.
    pub const STATUS_BAR: f32 = 30.0;
    /// The toolbar under the image.
    pub const TOOLBAR: f32 = 44.0;
    /// A thumbnail's side.
    pub const THUMBNAIL: f32 = 72.0;
    /// The settings panel.
    pub const SIDE_PANEL: f32 = 328.0;
    /// Cards over the image.
    pub const CARD: f32 = 460.0;
    /// Popups of the top bar.
    pub const POPUP: f32 = 340.0;
    /// A progress bar.
    pub const PROGRESS: f32 = 4.0;
    /// The plan panel.
    pub const PLAN_PANEL: f32 = 356.0;
    /// From this window width on, the plan panel is open by default.
    pub const WIDE_WINDOW: f32 = 1500.0;
    /// Initial height of the timeline as a fraction of the window's height.
    pub const TIMELINE: f32 = 0.27;
    /// The timeline while it is empty.
    pub const EMPTY_TIMELINE: f32 = 72.0;
    /// A memory bar.
    pub const BAR: f32 = 8.0;
    /// A row of cells, one per block.
    pub const CELLS: f32 = 18.0;
    /// The track of host memory.
    pub const TRACK: f32 = 26.0;
    /// Track names, to the left of the tracks.
    pub const GUTTER: f32 = 70.0;
    /// A tile of the gallery.
    pub const TILE: f32 = 164.0;
    /// The smallest and the largest one.
    pub const SMALLEST_TILE: f32 = 96.0;
    /// Its thumbnail has as many pixels.
    pub const LARGEST_TILE: f32 = 256.0;
    /// What is selected in the gallery.
    pub const GALLERY_INFO: f32 = 312.0;
    /// The list of collections.
    pub const COLLECTIONS: f32 = 200.0;
    /// From this window width on, it is open by default.
    pub const COLLECTIONS_FROM: f32 = 1200.0;
    /// A menu.
    pub const MENU: f32 = 220.0;
}

/// Font families and sizes.
pub mod font {
    use egui::{FontFamily, FontId};

    /// Weight 500.
    pub const MEDIUM: &str = "Inter medium";
    /// Weight 600.
    pub const SEMIBOLD: &str = "Inter semibold";
    /// The icons.
    pub const ICONS: &str = "Lucide";

    /// Body text.
    pub const BODY: f32 = 13.5;
    /// Labels and status.
    pub const SMALL: f32 = 12.0;
    /// The smallest.
    pub const TINY: f32 = 11.0;
    /// Titles of cards.
    pub const HEADING: f32 = 16.0;
    /// The heading of an empty window.
    pub const TITLE: f32 = 22.0;
    /// Icons in buttons.
    pub const ICON: f32 = 16.0;

    /// Weight 500 at a size.
    pub fn medium(size: f32) -> FontId {
        FontId::new(size, FontFamily::Name(MEDIUM.into()))
    }

    /// Weight 600 at a size.
    pub fn semibold(size: f32) -> FontId {
        FontId::new(size, FontFamily::Name(SEMIBOLD.into()))
    }

    /// Icons at a size.
    pub fn icons(size: f32) -> FontId {
        FontId::new(size, FontFamily::Name(ICONS.into()))
    }
}

/// Installs Sluice's fonts and both themes in a context.
pub fn apply(ctx: &Context) {
    ctx.set_fonts(fonts());
    ctx.set_style_of(Theme::Dark, style(Theme::Dark, &DARK));
    ctx.set_style_of(Theme::Light, style(Theme::Light, &LIGHT));
}

/// Lets panels and popups appear at once, or again fade and slide.
pub fn reduce_motion(ctx: &Context, reduced: bool) {
    let usual = Style::default().animation_time;
    ctx.all_styles_mut(|style| style.animation_time = if reduced { 0.0 } else { usual });
}

/// Leaves out shadows, and what dims the window behind dialogs: each pixel takes time where the CPU draws.
pub fn draw_plainly(ctx: &Context) {
    ctx.all_styles_mut(|style| {
        (style.visuals.popup_shadow, style.visuals.window_shadow) = (Shadow::NONE, Shadow::NONE);
    });
}

/// What dims the window behind a dialog.
pub fn backdrop(ctx: &Context) -> Color32 {
    let is_plain = ctx.global_style().visuals.window_shadow == Shadow::NONE;
    if is_plain { Color32::TRANSPARENT } else { Color32::from_black_alpha(100) }
}

/// Whether there are fonts for what a language is written with.
pub fn can_draw(ctx: &Context, language: &Language) -> bool {
    let has_all = || ctx.fonts_mut(|fonts| fonts.has_glyphs(&FontId::default(), language.sample));
    language.sample.is_empty() || has_all()
}

fn fonts() -> FontDefinitions {
    static INTER: &[u8] = include_bytes!("../../../assets/fonts/Inter.ttf");
    static LUCIDE: &[u8] = include_bytes!("../../../assets/fonts/Lucide.ttf");
    let mut fonts = FontDefinitions::default();
    let fallback = fonts.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    for (name, weight, family) in [
        ("Inter", 400.0, FontFamily::Proportional),
        (font::MEDIUM, 500.0, FontFamily::Name(font::MEDIUM.into())),
        (font::SEMIBOLD, 600.0, FontFamily::Name(font::SEMIBOLD.into())),
    ] {
        let tweak = FontTweak {
            coords: egui::epaint::text::VariationCoords::new([(b"wght", weight)]),
            ..FontTweak::default()
        };
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(INTER).tweak(tweak)));
        let names = std::iter::once(name.to_owned()).chain(fallback.iter().cloned()).collect();
        fonts.families.insert(family, names);
    }
    fonts.font_data.insert(font::ICONS.to_owned(), Arc::new(FontData::from_static(LUCIDE)));
    fonts.families.insert(FontFamily::Name(font::ICONS.into()), vec![font::ICONS.to_owned()]);
    fonts
}

fn style(theme: Theme, palette: &Palette) -> Style {
    let mut style = theme.default_style();
    style.text_styles = BTreeMap::from([
        (TextStyle::Small, FontId::proportional(font::SMALL)),
        (TextStyle::Body, FontId::proportional(font::BODY)),
        (TextStyle::Button, font::medium(font::BODY)),
        (TextStyle::Heading, font::semibold(font::HEADING)),
        (TextStyle::Monospace, FontId::monospace(font::SMALL)),
    ]);
    style.drag_value_text_style = TextStyle::Body;
    style.number_formatter = NumberFormatter::new(|value, decimals| {
        units::figure(&egui::emath::format_with_decimals_in_range(value, decimals))
    });

    let spacing = &mut style.spacing;
    spacing.item_spacing = Vec2::splat(space::S);
    spacing.button_padding = Vec2::new(10.0, 6.0);
    spacing.interact_size = Vec2::new(size::CONTROL, size::CONTROL);
    spacing.menu_margin = Margin::same(6);
    spacing.window_margin = Margin::same(12);
    spacing.extra_text_line_spacing = 3.0;
    spacing.slider_rail_height = 4.0;
    spacing.icon_width = 16.0;
    spacing.icon_width_inner = 10.0;
    spacing.tooltip_width = 320.0;
    spacing.combo_height = 320.0;
    spacing.scroll = ScrollStyle { floating_allocated_width: 0.0, ..ScrollStyle::floating() };

    style.interaction.tooltip_delay = 0.35;
    style.interaction.selectable_labels = false;
    style.animation_time = 0.1;
    style.visuals = visuals(theme, palette);
    style
}

fn visuals(theme: Theme, palette: &Palette) -> Visuals {
    let mut visuals = theme.default_visuals();
    let widget = |fill: Color32, line: Color32, text: Color32| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::new(1.0, line),
        corner_radius: CornerRadius::same(radius::M),
        fg_stroke: Stroke::new(1.0, text),
        expansion: 0.0,
    };
    visuals.widgets = Widgets {
        noninteractive: widget(palette.panel, palette.line, palette.text),
        inactive: widget(palette.raised, palette.line, palette.text),
        hovered: widget(palette.hover, palette.line_strong, palette.text),
        active: widget(palette.press, palette.accent, palette.text),
        open: widget(palette.hover, palette.line_strong, palette.text),
    };
    visuals.selection.bg_fill = palette.accent_soft;
    visuals.selection.stroke = Stroke::new(1.0, palette.accent);
    visuals.hyperlink_color = palette.accent;
    visuals.weak_text_color = Some(palette.text_faint);
    visuals.faint_bg_color = palette.panel;
    visuals.extreme_bg_color = palette.field;
    visuals.text_edit_bg_color = Some(palette.field);
    visuals.code_bg_color = palette.field;
    visuals.error_fg_color = palette.danger;
    visuals.warn_fg_color = palette.danger;
    visuals.panel_fill = palette.panel;
    visuals.window_fill = palette.panel;
    visuals.window_stroke = Stroke::new(1.0, palette.line);
    visuals.window_corner_radius = CornerRadius::same(radius::L);
    visuals.menu_corner_radius = CornerRadius::same(radius::L);
    visuals.window_shadow = shadow(palette);
    visuals.popup_shadow = shadow(palette);
    visuals.slider_trailing_fill = true;
    visuals.handle_shape = HandleShape::Circle;
    visuals.text_cursor.stroke = Stroke::new(1.5, palette.accent);
    visuals.disabled_alpha = 0.45;
    visuals
}

/// The shadow of floating surfaces.
pub fn shadow(palette: &Palette) -> Shadow {
    Shadow { offset: [0, 6], blur: 24, spread: 0, color: palette.shadow }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG 2.2, relative luminance.
    fn luminance(color: Color32) -> f32 {
        let linear = |byte: u8| {
            let value = f32::from(byte) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    fn contrast(a: Color32, b: Color32) -> f32 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_can_be_read() {
        for palette in [DARK, LIGHT] {
            for surface in [
                palette.canvas,
                palette.panel,
                palette.raised,
                palette.hover,
                palette.field,
                palette.accent_soft,
                palette.danger_soft,
            ] {
                for text in [palette.text, palette.text_muted, palette.text_faint] {
                    assert!(contrast(text, surface) >= 4.5, "{text:?} on {surface:?}");
                }
            }
            for (text, surface) in [
                (palette.on_accent, palette.accent),
                (palette.on_accent, palette.accent_hover),
                (palette.danger, palette.panel),
                (palette.danger, palette.danger_soft),
                (palette.accent, palette.panel),
                (palette.good, palette.panel),
            ] {
                assert!(contrast(text, surface) >= 4.5, "{text:?} on {surface:?}");
            }
        }
    }

    /// WCAG 2.2 requires a contrast of 3 between what shows the focus and what is beside it.
    #[test]
    fn the_focus_can_be_seen() {
        for palette in [DARK, LIGHT] {
            for surface in [palette.canvas, palette.panel, palette.raised, palette.field] {
                assert!(contrast(palette.accent, surface) >= 3.0, "on {surface:?}");
            }
        }
    }

    /// WCAG 2.2 requires a contrast of 3 between adjacent parts of a graphic.
    #[test]
    fn kinds_of_memory_can_be_told_apart() {
        for palette in [DARK, LIGHT] {
            let kinds = [palette.weights, palette.activations, palette.others, palette.wait];
            for kind in kinds {
                for surface in [palette.panel, palette.field] {
                    assert!(contrast(kind, surface) >= 3.0, "{kind:?} on {surface:?}");
                }
                assert!(contrast(kind, palette.free) >= 2.5, "{kind:?} beside {:?}", palette.free);
            }
            for (index, a) in kinds.iter().enumerate() {
                for b in &kinds[index + 1..] {
                    let apart: i32 =
                        (0..3).map(|i| (i32::from(a.to_array()[i]) - i32::from(b.to_array()[i])).abs()).sum();
                    assert!(apart >= 120, "{a:?} and {b:?}");
                }
            }
        }
    }
}
