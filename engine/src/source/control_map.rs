//! The maps that ControlNets follow.

use candle_core::{Device, Result as TensorResult, Tensor};

use super::{SourceError, canny::canny, fitted, read};
use crate::{
    output::Image,
    request::{ControlNet, Preprocessor},
};

/// The map of a ControlNet, fitted to this width and height.
///
/// # Errors
/// When the image cannot be read.
pub fn control_map(net: &ControlNet, [width, height]: [u32; 2]) -> Result<Image, SourceError> {
    let image = fitted(&read(&net.image)?, net.fit, width, height);
    Ok(match net.preprocessor {
        Preprocessor::None => image,
        Preprocessor::Canny => canny(&image),
        Preprocessor::Invert => {
            let pixels = image.pixels.iter().map(|value| 255 - value).collect();
            Image::opaque(width, height, pixels)
        }
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
