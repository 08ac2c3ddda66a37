use egui::Color32;
use sluice_engine::output::Image;

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
fn an_image_is_compared_with_its_neighbour_of_the_same_kind() {
    let image = Image::opaque(4, 4, vec![0; 48]);
    let clip = Pixels::Clip(Arc::new(Clip::silent(vec![image; 2], 16.0)));
    let mut images = Images::default();
    let first = images.recents.add(None, grey(2, 0), None, None);
    images.show(Shown::Recent(first));
    assert_eq!(images.comparable(), None);
    images.recents.add(None, clip, None, None);
    let last = images.recents.add(None, grey(2, 1), None, None);
    assert_eq!(images.comparable(), Some(last));
    images.compare(Some(last));
    images.swap_compared();
    assert_eq!(images.shown, Shown::Recent(last));
    assert_eq!(images.drawn().map(|recent| recent.id).collect::<Vec<_>>(), [last, first]);
    images.show(Shown::Recent(first));
    assert!(images.compared().is_none(), "nothing is compared with itself");
}

#[test]
fn what_is_shown_at_the_start_gives_way_without_a_word() {
    let mut images = Images::default();
    let mut found = |name: &str, request| {
        images.recents.add_found(name.into(), ColorImage::default(), None, request).unwrap()
    };
    let own = || Some(Request::default());
    let [newest, _, oldest] = [found("a.png", own()), found("b.png", None), found("c.png", own())];
    images.show_at_start(newest);
    images.show_at_start(oldest);
    assert!(images.is_of_start(newest) && images.follow, "the next new image is shown");
    assert!(!images.lost(Path::new("a.png")));
    assert!(images.is_of_start(oldest), "the one between was not generated here");
    images.show(Shown::Recent(oldest));
    assert!(images.lost(Path::new("c.png")), "somebody has asked for it");
}

#[test]
fn what_is_in_the_trash_comes_back_where_it_was() {
    let mut images = Images::default();
    for name in ["a.png", "b.png", "c.png"] {
        images.recents.add(Some(name.into()), grey(2, 0), None, None);
    }
    let names = |images: &Images| -> Vec<String> { images.recents.iter().map(Recent::name).collect() };
    let shown = |images: &Images| images.shown_recent().map(Recent::name);
    let middle = images.recents.of_file(Path::new("b.png")).unwrap();
    images.show(Shown::Recent(middle));
    for (gone, next) in [("b.png", Some("a.png")), ("a.png", Some("c.png")), ("c.png", None)] {
        images.set_aside(Path::new(gone));
        assert_eq!(shown(&images).as_deref(), next, "after {gone}");
    }
    assert_eq!(images.recents.put_back(Path::new("other.png")), None);
    for name in ["c.png", "a.png", "b.png"] {
        assert!(images.recents.put_back(Path::new(name)).is_some());
    }
    assert_eq!(names(&images), ["c.png", "b.png", "a.png"]);
    assert_eq!(images.recents.put_back(Path::new("b.png")), None, "once");
}

#[test]
fn files_that_are_gone_are_looked_for_until_they_are_back() {
    let mut images = Images::default();
    for name in ["a.png", "b.png", "c.png"] {
        images.recents.add(Some(name.into()), grey(2, 0), None, None);
    }
    let paths = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(PathBuf::from).collect() };
    images.show_newest();
    images.follow_disk(&paths(&["c.png", "b.png", "other.png"]), &[]);
    assert_eq!(images.recents.files(), [paths(&["a.png"]), paths(&["b.png", "c.png"])]);
    assert_eq!(images.shown_recent().map(Recent::name).as_deref(), Some("a.png"));
    images.follow_disk(&[], &paths(&["b.png", "c.png"]));
    assert_eq!(images.recents.files(), [paths(&["c.png", "b.png", "a.png"]), Vec::new()]);
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
