//! An input image with what is to be generated around it.

use super::{Fit, Image, fitted};
use crate::request::Outpaint;

/// The image with its edge repeated in the pixels that are added.
pub(super) fn extended(image: &Image, outpaint: &Outpaint) -> Image {
    let [width, height] = outpaint.extended([image.width, image.height]);
    let inside = |place: u32, before: u32, length: u32| place.saturating_sub(before).min(length - 1);
    let mut pixels = Vec::with_capacity(3 * width as usize * height as usize);
    for row in 0..height {
        let row = inside(row, outpaint.top, image.height) as usize * image.width as usize;
        for column in 0..width {
            let at = 3 * (row + inside(column, outpaint.left, image.width) as usize);
            pixels.extend_from_slice(&image.pixels[at..at + 3]);
        }
    }
    Image::opaque(width, height, pixels)
}

/// The mask of an image of `size` with what is added to it: white there, and over the feather within the image; inside as
/// `own` is, in the image's own proportions.
pub(super) fn mask([width, height]: [u32; 2], own: Option<&Image>, outpaint: &Outpaint) -> Image {
    let own = own.map(|own| fitted(own, Fit::Stretch, width, height));
    let [whole_width, whole_height] = outpaint.extended([width, height]);
    // A feather never reaches beyond the middle: something of the image is left.
    let stays = |length: u32, before: u32, after: u32| {
        let inner =
            |added: u32| if added > 0 { outpaint.feather.min(length.saturating_sub(1) / 2) } else { 0 };
        before + inner(before)..before + length - inner(after)
    };
    let columns = stays(width, outpaint.left, outpaint.right);
    let rows = stays(height, outpaint.top, outpaint.bottom);
    let mut pixels = Vec::with_capacity(3 * whole_width as usize * whole_height as usize);
    for row in 0..whole_height {
        for column in 0..whole_width {
            let is_new = !(rows.contains(&row) && columns.contains(&column));
            let pixel = match &own {
                _ if is_new => [255; 3],
                Some(own) => {
                    let place =
                        (row - outpaint.top) as usize * width as usize + (column - outpaint.left) as usize;
                    own.pixels.as_chunks::<3>().0[place]
                }
                None => [0; 3],
            };
            pixels.extend_from_slice(&pixel);
        }
    }
    Image::opaque(whole_width, whole_height, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gray(width: u32, height: u32, values: &[u8]) -> Image {
        Image::opaque(width, height, values.iter().flat_map(|value| [*value; 3]).collect())
    }

    fn values(image: &Image) -> Vec<u8> {
        image.pixels.iter().step_by(3).copied().collect()
    }

    #[test]
    fn edges_are_repeated_around_the_image() {
        let outpaint = Outpaint { left: 2, bottom: 1, feather: 0, ..Outpaint::default() };
        let image = extended(&gray(2, 2, &[1, 2, 3, 4]), &outpaint);
        assert_eq!([image.width, image.height], [4, 3]);
        assert_eq!(values(&image), [1, 1, 1, 2, 3, 3, 3, 4, 3, 3, 3, 4]);
    }

    #[test]
    fn what_is_added_is_masked_with_the_feather_at_its_sides_alone() {
        let outpaint = Outpaint { right: 1, feather: 1, ..Outpaint::default() };
        let of = |own: Option<&Image>| values(&mask([3, 2], own, &outpaint));
        assert_eq!(of(None), [0, 0, 255, 255, 0, 0, 255, 255]);
        let own = gray(3, 2, &[255, 0, 0, 0, 0, 0]);
        assert_eq!(of(Some(&own)), [255, 0, 255, 255, 0, 0, 255, 255]);
    }

    #[test]
    fn a_wide_feather_leaves_something_of_the_image() {
        let outpaint = Outpaint { left: 1, right: 1, feather: 100, ..Outpaint::default() };
        assert_eq!(values(&mask([3, 1], None, &outpaint)), [255, 255, 0, 255, 255]);
    }
}
