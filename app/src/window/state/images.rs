//! What the viewer shows of the finished images and clips.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use super::recent::{Recent, RecentId, Recents};

/// What the viewer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// No image yet.
    Nothing,
    /// The live preview.
    Live,
    /// A finished image.
    Recent(RecentId),
    /// The input image with the mask that was applied.
    Input,
}

/// Finished images, and the selected one.
#[derive(Debug)]
pub struct Images {
    /// Newest first.
    pub recents: Recents,
    /// What the viewer shows.
    pub shown: Shown,
    /// Files with a star.
    pub starred: HashSet<PathBuf>,
    /// What it is compared with.
    compared: Option<RecentId>,
    /// Whether a new image is shown automatically.
    pub follow: bool,
    /// The image of an earlier session that is shown until somebody asks for another one.
    of_start: Option<RecentId>,
}

impl Default for Images {
    fn default() -> Self {
        Self {
            recents: Recents::default(),
            shown: Shown::Nothing,
            starred: HashSet::new(),
            compared: None,
            follow: true,
            of_start: None,
        }
    }
}

impl Images {
    /// Shows an image and stays there, or shows the live preview.
    pub fn show(&mut self, shown: Shown) {
        self.follow = shown == Shown::Live;
        self.shown = shown;
        self.of_start = None;
        if self.follow || self.compared.map(Shown::Recent) == Some(shown) {
            self.compared = None;
        }
    }

    /// Shows the input image until something is generated.
    pub(super) fn show_input(&mut self) {
        self.show(Shown::Input);
        (self.follow, self.compared) = (true, None);
    }

    /// Shows an image of an earlier session where nothing is shown. The next new image takes its place.
    pub(super) fn show_at_start(&mut self, id: RecentId) {
        if self.shown == Shown::Nothing {
            (self.shown, self.of_start) = (Shown::Recent(id), Some(id));
        }
    }

    /// Whether an image is shown although nobody has asked for it.
    pub fn is_of_start(&self, id: RecentId) -> bool {
        self.of_start == Some(id) && self.shown == Shown::Recent(id)
    }

    /// Shows nothing instead of an image that nobody has asked for.
    pub(super) fn hide_start(&mut self) {
        if self.of_start.take().is_some_and(|id| self.shown == Shown::Recent(id)) {
            self.shown = Shown::Nothing;
        }
    }

    /// Removes an image whose file cannot be read, for as long as the file is gone or, if it `is_there`, for good, and shows the
    /// newest of the others. Returns whether somebody has asked for it and has to be told. One that went to the trash meanwhile
    /// is not missed.
    pub fn lost(&mut self, path: &Path, is_there: bool) -> bool {
        let Some(id) = self.recents.of_file(path) else { return false };
        let was_of_start = self.is_of_start(id);
        match is_there {
            true => self.recents.remove(path),
            false => self.recents.set_aside(id),
        }
        if !was_of_start {
            self.show_newest();
            return true;
        }
        self.shown = Shown::Nothing;
        let next = self.recents.iter().find(|recent| recent.is_result()).map(|recent| recent.id);
        if let Some(next) = next {
            self.show_at_start(next);
        }
        false
    }

    /// Removes an image whose file is in the trash or gone, and shows its neighbour in its place.
    pub fn set_aside(&mut self, path: &Path) {
        let Some(id) = self.recents.of_file(path) else { return };
        let next = [1, -1].into_iter().find_map(|step| self.recents.neighbour(id, step));
        self.recents.set_aside(id);
        if self.shown == Shown::Recent(id) {
            self.of_start = next.filter(|_| self.of_start == Some(id));
            self.shown = next.map_or(Shown::Nothing, Shown::Recent);
        }
    }

    /// Follows what other programs did: files of these images are gone, and others are back where they were. Where nothing was
    /// left to show, the newest is shown.
    pub fn follow_disk(&mut self, gone: &[PathBuf], back: &[PathBuf]) {
        gone.iter().for_each(|path| self.set_aside(path));
        let mut is_any_back = false;
        for path in back {
            is_any_back |= self.recents.put_back(path).is_some();
        }
        if is_any_back && self.shown == Shown::Nothing {
            self.show_newest();
        }
    }

    /// Shows the newest image.
    pub fn show_newest(&mut self) {
        self.shown = self.recents.newest().map_or(Shown::Nothing, Shown::Recent);
    }

    /// Compares the shown image with another one, or with none.
    pub fn compare(&mut self, with: Option<RecentId>) {
        self.compared = with.filter(|id| self.shown != Shown::Recent(*id));
        self.follow &= with.is_none();
    }

    /// Exchanges the two images that are compared.
    pub fn swap_compared(&mut self) {
        if let (Some(other), Shown::Recent(shown)) = (self.compared(), self.shown) {
            (self.shown, self.compared) = (Shown::Recent(other.id), Some(shown));
        }
    }

    /// The image that the shown one is compared with.
    pub fn compared(&self) -> Option<&Recent> {
        let shown = self.shown_recent()?;
        self.compared.and_then(|id| self.recents.get(id)).filter(|other| other.id != shown.id)
    }

    /// The image that the shown one is compared with first: the next older one of the same kind, or the next newer one.
    pub fn comparable(&self) -> Option<RecentId> {
        self.recents.comparable(self.shown_recent()?)
    }

    /// The images whose pixels the viewer draws.
    pub fn drawn(&self) -> impl Iterator<Item = &Recent> {
        self.shown_recent().into_iter().chain(self.compared())
    }

    /// The finished image being shown.
    pub fn shown_recent(&self) -> Option<&Recent> {
        match self.shown {
            Shown::Recent(id) => self.recents.get(id),
            Shown::Nothing | Shown::Live | Shown::Input => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egui::{Color32, ColorImage};
    use sluice_engine::{
        output::{Clip, Image, Origin, RestoredSettings, Settings},
        request::Request,
    };

    use super::*;
    use crate::window::{image_settings::ImageSettings, state::Pixels};

    fn still() -> Pixels {
        Pixels::Image(Arc::new(ColorImage::filled([2, 2], Color32::BLACK)))
    }

    #[test]
    fn an_image_is_compared_with_its_neighbour_of_the_same_kind() {
        let image = Image::opaque(4, 4, vec![0; 48]);
        let clip = Pixels::Clip(Arc::new(Clip::silent(vec![image; 2], 16.0)));
        let mut images = Images::default();
        let first = images.recents.add(None, still(), None, None);
        images.show(Shown::Recent(first));
        assert_eq!(images.comparable(), None);
        images.recents.add(None, clip, None, None);
        let last = images.recents.add(None, still(), None, None);
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
        let mut found = |name: &str, settings| {
            images.recents.add_found(name.into(), ColorImage::default(), None, settings).unwrap()
        };
        let settings = || Settings::new(&Request::default(), "Starter", "z_image", 0);
        let restored =
            || RestoredSettings { settings: settings(), origin: Origin::Sluice, notes: Vec::new() };
        let own = || Some(ImageSettings::from(restored()));
        let [newest, _, oldest] = [found("a.png", own()), found("b.png", None), found("c.png", own())];
        images.show_at_start(newest);
        images.show_at_start(oldest);
        assert!(images.is_of_start(newest) && images.follow, "the next new image is shown");
        assert!(!images.lost(Path::new("a.png"), true));
        assert!(images.is_of_start(oldest), "the one between was not generated here");
        images.show(Shown::Recent(oldest));
        assert!(images.lost(Path::new("c.png"), true), "somebody has asked for it");
    }

    #[test]
    fn what_is_in_the_trash_comes_back_where_it_was() {
        let mut images = Images::default();
        for name in ["a.png", "b.png", "c.png"] {
            images.recents.add(Some(name.into()), still(), None, None);
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
            images.recents.add(Some(name.into()), still(), None, None);
        }
        let paths = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(PathBuf::from).collect() };
        images.show_newest();
        images.follow_disk(&paths(&["c.png", "b.png", "other.png"]), &[]);
        assert_eq!(images.recents.files(), [paths(&["a.png"]), paths(&["b.png", "c.png"])]);
        assert_eq!(images.shown_recent().map(Recent::name).as_deref(), Some("a.png"));
        images.follow_disk(&[], &paths(&["b.png", "c.png"]));
        assert_eq!(images.recents.files(), [paths(&["c.png", "b.png", "a.png"]), Vec::new()]);
        images.follow_disk(&paths(&["c.png", "b.png", "a.png"]), &[]);
        assert_eq!((images.recents.is_empty(), images.shown), (true, Shown::Nothing));
        images.follow_disk(&[], &paths(&["other.png"]));
        assert_eq!(images.shown, Shown::Nothing);
        images.follow_disk(&[], &paths(&["a.png", "b.png", "c.png"]));
        assert_eq!(images.recents.files(), [paths(&["c.png", "b.png", "a.png"]), Vec::new()]);
        assert_eq!(images.shown_recent().map(Recent::name).as_deref(), Some("c.png"));
    }

    #[test]
    fn an_image_that_was_to_be_shown_comes_back_with_its_file_unless_that_is_damaged() {
        let mut images = Images::default();
        let [damaged, gone, _] = ["a.png", "b.png", "c.png"]
            .map(|name| images.recents.add(Some(name.into()), still(), None, None));
        let paths = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(PathBuf::from).collect() };
        for (name, id, is_there) in [("a.png", damaged, true), ("b.png", gone, false)] {
            images.show(Shown::Recent(id));
            assert!(images.lost(Path::new(name), is_there), "{name}");
            assert_eq!(images.shown_recent().map(Recent::name).as_deref(), Some("c.png"));
        }
        assert_eq!(images.recents.files(), [paths(&["c.png"]), paths(&["b.png"])]);
        images.follow_disk(&[], &paths(&["a.png", "b.png"]));
        assert_eq!(images.recents.files(), [paths(&["c.png", "b.png"]), Vec::new()]);
    }
}
