//! Names that other programs have for preprocessors, and for the kinds of maps that ControlNets follow.

use crate::request::{ControlMode, Preprocessor};

/// A preprocessor by another program's name, and whether its maps are the same. Which network makes depths, poses and segments is
/// chosen here apart.
pub(in crate::output) struct KnownMap {
    pub preprocessor: Preprocessor,
    pub is_same: bool,
}

/// Parts of names that begin like others and mean something else.
const OTHERS: [&str; 10] = [
    "densepose",
    "animal",
    "mediapipe",
    "mlsd",
    "normal",
    "reference",
    "shuffle",
    "ip_adapter",
    "instant_id",
    "marigold_appearance",
];

/// The preprocessor that a name such as `canny`, `CannyEdgePreprocessor` or `canny_image_processor` means.
pub(in crate::output) fn preprocessor(name: &str) -> Option<KnownMap> {
    let plain = name.trim().to_lowercase().replace([' ', '-'], "_");
    let known = |preprocessor, is_same| Some(KnownMap { preprocessor, is_same });
    if matches!(plain.as_str(), "" | "none") {
        return known(Preprocessor::None, true);
    }
    if let Some(own) = Preprocessor::ALL.into_iter().find(|own| own.name() == plain) {
        return known(own, true);
    }
    let has = |parts: &[&str]| parts.iter().any(|part| plain.contains(part));
    if has(&OTHERS) {
        return None;
    }
    if has(&["canny"]) {
        return known(Preprocessor::Canny, true);
    }
    if has(&["lineart", "line_art"]) {
        // Those of other names are drawn by networks.
        return known(Preprocessor::Lineart, has(&["standard"]));
    }
    if has(&["scribble"]) {
        return known(Preprocessor::Scribble, has(&["xdog"]));
    }
    if has(&["depth", "midas"]) {
        return known(Preprocessor::Depth, true);
    }
    if has(&["openpose", "dwpose", "dwpreprocessor"]) {
        return known(Preprocessor::Pose, true);
    }
    if plain.starts_with("seg_") || has(&["semseg", "segmentor", "oneformer", "uniformer"]) {
        return known(Preprocessor::Segments, !has(&["coco"]));
    }
    if has(&["softedge", "soft_edge", "hed", "pidi", "teed"]) {
        return known(Preprocessor::SoftEdge, has(&["hed"]));
    }
    if has(&["inpaint"]) {
        return known(Preprocessor::Inpaint, true);
    }
    if has(&["tile"]) {
        return known(Preprocessor::Tile, true);
    }
    if has(&["blur"]) {
        return known(Preprocessor::Blur, true);
    }
    if has(&["invert"]) {
        return known(Preprocessor::Invert, true);
    }
    if has(&["recolor", "luminance", "intensity"]) {
        return known(Preprocessor::Gray, true);
    }
    if has(&["color"]) {
        return known(Preprocessor::Color, true);
    }
    None
}

/// The kind of map that a name such as `openpose` or `canny/lineart/anime_lineart/mlsd` means, for unions of ControlNets.
pub(in crate::output) fn control_mode(name: &str) -> Option<ControlMode> {
    let plain = name.trim().to_lowercase().replace([' ', '-'], "_");
    if let Some(own) = ControlMode::ALL.into_iter().find(|own| own.name() == plain) {
        return Some(own);
    }
    let beginnings = [
        ("openpose", ControlMode::Pose),
        ("canny", ControlMode::Canny),
        ("lineart", ControlMode::Canny),
        ("hed", ControlMode::SoftEdge),
        ("soft", ControlMode::SoftEdge),
        ("scribble", ControlMode::SoftEdge),
        ("depth", ControlMode::Depth),
        ("normal", ControlMode::Normal),
        ("seg", ControlMode::Segments),
        ("tile", ControlMode::Tile),
        ("blur", ControlMode::Blur),
        ("gray", ControlMode::Gray),
        ("repaint", ControlMode::Inpaint),
        ("inpaint", ControlMode::Inpaint),
    ];
    beginnings.into_iter().find(|(start, _)| plain.starts_with(start)).map(|(_, mode)| mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preprocessors_of_many_programs_mean_the_same() {
        for (name, expected, same) in [
            ("None", Preprocessor::None, true),
            ("canny", Preprocessor::Canny, true),
            ("CannyEdgePreprocessor", Preprocessor::Canny, true),
            ("canny_image_processor", Preprocessor::Canny, true),
            ("canny_edge_detection", Preprocessor::Canny, true),
            ("lineart_standard (from white bg & black line)", Preprocessor::Lineart, true),
            ("lineart_anime", Preprocessor::Lineart, false),
            ("scribble_xdog", Preprocessor::Scribble, true),
            ("FakeScribblePreprocessor", Preprocessor::Scribble, false),
            ("depth_anything_v2", Preprocessor::Depth, true),
            ("MiDaS-DepthMapPreprocessor", Preprocessor::Depth, true),
            ("dw_openpose_full", Preprocessor::Pose, true),
            ("DWPreprocessor", Preprocessor::Pose, true),
            ("seg_ofade20k", Preprocessor::Segments, true),
            ("seg_ofcoco", Preprocessor::Segments, false),
            ("OneFormer-ADE20K-SemSegPreprocessor", Preprocessor::Segments, true),
            ("softedge_hed", Preprocessor::SoftEdge, true),
            ("softedge_pidinet", Preprocessor::SoftEdge, false),
            ("tile_resample", Preprocessor::Tile, true),
            ("blur_gaussian", Preprocessor::Blur, true),
            ("invert (from white bg & black line)", Preprocessor::Invert, true),
            ("recolor_luminance", Preprocessor::Gray, true),
            ("t2ia_color_grid", Preprocessor::Color, true),
            ("inpaint_only+lama", Preprocessor::Inpaint, true),
        ] {
            let Some(known) = preprocessor(name) else { panic!("{name}") };
            assert_eq!((known.preprocessor, known.is_same), (expected, same), "{name}");
        }
        for name in ["normal_bae", "mlsd", "reference_only", "densepose", "mediapipe_face", "shuffle"] {
            assert!(preprocessor(name).is_none(), "{name}");
        }
    }

    #[test]
    fn kinds_of_maps_have_names_in_unions() {
        for (name, expected) in [
            ("openpose", ControlMode::Pose),
            ("hed/pidi/scribble/ted", ControlMode::SoftEdge),
            ("Canny/Lineart/AnimeLineart/Mlsd", ControlMode::Canny),
            ("Segment", ControlMode::Segments),
            ("repaint", ControlMode::Inpaint),
            ("low_quality", ControlMode::LowQuality),
        ] {
            assert_eq!(control_mode(name), Some(expected), "{name}");
        }
        for unknown in ["auto", "Unknown", ""] {
            assert_eq!(control_mode(unknown), None, "{unknown}");
        }
    }
}
