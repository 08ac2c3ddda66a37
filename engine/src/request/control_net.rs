//! ControlNets: networks that steer an image along the edges, depths or poses of another one.

use std::{collections::BTreeSet, ops::Range, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{Control, Fit, Request, RequestError};
use crate::checkpoint::MapKind;

/// A ControlNet (Zhang et al. 2023, arXiv:2302.05543) with the image that it follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlNet {
    /// Its file or folder.
    pub model: PathBuf,
    /// The image: a map such as edges, or one that a preprocessor makes a map of. Empty if the preprocessor takes the
    /// [input image](Preprocessor::takes_input).
    pub image: PathBuf,
    /// What is made of the image first.
    pub preprocessor: Preprocessor,
    /// The kind of the map, for ControlNets that follow several; that of the preprocessor if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ControlMode>,
    /// How strongly it counts; 1 is as trained.
    pub weight: f32,
    /// The fraction of the steps before which it has no effect.
    pub start: f64,
    /// The fraction of the steps after which it has no effect.
    pub end: f64,
    /// How the image is fitted to the requested size.
    pub fit: Fit,
}

/// Makes a map of an image for a ControlNet, or of each frame of a clip that controls another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preprocessor {
    /// The image is a map already.
    #[default]
    None,
    /// White edges on black, by Canny's method.
    Canny,
    /// White lines on black, as strong as they stand out.
    Lineart,
    /// Thick white lines on black.
    Scribble,
    /// Swaps black and white, for drawings with dark lines.
    Invert,
    /// The image without colours.
    Gray,
    /// The image blurred.
    Blur,
    /// The image without details.
    Tile,
    /// A grid of the image's colours.
    Color,
    /// The input image of the request without its masked part.
    Inpaint,
    /// White what is near and black what is far, by a map estimator of the request, as those that follow.
    Depth,
    /// The joints of persons, and lines between them, in the colours of OpenPose.
    Pose,
    /// What is where, as areas in the colours of ADE20K.
    Segments,
    /// Soft edges, white on black.
    SoftEdge,
}

impl Preprocessor {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 14] = [
        Self::None,
        Self::Canny,
        Self::Lineart,
        Self::Scribble,
        Self::Invert,
        Self::Gray,
        Self::Blur,
        Self::Tile,
        Self::Color,
        Self::Inpaint,
        Self::Depth,
        Self::Pose,
        Self::Segments,
        Self::SoftEdge,
    ];

    /// Those that make a map of each frame of a clip, in the same order.
    pub fn of_clips() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|preprocessor| !preprocessor.takes_input())
    }

    /// The name on the command line and in saved settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Canny => "canny",
            Self::Lineart => "lineart",
            Self::Scribble => "scribble",
            Self::Invert => "invert",
            Self::Gray => "gray",
            Self::Blur => "blur",
            Self::Tile => "tile",
            Self::Color => "color",
            Self::Inpaint => "inpaint",
            Self::Depth => "depth",
            Self::Pose => "pose",
            Self::Segments => "segments",
            Self::SoftEdge => "soft_edge",
        }
    }

    /// The kind of map for which it needs a map estimator.
    pub fn estimated(self) -> Option<MapKind> {
        match self {
            Self::Depth => Some(MapKind::Depth),
            Self::Pose => Some(MapKind::Pose),
            Self::Segments => Some(MapKind::Segments),
            Self::SoftEdge => Some(MapKind::SoftEdge),
            Self::None
            | Self::Canny
            | Self::Lineart
            | Self::Scribble
            | Self::Invert
            | Self::Gray
            | Self::Blur
            | Self::Tile
            | Self::Color
            | Self::Inpaint => None,
        }
    }

    /// Whether it takes the input image of the request and its mask, and not an image of the ControlNet's own.
    pub fn takes_input(self) -> bool {
        self == Self::Inpaint
    }

    /// The kind of the maps that it makes, if that is one which ControlNets are told.
    fn mode(self) -> Option<ControlMode> {
        match self {
            Self::Canny | Self::Lineart => Some(ControlMode::Canny),
            Self::Scribble | Self::SoftEdge => Some(ControlMode::SoftEdge),
            Self::Gray => Some(ControlMode::Gray),
            Self::Blur => Some(ControlMode::Blur),
            Self::Tile => Some(ControlMode::Tile),
            Self::Inpaint => Some(ControlMode::Inpaint),
            Self::Depth => Some(ControlMode::Depth),
            Self::Pose => Some(ControlMode::Pose),
            Self::Segments => Some(ControlMode::Segments),
            Self::None | Self::Invert | Self::Color => None,
        }
    }
}

/// A kind of map, for ControlNets that follow several and have to be told which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlMode {
    /// White edges or lines on black.
    Canny,
    /// An image whose details are drawn anew.
    Tile,
    /// White what is near and black what is far.
    Depth,
    /// A blurred image.
    Blur,
    /// The joints of people, as lines.
    Pose,
    /// An image without colours.
    Gray,
    /// An image of low quality.
    LowQuality,
    /// Soft edges, or lines drawn by hand, white on black.
    SoftEdge,
    /// Where surfaces face, as colours.
    Normal,
    /// What is where, as areas of colours.
    Segments,
    /// An image whose masked part is missing.
    Inpaint,
}

impl ControlMode {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 11] = [
        Self::Canny,
        Self::Tile,
        Self::Depth,
        Self::Blur,
        Self::Pose,
        Self::Gray,
        Self::LowQuality,
        Self::SoftEdge,
        Self::Normal,
        Self::Segments,
        Self::Inpaint,
    ];

    /// The name on the command line and in saved settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Canny => "canny",
            Self::Tile => "tile",
            Self::Depth => "depth",
            Self::Blur => "blur",
            Self::Pose => "pose",
            Self::Gray => "gray",
            Self::LowQuality => "low_quality",
            Self::SoftEdge => "soft_edge",
            Self::Normal => "normal",
            Self::Segments => "segments",
            Self::Inpaint => "inpaint",
        }
    }
}

impl Request {
    /// The kinds of maps that networks make for its ControlNets and of its control clip, each once.
    pub fn map_kinds(&self) -> BTreeSet<MapKind> {
        let nets = self.control_nets.iter().filter_map(|net| net.preprocessor.estimated());
        nets.chain(self.control.as_ref().and_then(Control::estimated)).collect()
    }

    /// How many maps of this kind networks make: those that ControlNets follow, and one of each frame of the control clip.
    pub fn maps_made(&self, kind: MapKind) -> usize {
        let is_followed = self.control.as_ref().and_then(Control::estimated) == Some(kind);
        self.followers_of(kind).len() + if is_followed { self.frames as usize } else { 0 }
    }

    /// The ControlNets that follow maps of this kind, by their places. Those of the same image in the same fit follow one map.
    pub fn followers_of(&self, kind: MapKind) -> Vec<Vec<usize>> {
        let mut maps: Vec<Vec<usize>> = Vec::new();
        for (number, net) in self.control_nets.iter().enumerate() {
            if net.preprocessor.estimated() != Some(kind) {
                continue;
            }
            let of = |net: &ControlNet| (net.image.clone(), net.fit);
            match maps.iter_mut().find(|map| of(&self.control_nets[map[0]]) == of(net)) {
                Some(map) => map.push(number),
                None => maps.push(vec![number]),
            }
        }
        maps
    }
}

impl Default for ControlNet {
    fn default() -> Self {
        Self {
            model: PathBuf::new(),
            image: PathBuf::new(),
            preprocessor: Preprocessor::default(),
            mode: None,
            weight: 1.0,
            start: 0.0,
            end: 1.0,
            fit: Fit::default(),
        }
    }
}

impl ControlNet {
    /// Most of them in a request.
    pub const MOST: usize = 4;
    /// Largest weight.
    pub const LARGEST_WEIGHT: f32 = 2.0;

    /// The kind of its map, if that is known.
    pub fn mode(&self) -> Option<ControlMode> {
        self.mode.or(self.preprocessor.mode())
    }

    /// Checks that a ControlNet which has to be told these kinds of maps apart is told one of them.
    pub(crate) fn validate_mode(&self, modes: &[ControlMode]) -> Result<(), RequestError> {
        let names = || modes.iter().map(|mode| mode.name()).collect::<Vec<_>>().join(", ");
        match (self.mode(), modes.is_empty()) {
            (_, true) if self.mode.is_none() => Ok(()),
            (_, true) => Err(RequestError::ControlNetHasNoModes),
            (None, false) => Err(RequestError::ControlNetWithoutMode { modes: names() }),
            (Some(mode), false) if modes.contains(&mode) => Ok(()),
            (Some(mode), false) => {
                Err(RequestError::NoSuchControlMode { mode: mode.name().to_owned(), modes: names() })
            }
        }
    }

    /// Checks what can be checked without the files and the model.
    pub(super) fn validate(&self) -> Result<(), RequestError> {
        if self.image.as_os_str().is_empty() && !self.preprocessor.takes_input() {
            return Err(RequestError::ControlNetWithoutImage);
        }
        if !(0.0..=Self::LARGEST_WEIGHT).contains(&self.weight) {
            return Err(RequestError::ControlNetWeight(self.weight));
        }
        if !is_part_of_run(self.start..self.end) {
            return Err(RequestError::ControlNetRange { start: self.start, end: self.end });
        }
        Ok(())
    }

    /// The noise levels at which it has an effect: those of the steps that lie between its start and its end, from
    /// above the first number up to the second. `sigmas` are those of the steps, and the last step's final one.
    pub fn levels(&self, sigmas: &[f32]) -> [f32; 2] {
        levels_between(self.start..self.end, sigmas)
    }
}

/// Whether a range is one of fractions of all steps, from 0 to 1.
pub(crate) fn is_part_of_run(fractions: Range<f64>) -> bool {
    (0.0..1.0).contains(&fractions.start) && fractions.end > fractions.start && fractions.end <= 1.0
}

/// The noise levels of the steps that lie in a range of fractions of all steps, from above the first number up to the second.
pub(super) fn levels_between(fractions: Range<f64>, sigmas: &[f32]) -> [f32; 2] {
    let steps = sigmas.len().saturating_sub(1);
    let begins = |step: usize| step as f64 / steps as f64;
    let acts = |step: &usize| begins(*step) >= fractions.start && begins(*step + 1) <= fractions.end;
    let acting: Vec<usize> = (0..steps).filter(acts).collect();
    match acting[..] {
        [first, .., last] => [sigmas[last + 1], sigmas[first]],
        [only] => [sigmas[only + 1], sigmas[only]],
        [] => [0.0, 0.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_those_of_the_steps_between_start_and_end() {
        let sigmas = [8.0, 4.0, 2.0, 1.0, 0.0];
        for (start, end, expected) in [
            (0.0, 1.0, [0.0, 8.0]),
            (0.0, 0.5, [2.0, 8.0]),
            (0.3, 1.0, [0.0, 2.0]),
            (0.25, 0.5, [2.0, 4.0]),
            (0.3, 0.4, [0.0, 0.0]),
        ] {
            let net = ControlNet { start, end, ..ControlNet::default() };
            assert_eq!(net.levels(&sigmas), expected, "{start} to {end}");
        }
    }

    #[test]
    fn control_nets_of_one_image_follow_one_map() {
        let net = |image: &str, preprocessor| ControlNet {
            image: image.into(),
            preprocessor,
            ..ControlNet::default()
        };
        let (fox, owl) = (net("fox.png", Preprocessor::Depth), net("owl.png", Preprocessor::Depth));
        let edges = net("fox.png", Preprocessor::Canny);
        let control_nets = vec![edges, fox.clone(), owl, ControlNet { weight: 0.5, ..fox.clone() }];
        let mut request = Request { control_nets, ..Request::default() };
        assert_eq!(request.followers_of(MapKind::Depth), [vec![1, 3], vec![2]]);
        request.control_nets[3].fit = Fit::Pad;
        assert_eq!(request.followers_of(MapKind::Depth), [vec![1], vec![2], vec![3]]);
        assert_eq!(request.followers_of(MapKind::Pose), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn weights_and_ranges_out_of_bounds_are_refused() {
        assert_eq!(ControlNet::default().validate(), Err(RequestError::ControlNetWithoutImage));
        let usual = ControlNet { image: "edges.png".into(), ..ControlNet::default() };
        assert_eq!(usual.validate(), Ok(()));
        for weight in [-0.1, 2.5, f32::NAN] {
            let net = ControlNet { weight, ..usual.clone() };
            assert!(matches!(net.validate(), Err(RequestError::ControlNetWeight(_))), "{weight}");
        }
        for (start, end) in [(0.5, 0.5), (-0.1, 1.0), (0.0, 1.1), (0.6, 0.4), (f64::NAN, 1.0)] {
            let net = ControlNet { start, end, ..usual.clone() };
            assert!(matches!(net.validate(), Err(RequestError::ControlNetRange { .. })), "{start} {end}");
        }
    }
}
