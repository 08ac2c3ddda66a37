use egui::Color32;
use sluice_engine::{
    output::Image,
    request::{SourceImage, SourceMask},
};

use super::*;

fn grey(side: usize, value: u8) -> Pixels {
    Pixels::Image(Arc::new(ColorImage::filled([side, side], Color32::from_gray(value))))
}

#[test]
fn an_image_is_listed_once_and_old_ones_give_their_pixels_back() {
    let mut recents = Recents::default();
    for name in 0..Recents::LIMIT + 5 {
        recents.add(Some(PathBuf::from(format!("{name}.png"))), grey(2, 0), None, None);
    }
    assert_eq!(recents.iter().count(), Recents::LIMIT);
    assert_eq!(recents.iter().filter(|recent| recent.pixels.is_some()).count(), Recents::KEPT);
    recents.add(Some("10.png".into()), grey(2, 9), None, None);
    assert_eq!(recents.iter().filter(|recent| recent.path.as_deref() == Some("10.png".as_ref())).count(), 1);
    let newest = recents.newest().unwrap();
    assert_eq!(recents.neighbour(newest, -1), None);
    assert!(recents.neighbour(newest, 1).is_some());
}

#[test]
fn an_image_that_was_enlarged_says_how_much() {
    let mut recents = Recents::default();
    let request = || Some(Request { width: 64, height: 64, ..Request::default() });
    for (side, scale) in [(64, None), (128, Some(2.0)), (256, Some(4.0)), (150, None)] {
        let id = recents.add(None, grey(side, 0), request(), None);
        assert_eq!(recents.get(id).unwrap().enlarged(), scale, "{side}");
        recents.set_composed(id);
        assert_eq!(recents.get(id).unwrap().enlarged(), None, "a grid is larger than its images");
    }
}

#[test]
fn an_image_of_which_only_a_masked_area_was_generated_is_not_enlarged() {
    let mut recents = Recents::default();
    for (only_masked, scale) in [(None, Some(4.0)), (Some(SourceMask::USUAL_PADDING), None)] {
        let mask = Some(SourceMask { only_masked, ..SourceMask::default() });
        let source = Some(SourceImage { mask, ..SourceImage::default() });
        let request = Request { width: 64, height: 64, source, ..Request::default() };
        let id = recents.add(None, grey(256, 0), Some(request), None);
        assert_eq!(recents.get(id).unwrap().enlarged(), scale, "{only_masked:?}");
    }
}

#[test]
fn long_clips_free_the_pixels_of_older_ones_but_never_of_what_is_shown() {
    let image = Image::opaque(4, 4, vec![0; 48]);
    let clip = Pixels::Clip(Arc::new(Clip::silent(vec![image; 10], 16.0)));
    let mut recents = Recents::default();
    let [a, b, c] = ["a", "b", "c"].map(|name| recents.add(Some(name.into()), clip.clone(), None, None));
    let in_memory =
        |recents: &Recents| [a, b, c].map(|id| recents.get(id).is_some_and(|recent| recent.pixels.is_some()));
    recents.free_pixels(&[c], 1000);
    assert_eq!(in_memory(&recents), [false, true, true]);
    assert_eq!(recents.get(a).unwrap().length, Some(ClipLength { frames: 10, rate: 16.0 }));
    recents.loaded(Path::new("a"), clip.clone(), &[b]);
    recents.free_pixels(&[a, b], 1000);
    assert_eq!(in_memory(&recents), [true, true, false]);
    recents.free_pixels(&[a], 10);
    assert_eq!(in_memory(&recents), [true, false, false]);
    let unsaved = recents.add(None, clip, None, None);
    recents.free_pixels(&[a], 10);
    assert!(recents.get(unsaved).unwrap().clip().is_some(), "it could not be read again");
}
