//! The input image with its mask, and images to edit.

use image::GrayImage;
use sluice_engine::{
    request::{Outpaint, Request, SourceImage, SourceMask},
    session::ModelSummary,
};

use crate::{
    input_sizes::size_of_inputs,
    orders::{Inputs, MaskOrder, Order, OrderError, OutpaintOrder},
};

impl Order {
    pub(super) fn with_pictures(
        &self,
        request: Request,
        summary: &ModelSummary,
        inputs: &mut Inputs,
    ) -> Result<Request, OrderError> {
        if self.image.is_none() && self.mask.is_some() {
            return Err(OrderError::MaskAlone);
        }
        if self.image.is_none() && self.strength.is_some() {
            return Err(OrderError::StrengthAlone);
        }
        if self.image.is_none() && self.outpaint.is_some() {
            return Err(OrderError::OutpaintAlone);
        }
        let takes = summary.references.as_ref();
        // As `--image` of the command line: models that edit images take it as a reference.
        let edits = takes.is_some_and(|takes| takes.edits)
            && self.mask.is_none()
            && self.outpaint.is_none()
            && self.strength.is_none();
        let mut references = Vec::new();
        let mut source = None;
        if let Some(given) = &self.image {
            let path = inputs.file(given, "the input image")?;
            if edits {
                references.push(path);
            } else {
                let usual = SourceImage::default();
                let usual_strength = if self.outpaint.is_some() { 1.0 } else { usual.strength };
                let mask = self.mask.as_ref().map(|mask| mask_of(mask, inputs)).transpose()?;
                source = Some(SourceImage {
                    path,
                    strength: self.strength.unwrap_or(usual_strength),
                    fit: self.fit.unwrap_or(usual.fit),
                    mask,
                    outpaint: self.outpaint.map(outpaint_of).unwrap_or_default(),
                });
            }
        }
        for given in &self.references {
            references.push(inputs.file(given, "a reference image")?);
        }
        let request = Request { source, references, ..request };
        if self.width.is_some() || self.height.is_some() {
            return Ok(request);
        }
        let size = size_of_inputs(&request, takes, summary.size_multiple)?;
        let [width, height] = size.unwrap_or([request.width, request.height]);
        Ok(Request { width, height, ..request })
    }
}

fn outpaint_of(order: OutpaintOrder) -> Outpaint {
    let OutpaintOrder { left, top, right, bottom, feather } = order;
    Outpaint { left, top, right, bottom, feather: feather.unwrap_or(Outpaint::USUAL_FEATHER) }
}

pub(super) fn mask_of(order: &MaskOrder, inputs: &mut Inputs) -> Result<SourceMask, OrderError> {
    const WHAT: &str = "the mask";
    let given = inputs.file(&order.image, WHAT)?;
    let path = match (order.transparent, order.inverted) {
        (false, false) => given,
        (is_transparent, is_inverted) => {
            let picture = image::open(&given).map_err(|error| OrderError::NotAnImage {
                what: WHAT.to_owned(),
                detail: error.to_string().replace(&given.display().to_string(), "it"),
            })?;
            let mut mask = match is_transparent {
                true => {
                    let picture = picture.to_rgba8();
                    let mask = GrayImage::from_fn(picture.width(), picture.height(), |x, y| {
                        image::Luma([u8::MAX - picture.get_pixel(x, y)[3]])
                    });
                    if mask.pixels().all(|pixel| pixel[0] == 0) {
                        return Err(OrderError::OpaqueMask);
                    }
                    mask
                }
                false => picture.to_luma8(),
            };
            if is_inverted {
                mask.pixels_mut().for_each(|pixel| pixel[0] = u8::MAX - pixel[0]);
            }
            let mut bytes = std::io::Cursor::new(Vec::new());
            mask.write_to(&mut bytes, image::ImageFormat::Png).map_err(|error| OrderError::NotAnImage {
                what: WHAT.to_owned(),
                detail: error.to_string(),
            })?;
            inputs.add(bytes.get_ref(), WHAT)?
        }
    };
    let usual = SourceMask::default();
    Ok(SourceMask {
        path,
        blur: order.blur.unwrap_or(usual.blur),
        only_masked: order.only_masked,
        keeps_the_rest: usual.keeps_the_rest,
    })
}
