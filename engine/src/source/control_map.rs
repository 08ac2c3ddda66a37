//! The maps that ControlNets follow.

use candle_core::{Device, Result as TensorResult, Tensor};

use super::{SourceError, canny::canny, fitted, read};
use crate::{
    output::Image,
    request::{ControlNet, Preprocessor},
};

/// The image of a ControlNet, fitted to this width and height.
///
/// # Errors
/// When it cannot be read.
pub fn control_image(net: &ControlNet, [width, height]: [u32; 2]) -> Result<Image, SourceError> {
    Ok(fitted(&read(&net.image)?, net.fit, width, height))
}

/// The map of a ControlNet, fitted to this width and height; `None` if a network makes it.
///
/// # Errors
/// When the image cannot be read.
pub fn control_map(net: &ControlNet, size: [u32; 2]) -> Result<Option<Image>, SourceError> {
    let image = control_image(net, size)?;
    Ok(match net.preprocessor {
        Preprocessor::None => Some(image),
        Preprocessor::Canny => Some(canny(&image)),
        Preprocessor::Invert => {
            let pixels = image.pixels.iter().map(|value| 255 - value).collect();
            Some(Image::opaque(size[0], size[1], pixels))
        }
        Preprocessor::Depth => None,
    })
}

/// A map as a ControlNet reads it, `[1, 3, height, width]` in 0…1.
///
/// # Errors
/// When there is no memory for it.
pub fn control_tensor(map: &Image) -> TensorResult<Tensor> {
    let pixels = map.pixels.as_chunks::<3>().0;
    let mut values = Vec::with_capacity(3 * pixels.len());
    for colour in 0..3 {
        values.extend(pixels.iter().map(|pixel| f32::from(pixel[colour]) / 255.0));
    }
    Tensor::from_vec(values, (1, 3, map.height as usize, map.width as usize), &Device::Cpu)
}
