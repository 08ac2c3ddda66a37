//! ControlNets of a run, and what they have in common with control clips: preprocessors, and when they have an effect.

use std::{collections::BTreeMap, path::PathBuf};

use sluice_engine::{
    checkpoint::MapKind,
    request::{Control, ControlMode, ControlNet, Preprocessor, Request},
    units::counted,
};

use super::{exit::refuse, names::named};

/// ControlNets, each with its image. All options but the images may be left out, and count in the order in which they
/// are given.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ControlNetArgs {
    /// A ControlNet that steers the image, made for the model: a .safetensors file, or a folder as diffusers has it. Can be
    /// given several times.
    #[arg(long, value_name = "PATH")]
    control_net: Vec<PathBuf>,
    /// The image that a ControlNet follows, in the order of the ControlNets: edges, depths, poses, or an image that a
    /// preprocessor makes a map of. Those that follow the input image (inpaint) take none.
    #[arg(long, value_name = "FILE", requires = "control_net")]
    control_image: Vec<PathBuf>,
    /// What to make of the image first: white edges (canny), lines (lineart) or thick lines (scribble) on black, black and
    /// white swapped (invert), the image without colours (gray), blurred (blur) or without details (tile), a grid of its
    /// colours (color), how near things are (depth), the joints of persons (pose), what is where (segments), soft edges
    /// (soft_edge), or nothing; or the input image without its masked part (inpaint). Without a ControlNet, what to make of
    /// each frame of the control clip (--control-video).
    #[arg(long, value_name = "NAME", value_parser = named(&Preprocessor::ALL, Preprocessor::name))]
    control_preprocessor: Vec<Preprocessor>,
    /// What kind of image a ControlNet follows, for those that follow several (unions). Left out, it is what the preprocessor
    /// makes.
    #[arg(long, value_name = "NAME", value_parser = named(&ControlMode::ALL, ControlMode::name), requires = "control_net")]
    control_mode: Vec<ControlMode>,
    /// What makes depth maps: a .safetensors file of Depth Anything V2, or its folder as transformers saves it.
    #[arg(long, value_name = "PATH", requires = "control_preprocessor")]
    depth_model: Option<PathBuf>,
    /// What finds poses: a .safetensors file of YOLOv8-pose.
    #[arg(long, value_name = "PATH", requires = "control_preprocessor")]
    pose_model: Option<PathBuf>,
    /// What finds segments: a .safetensors file of SegFormer for ADE20K, or its folder as transformers saves it.
    #[arg(long, value_name = "PATH", requires = "control_preprocessor")]
    segment_model: Option<PathBuf>,
    /// What finds soft edges: a .safetensors file of HED.
    #[arg(long, value_name = "PATH", requires = "control_preprocessor")]
    soft_edge_model: Option<PathBuf>,
    /// How strongly a ControlNet counts: 1 is as trained.
    #[arg(long, value_name = "NUMBER", requires = "control_net", allow_negative_numbers = true)]
    control_weight: Vec<f32>,
    /// The fraction of the steps before which a ControlNet has no effect; without one, the control clip and the references.
    #[arg(long, value_name = "FRACTION")]
    control_start: Vec<f64>,
    /// The fraction of the steps after which a ControlNet has no effect; without one, the control clip and the references.
    #[arg(long, value_name = "FRACTION")]
    control_end: Vec<f64>,
}

impl ControlNetArgs {
    /// The request with the ControlNets and what makes their maps. Without ControlNets, what they and a control clip have in
    /// common is of the clip.
    ///
    /// # Errors
    /// Fails if there are not as many images as ControlNets that follow one, or if there is nothing that an option is for.
    pub fn given_to(&self, request: Request) -> anyhow::Result<Request> {
        let control_nets = self.nets()?;
        let control = match control_nets.is_empty() {
            true => self.control(&request)?,
            false => request.control.clone(),
        };
        Ok(Request { control_nets, control, estimators: self.estimators(), ..request })
    }

    /// What controls a clip, with the options that are given for it.
    fn control(&self, request: &Request) -> anyhow::Result<Option<Control>> {
        let preprocessor = only("--control-preprocessor", &self.control_preprocessor)?;
        let start = only("--control-start", &self.control_start)?;
        let end = only("--control-end", &self.control_end)?;
        let given = [
            ("--control-preprocessor", preprocessor.is_some()),
            ("--control-start", start.is_some()),
            ("--control-end", end.is_some()),
        ];
        let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else {
            return Ok(request.control.clone());
        };
        if request.control.is_none() && request.references.is_empty() {
            let advice = "Give a --control-net, or a --control-video in models for that.".to_owned();
            return Err(refuse(format!("{option} is given, and nothing that it is for"), advice));
        }
        let control = request.control.clone().unwrap_or_default();
        Ok(Some(Control {
            preprocessor: preprocessor.unwrap_or(control.preprocessor),
            start: start.unwrap_or(control.start),
            end: end.unwrap_or(control.end),
            ..control
        }))
    }

    /// What makes the maps of each kind.
    fn estimators(&self) -> BTreeMap<MapKind, PathBuf> {
        let given = |kind| match kind {
            MapKind::Depth => &self.depth_model,
            MapKind::Pose => &self.pose_model,
            MapKind::Segments => &self.segment_model,
            MapKind::SoftEdge => &self.soft_edge_model,
        };
        MapKind::ALL.into_iter().filter_map(|kind| Some((kind, given(kind).clone()?))).collect()
    }

    /// The ControlNets.
    ///
    /// # Errors
    /// Fails if there are not as many images as ControlNets that follow one.
    fn nets(&self) -> anyhow::Result<Vec<ControlNet>> {
        let usual = ControlNet::default();
        let preprocessor = |index| given(&self.control_preprocessor, index, usual.preprocessor);
        let follow = (0..self.control_net.len()).filter(|index| !preprocessor(*index).takes_input()).count();
        if follow != self.control_image.len() {
            let advice = "Give a --control-image for each --control-net.".to_owned();
            let [nets, images] = [counted(follow, "ControlNet"), counted(self.control_image.len(), "image")];
            return Err(refuse(format!("{nets} and {images} for them are given"), advice));
        }
        let mut images = self.control_image.iter();
        let net = |(index, model): (usize, &PathBuf)| {
            let preprocessor = preprocessor(index);
            let image = if preprocessor.takes_input() { None } else { images.next() };
            ControlNet {
                model: model.clone(),
                image: image.cloned().unwrap_or_default(),
                preprocessor,
                mode: self.control_mode.get(index).copied(),
                weight: given(&self.control_weight, index, usual.weight),
                start: given(&self.control_start, index, usual.start),
                end: given(&self.control_end, index, usual.end),
                fit: usual.fit,
            }
        };
        Ok(self.control_net.iter().enumerate().map(net).collect())
    }
}

fn given<T: Copy>(all: &[T], index: usize, usual: T) -> T {
    all.get(index).copied().unwrap_or(usual)
}

/// The value of an option that a control clip has once.
fn only<T: Copy>(option: &str, all: &[T]) -> anyhow::Result<Option<T>> {
    match all {
        [] => Ok(None),
        [value] => Ok(Some(*value)),
        more => {
            let what = format!("{option} is given {} times, and there is one control clip", more.len());
            Err(refuse(what, "Give it once.".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    /// A command line of these options.
    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        nets: ControlNetArgs,
    }

    fn given_to(request: Request, options: &str) -> anyhow::Result<Request> {
        let words = std::iter::once("line").chain(options.split_whitespace());
        Line::try_parse_from(words)?.nets.given_to(request)
    }

    fn controlled() -> Request {
        let control = Control { video: Some("walk.mp4".into()), strength: 0.5, ..Control::default() };
        Request { control: Some(control), ..Request::default() }
    }

    #[test]
    fn without_control_nets_a_control_clip_has_the_options() {
        let options = "--control-preprocessor depth --depth-model depth.safetensors --control-end 0.5";
        let request = given_to(controlled(), options).unwrap();
        let expected =
            Control { preprocessor: Preprocessor::Depth, end: 0.5, ..controlled().control.unwrap() };
        assert_eq!(request.control, Some(expected));
        assert_eq!(request.estimators.keys().copied().collect::<Vec<_>>(), [MapKind::Depth]);
        let references = Request { references: vec!["cat.png".into()], ..Request::default() };
        let request = given_to(references, "--control-start 0.2").unwrap();
        assert_eq!(request.control, Some(Control { start: 0.2, ..Control::default() }));
        assert_eq!(given_to(controlled(), "").unwrap(), controlled());
    }

    #[test]
    fn with_control_nets_they_have_the_options() {
        let options =
            "--control-net edges --control-image fox.png --control-preprocessor canny --control-end 0.5";
        let request = given_to(controlled(), options).unwrap();
        assert_eq!(request.control, controlled().control);
        let net = &request.control_nets[0];
        assert_eq!((net.preprocessor, net.end), (Preprocessor::Canny, 0.5));
    }

    #[test]
    fn options_for_nothing_or_given_twice_are_refused() {
        for option in ["--control-preprocessor canny", "--control-start 0.1", "--control-end 0.9"] {
            let said = given_to(Request::default(), option).unwrap_err().to_string();
            assert!(said.contains("nothing that it is for"), "{said}");
            let said = given_to(controlled(), &format!("{option} {option}")).unwrap_err().to_string();
            assert!(said.contains("is given 2 times"), "{said}");
        }
    }
}
