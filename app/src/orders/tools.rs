//! What is asked for beside images and clips: maps and descriptions.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sluice_engine::{
    request::{Describe, ModelSource, Preprocessor, Request, Writing},
    source::GivenMedia,
};

use super::{Given, Inputs, OrderError, Shelf};
use crate::{
    enhancing::descriptions,
    mapping::{MAKERS, request_of},
    seed::random_seed,
};

/// Maps of an image or of the frames of a clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapOrder {
    /// The image or the clip.
    pub image: Given,
    /// What makes the maps.
    pub preprocessor: Preprocessor,
    /// The name of the network, where one is needed; the first one on the shelf if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A map order whose file is there.
#[derive(Debug)]
pub struct ToMap {
    /// The file.
    pub path: PathBuf,
    /// What its header says.
    pub given: GivenMedia,
    /// The request, which asks for nothing where no network is needed.
    pub request: Request,
}

impl MapOrder {
    /// The file and what is asked of the engine.
    ///
    /// # Errors
    /// When a name is not known, the preprocessor makes no map or needs no network, or the picture is none.
    pub fn to_map(&self, shelf: &Shelf, inputs: &mut Inputs) -> Result<ToMap, OrderError> {
        if !MAKERS.contains(&self.preprocessor) {
            return Err(OrderError::MakesNoMap(self.preprocessor.name()));
        }
        let model = match (self.preprocessor.estimated(), &self.model) {
            (Some(kind), Some(name)) => Some(shelf.estimator(kind, name)?),
            (Some(kind), None) => Some(shelf.first_estimator(kind)?),
            (None, Some(_)) => return Err(OrderError::NeedsNoModel(self.preprocessor.name())),
            (None, None) => None,
        };
        let path = inputs.picture_or_clip(&self.image, "the image")?;
        let (request, given) = request_of(&path, self.preprocessor, model)?;
        Ok(ToMap { path, given, request })
    }
}

/// A description of images, which are described together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescribeOrder {
    /// The images.
    pub images: Vec<Given>,
    /// The name of an instruction that comes with Sluice, or what the language model is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// The name of the language model; the usual one on the shelf if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The seed; random if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl DescribeOrder {
    /// The request.
    ///
    /// # Errors
    /// When the language model is not known, or a picture is none.
    pub fn request(&self, shelf: &Shelf, inputs: &mut Inputs) -> Result<Request, OrderError> {
        let known = match &self.instruction {
            Some(name) => descriptions().iter().find(|known| known.id == *name),
            None => descriptions().first(),
        };
        let instruction = match (known, &self.instruction) {
            (Some(known), _) => known.text.clone(),
            (None, own) => own.clone().unwrap_or_default(),
        };
        let images = self.images.iter().map(|image| inputs.file(image, "an image to describe"));
        let images = images.collect::<Result<_, OrderError>>()?;
        let writing = Writing { instruction, ..Writing::default() };
        Ok(Request {
            model: ModelSource::Path(shelf.describer(self.model.as_deref())?),
            seed: self.seed.unwrap_or_else(random_seed),
            describe: Some(Describe { images, writing, ..Describe::default() }),
            ..Request::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::models::Remembered;

    use super::*;

    fn dot() -> Given {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image::RgbImage::new(6, 4).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        Given::of(bytes.get_ref())
    }

    #[test]
    fn maps_need_what_makes_them_and_nothing_else() {
        let shelf = Shelf::of(&[], &mut Remembered::default());
        let to_map = |preprocessor, model: Option<&str>| {
            let order = MapOrder { image: dot(), preprocessor, model: model.map(str::to_owned) };
            order.to_map(&shelf, &mut Inputs::of_data().unwrap())
        };
        let edges = to_map(Preprocessor::Canny, None).unwrap();
        assert_eq!((edges.given.size, edges.request.map_of), ([6, 4], None));
        let said = |preprocessor, model| to_map(preprocessor, model).map(|_| ()).unwrap_err().to_string();
        assert_eq!(said(Preprocessor::Inpaint, None), "the preprocessor inpaint makes no map");
        assert_eq!(said(Preprocessor::Canny, Some("a")), "the preprocessor canny needs no model");
        assert_eq!(said(Preprocessor::Pose, None), "there is no pose model named \"YOLOv8-pose\"");
    }

    #[test]
    fn descriptions_need_a_language_model_that_sees() {
        let shelf = Shelf::of(&[], &mut Remembered::default());
        let order: DescribeOrder = serde_json::from_str(r#"{"images": [], "instruction": "tags"}"#).unwrap();
        let error = order.request(&shelf, &mut Inputs::of_data().unwrap()).unwrap_err();
        assert!(
            matches!(&error, OrderError::Unknown { kind: "language model that sees images", .. }),
            "{error}"
        );
    }
}
