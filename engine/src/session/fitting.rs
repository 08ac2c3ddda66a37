//! How much smaller a request has to be to fit.

use crate::request::Request;

/// Sizes that are looked at have this many fractions of the pixels.
const FRACTIONS: u32 = 16;
/// The fewest of them: half of each side.
const FEWEST: u32 = FRACTIONS / 4;

/// The most pixels with which a request fits that does not: width and height, as long as each other as before as nearly as
/// multiples allow.
pub fn size(request: &Request, multiple: u32, fits: &mut impl FnMut(&Request) -> bool) -> Option<[u32; 2]> {
    let own = [request.width, request.height];
    let side = |side: u32, fraction: u32| {
        let scaled = f64::from(side) * (f64::from(fraction) / f64::from(FRACTIONS)).sqrt();
        ((scaled / f64::from(multiple)).round() as u32).max(1) * multiple
    };
    let mut sizes: Vec<[u32; 2]> =
        (FEWEST..FRACTIONS).map(|fraction| own.map(|own| side(own, fraction))).collect();
    sizes.dedup();
    sizes.retain(|size| *size != own);
    largest(&sizes, |[width, height]| fits(&Request { width, height, ..request.clone() }))
}

/// The most frames with which the request for a clip fits that does not, at least a second one.
pub fn frames(request: &Request, multiple: u32, fits: &mut impl FnMut(&Request) -> bool) -> Option<u32> {
    let lengths: Vec<u32> =
        (1..).map(|count| 1 + count * multiple).take_while(|frames| *frames < request.frames).collect();
    largest(&lengths, |frames| fits(&Request { frames, ..request.clone() }))
}

/// The last one that fits of some in the order of their size.
fn largest<T: Copy>(sizes: &[T], mut fits: impl FnMut(T) -> bool) -> Option<T> {
    let count = sizes.partition_point(|size| fits(*size));
    count.checked_sub(1).map(|last| sizes[last])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(request: &Request) -> u32 {
        request.width * request.height
    }

    #[test]
    fn the_largest_size_of_the_same_shape_that_fits_is_found() {
        let request = Request { width: 1536, height: 1024, ..Request::default() };
        let mut asked = 0;
        let mut within = |most: u32| {
            size(&request, 64, &mut |smaller| {
                asked += 1;
                pixels(smaller) <= most
            })
        };
        assert_eq!(within(1_100_000), Some([1280, 832]));
        assert_eq!(within(900_000), Some([1152, 768]));
        assert_eq!(within(100), None, "not even half of each side");
        assert!(asked <= 15, "{asked}");
        let tiny = Request { width: 64, height: 64, ..Request::default() };
        assert_eq!(size(&tiny, 64, &mut |_| true), None, "it is the smallest one");
    }

    #[test]
    fn the_longest_clip_that_fits_has_frames_that_the_model_can_generate() {
        let request = Request { frames: 81, ..Request::default() };
        assert_eq!(frames(&request, 4, &mut |shorter| shorter.frames <= 50), Some(49));
        assert_eq!(frames(&request, 4, &mut |_| true), Some(77));
        assert_eq!(frames(&request, 4, &mut |_| false), None);
        assert_eq!(frames(&Request::default(), 4, &mut |_| true), None, "an image");
    }
}
