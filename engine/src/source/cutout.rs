//! The part of an input image around its mask, which is inpainted alone and at full resolution: "only masked" of
//! AUTOMATIC1111's web UI.

use super::{Fit, Image, Mask, fitted};

/// A part of an image, in pixels. The ends are outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    pub left: u32,
    pub top: u32,
    pub right: u32,
    pub bottom: u32,
}

impl Region {
    /// The masked pixels and `padding` pixels around them, as `get_crop_region` of A1111 has it. Absent if nothing is
    /// masked.
    pub fn around(mask: &Mask, padding: u32) -> Option<Self> {
        let [width, height] = mask.size();
        let rows = || (0..height).filter(|&row| mask.row(row).contains(&true));
        let (top, last) = (rows().next()?, rows().next_back()?);
        let firsts = rows().filter_map(|row| mask.row(row).iter().position(|&open| open));
        let lasts = rows().filter_map(|row| mask.row(row).iter().rposition(|&open| open));
        let (left, right) = (firsts.min()? as u32, lasts.max()? as u32 + 1);
        Some(Self {
            left: left.saturating_sub(padding),
            top: top.saturating_sub(padding),
            right: right.saturating_add(padding).min(width),
            bottom: (last + 1).saturating_add(padding).min(height),
        })
    }

    /// Grown along one axis to the aspect ratio of an image of `wanted` width and height, as far as an image of `whole`
    /// width and height goes, as `expand_crop_region` of A1111 has it.
    pub fn with_aspect(self, wanted: [u32; 2], whole: [u32; 2]) -> Self {
        let [width, height] = self.size().map(f64::from);
        let ratio = f64::from(wanted[0]) / f64::from(wanted[1]);
        if width / height > ratio {
            let [top, bottom] = grown([self.top, self.bottom], width / ratio, whole[1]);
            Self { top, bottom, ..self }
        } else {
            let [left, right] = grown([self.left, self.right], height * ratio, whole[0]);
            Self { left, right, ..self }
        }
    }

    /// Width and height.
    pub fn size(self) -> [u32; 2] {
        [self.right - self.left, self.bottom - self.top]
    }
}

/// A stretch that is lengthened to both sides and stays within 0 and `end`.
fn grown([first, last]: [u32; 2], wanted: f64, end: u32) -> [u32; 2] {
    let (first, last, end) = (i64::from(first), i64::from(last), i64::from(end));
    let more = (wanted - (last - first) as f64) as i64;
    let (mut first, mut last) = (first - more / 2, last + more - more / 2);
    if last >= end {
        (first, last) = (first - (last - end), end);
    }
    if first < 0 {
        (first, last) = (0, last - first);
    }
    [first as u32, last.min(end) as u32]
}

/// An input image of which only a part is inpainted.
#[derive(Debug, Clone)]
pub(super) struct Cutout {
    whole: Image,
    region: Region,
    /// The mask of the region in the image's own pixels.
    mask: Mask,
}

impl Cutout {
    /// The part of `whole` around a mask of its size, to be inpainted in a size of `wanted` width and height. Absent if
    /// nothing is masked.
    pub fn of(whole: Image, mask: &Mask, padding: u32, wanted: [u32; 2]) -> Option<Self> {
        let region = Region::around(mask, padding)?.with_aspect(wanted, [whole.width, whole.height]);
        Some(Self { mask: mask.part(region), region, whole })
    }

    /// The part. At the edges of the image it may have another aspect ratio than wanted; A1111 then repeats its edge.
    pub fn part(&self) -> Image {
        self.part_of(&self.whole)
    }

    /// The same part of an image of the same size.
    pub fn part_of(&self, image: &Image) -> Image {
        let [width, height] = self.region.size();
        let rows = (self.region.top..self.region.bottom).flat_map(|row| {
            let start = 3 * (row as usize * image.width as usize + self.region.left as usize);
            &image.pixels[start..start + 3 * width as usize]
        });
        Image::opaque(width, height, rows.copied().collect())
    }

    /// The whole image with what was drawn in place of the part: within the mask, fading in over `blur` pixels, or
    /// everywhere in the part without a blur.
    pub fn with(&self, drawn: &Image, blur: Option<u32>) -> Image {
        let mut whole = self.whole.clone();
        self.put(&mut whole, drawn, blur);
        whole
    }

    /// The same in an image of the same size, of which other parts may have changed.
    pub fn put(&self, whole: &mut Image, drawn: &Image, blur: Option<u32>) {
        let [width, height] = self.region.size();
        let drawn = fitted(drawn, Fit::Crop, width, height);
        let mut part = self.part_of(whole);
        match blur {
            Some(blur) => self.mask.mix(&mut part, &drawn, blur),
            None => part = drawn,
        }
        let length = 3 * width as usize;
        for (row, pixels) in (self.region.top..).zip(part.pixels.chunks_exact(length)) {
            let start = 3 * (row as usize * whole.width as usize + self.region.left as usize);
            whole.pixels[start..start + length].copy_from_slice(pixels);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask([width, height]: [u32; 2], [left, top, right, bottom]: [u32; 4]) -> Mask {
        let is_light = move |x, y| (left..right).contains(&x) && (top..bottom).contains(&y);
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| if is_light(x, y) { 255 } else { 0 }));
        Mask::of(&Image::opaque(width, height, pixels.flat_map(|value| [value; 3]).collect()))
    }

    fn sides(region: Region) -> [u32; 4] {
        [region.left, region.top, region.right, region.bottom]
    }

    /// The numbers are those of `get_crop_region` and `expand_crop_region` in A1111's `modules/masking.py`, run in Python.
    #[test]
    fn regions_are_those_of_a1111() {
        for (size, light, padding, wanted, cropped, expanded) in [
            ([640, 480], [300, 200, 428, 232], 32, [512, 512], [268, 168, 460, 264], [268, 120, 460, 312]),
            ([640, 480], [0, 0, 40, 200], 32, [512, 512], [0, 0, 72, 232], [0, 0, 232, 232]),
            ([640, 480], [600, 440, 640, 480], 0, [768, 512], [600, 440, 640, 480], [580, 440, 640, 480]),
            ([640, 480], [10, 100, 630, 200], 32, [512, 512], [0, 68, 640, 232], [0, 0, 640, 480]),
            ([640, 480], [610, 10, 639, 470], 16, [1024, 512], [594, 0, 640, 480], [0, 0, 640, 480]),
            ([333, 777], [101, 203, 152, 280], 7, [832, 1216], [94, 196, 159, 287], [94, 194, 159, 289]),
            ([333, 777], [5, 700, 300, 770], 7, [832, 1216], [0, 693, 307, 777], [0, 329, 307, 777]),
            ([64, 64], [31, 31, 32, 32], 0, [64, 48], [31, 31, 32, 32], [31, 31, 32, 32]),
        ] {
            let region = Region::around(&mask(size, light), padding).unwrap();
            assert_eq!(sides(region), cropped, "{size:?} {light:?}");
            assert_eq!(sides(region.with_aspect(wanted, size)), expanded, "{size:?} {light:?}");
        }
        assert_eq!(Region::around(&mask([9, 9], [0; 4]), 4), None);
    }

    #[test]
    fn what_was_drawn_goes_into_the_mask_and_the_rest_keeps_its_bits() {
        let size = [50, 40];
        let pixels = (0..50 * 40 * 3).map(|value| (value % 251) as u8).collect();
        let whole = Image::opaque(50, 40, pixels);
        let mask = mask(size, [20, 10, 30, 20]);
        let cutout = Cutout::of(whole.clone(), &mask, 4, [64, 64]).unwrap();
        assert_eq!([cutout.part().width, cutout.part().height], [18, 18]);
        let drawn = Image::opaque(64, 64, vec![255; 64 * 64 * 3]);
        for blur in [Some(0), Some(3), None] {
            let mixed = cutout.with(&drawn, blur);
            assert_eq!([mixed.width, mixed.height], size);
            let pixels = mixed.pixels.as_chunks::<3>().0.iter().zip(whole.pixels.as_chunks::<3>().0);
            for (place, (new, old)) in pixels.enumerate() {
                let (x, y) = (place % 50, place / 50);
                let is_within =
                    |edge: usize| (20 - edge..30 + edge).contains(&x) && (10 - edge..20 + edge).contains(&y);
                match blur {
                    Some(0) if is_within(0) => assert_eq!(*new, [255; 3]),
                    None if is_within(4) => assert_eq!(*new, [255; 3]),
                    Some(3) if is_within(0) => assert!(new.iter().zip(old).all(|(new, old)| new >= old)),
                    _ => assert_eq!(new, old, "{x} {y} {blur:?}"),
                }
            }
        }
    }
}
