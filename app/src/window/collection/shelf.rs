//! The state of the gallery: what there is, what is shown of it, and what is selected. No drawing and no I/O.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use sluice_engine::session::Failure;

use super::{
    export,
    gathered::Deleted,
    item::{Item, Stamp},
    marks::{Mark, Marks},
    query::{self, Entry, Query, Within},
    selection::{How, Selection},
    trash::{TAKES_BACK, Trashed},
    worker::{Details, Report},
};
use crate::{
    language::{said, tr},
    window::{sentences::sentence, state::file_name, told::Told},
};

/// What is taken back with *Undo*.
#[derive(Debug, Clone, PartialEq)]
pub enum TakeBack {
    /// Files come back from the trash.
    Trash(Vec<Trashed>),
    /// A collection comes back.
    Collection(Deleted),
}

/// What was just done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notice {
    /// What was done.
    pub text: String,
    /// The name in it, which is shortened where there is not enough room; empty if there is none.
    pub name: String,
    /// What to know about it.
    pub detail: String,
    /// What is taken back with *Undo*.
    pub undo: Option<TakeBack>,
    /// A folder to show.
    pub folder: Option<PathBuf>,
    /// Whether something failed.
    pub is_failure: bool,
}

impl From<Told> for Notice {
    fn from(Told { text, name }: Told) -> Self {
        Self { text, name, ..Self::default() }
    }
}

impl Notice {
    /// That something failed.
    pub fn failed(title: String, failure: Failure) -> Self {
        let advice = failure.advice.map(|advice| said(&advice));
        let detail = std::iter::once(sentence(&failure.message)).chain(advice).collect::<Vec<_>>().join(" ");
        Self { text: title, detail, is_failure: true, ..Self::default() }
    }
}

/// The state of the gallery.
#[derive(Debug, Default)]
pub struct Shelf {
    entries: Vec<Entry>,
    /// Files that other programs have deleted or moved, and that are still listed.
    lost: HashSet<PathBuf>,
    shown: Vec<Arc<Item>>,
    marks: Arc<Marks>,
    query: Query,
    selection: Selection,
    /// The items that are selected.
    selected: Vec<Arc<Item>>,
    /// The models of all items, with how many each made.
    pub models: BTreeMap<String, usize>,
    /// All tags, with how often each is used.
    pub tags: BTreeMap<String, usize>,
    /// All collections, with how much is in each.
    pub collections: Vec<(String, usize)>,
    /// How many items are in none.
    pub loose: usize,
    /// How many files are not read yet; `None` before the folders are listed.
    pub unread: Option<usize>,
    /// All settings of a file.
    pub details: Option<(PathBuf, Box<Details>)>,
    /// What was just done.
    pub notice: Option<Notice>,
    /// The number of notices so far.
    told: u64,
    /// What is still taken back although the notice that offered it has left.
    left: Option<TakeBack>,
}

impl Shelf {
    /// What is shown, in its order.
    pub fn shown(&self) -> &[Arc<Item>] {
        &self.shown
    }

    /// Number of all items.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// What is searched for.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Searches for something else.
    pub fn search(&mut self, query: Query) {
        self.query = query;
        self.find();
    }

    /// The mark of a file.
    pub fn mark(&self, path: &Path) -> Option<&Mark> {
        self.marks.of(path)
    }

    /// The tags or collections that all of these items have.
    pub fn common(&self, items: &[Arc<Item>], names: impl Fn(&Mark) -> &[String]) -> Vec<String> {
        let mut all = items.iter().map(|item| self.mark(&item.path).map_or(&[][..], &names));
        let first = all.next().unwrap_or_default();
        if first.is_empty() {
            return Vec::new();
        }
        let others: Vec<_> = all.collect();
        first.iter().filter(|name| others.iter().all(|names| names.contains(name))).cloned().collect()
    }

    /// Whether a file has a star.
    pub fn is_starred(&self, path: &Path) -> bool {
        self.mark(path).is_some_and(|mark| mark.starred)
    }

    /// The item of a file.
    pub fn item(&self, path: &Path) -> Option<&Arc<Item>> {
        self.entries.iter().map(|entry| &entry.item).find(|item| item.path == path)
    }

    /// What is selected.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Selected items, in the order in which they are shown.
    pub fn selected(&self) -> &[Arc<Item>] {
        &self.selected
    }

    /// Selects one of the shown items by its place.
    pub fn pick(&mut self, place: usize, how: How) {
        self.selection.pick(&self.shown, place, how);
        self.settle();
    }

    /// Selects all that is shown.
    pub fn select_all(&mut self) {
        self.selection.all(&self.shown);
        self.settle();
    }

    /// Selects nothing.
    pub fn select_nothing(&mut self) {
        self.selection.clear();
        self.settle();
    }

    /// Lists the selected items again.
    fn settle(&mut self) {
        let is_selected = |item: &&Arc<Item>| self.selection.contains(&item.path);
        self.selected.clear();
        if self.selection.count() == 0 {
            return;
        }
        // One of many thousand is found sooner by its path.
        if let (1, Some(path)) = (self.selection.count(), self.selection.current())
            && let Some(one) = self.shown.iter().find(|item| item.path.as_os_str() == path.as_os_str())
            && self.selection.contains(path)
        {
            self.selected.push(Arc::clone(one));
            return;
        }
        self.selected.extend(self.shown.iter().filter(is_selected).cloned());
    }

    /// Whether all that is selected has a star.
    pub fn selected_are_starred(&self) -> bool {
        self.selected().iter().all(|item| self.is_starred(&item.path))
    }

    /// The paths and stamps of selected items.
    pub fn selected_files(&self) -> Vec<(PathBuf, Stamp)> {
        self.selected().iter().map(|item| (item.path.clone(), item.stamp)).collect()
    }

    /// The one item that is selected.
    pub fn single(&self) -> Option<&Arc<Item>> {
        match self.selected.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The settings of a file, once they are read.
    pub fn details_of(&self, path: &Path) -> Option<&Details> {
        self.details.as_ref().filter(|(known, _)| known == path).map(|(_, details)| &**details)
    }

    /// The place of the current item among those that are shown.
    pub fn current_place(&self) -> Option<usize> {
        let current = self.selection.current()?;
        self.shown.iter().position(|item| item.path == current)
    }

    /// Selects the item that is some places away from the current one, or the first one.
    pub fn step(&mut self, by: isize, how: How) {
        let last = self.shown.len().saturating_sub(1);
        let place = match self.current_place() {
            Some(place) => place.saturating_add_signed(by).min(last),
            None => 0,
        };
        self.pick(place, how);
    }

    /// Handles a report. Returns whether the folders should be listed again.
    pub fn take(&mut self, report: Report) -> bool {
        match report {
            Report::Items { is_first, items, unread } => self.items(is_first, items, unread),
            Report::Marks(marks) => {
                self.marks = marks;
                self.count_again();
            }
            Report::CollectionDeleted(deleted) => self.collection_deleted(deleted),
            Report::Details(path, details) => self.details = Some((path, details)),
            Report::Trashed(files, failure) => self.trashed(files, failure),
            Report::Back(paths, failure) => {
                match failure {
                    Some(failure) => self.tell(Notice::failed(tr!("gallery-not-restored"), failure)),
                    None => self.say(match paths.as_slice() {
                        [one] => Told::about(file_name(one), |name| tr!("gallery-restored-one", name = name)),
                        all => tr!("gallery-restored", count = all.len()).into(),
                    }),
                }
                self.selection.set(paths);
                self.settle();
                return true;
            }
            Report::Exported(progress) => self.exported(progress),
            Report::Failed(title, failure) => self.tell(Notice::failed(title, failure)),
            Report::Lost(path) => {
                self.lost.insert(path);
            }
            Report::Thumbnail(..) => {}
        }
        false
    }

    fn items(&mut self, is_first: bool, items: Vec<Arc<Item>>, unread: usize) {
        self.forget_lost();
        if is_first {
            self.entries.clear();
        }
        self.entries.extend(items.into_iter().map(Entry::new));
        self.unread = Some(unread);
        if unread == 0 {
            let there: HashSet<&Path> = self.entries.iter().map(|entry| entry.item.path.as_path()).collect();
            self.selection.keep(|path| there.contains(path));
        }
        self.count_again();
    }

    /// Forgets the files that other programs have deleted or moved, all at once.
    pub fn forget_lost(&mut self) {
        let lost = std::mem::take(&mut self.lost);
        if lost.is_empty() {
            return;
        }
        self.entries.retain(|entry| !lost.contains(&entry.item.path));
        self.selection.keep(|path| !lost.contains(path));
        self.count_again();
    }

    fn find(&mut self) {
        let places = query::found(&self.entries, &self.marks, &self.query);
        self.shown = places.into_iter().map(|place| Arc::clone(&self.entries[place].item)).collect();
        self.deselect_hidden();
        self.settle();
    }

    /// What the search leaves out is no longer selected, so that nothing is done to files that nobody sees. Those that are
    /// not listed yet stay.
    fn deselect_hidden(&mut self) {
        if self.selection.count() == 0 || self.shown.len() == self.entries.len() {
            return;
        }
        let shown: HashSet<&Path> = self.shown.iter().map(|item| item.path.as_path()).collect();
        let all = self.entries.iter().map(|entry| entry.item.path.as_path());
        let hidden: HashSet<&Path> = all.filter(|path| !shown.contains(path)).collect();
        self.selection.keep(|path| !hidden.contains(path));
    }

    /// Counts models, tags and collections again, and searches.
    fn count_again(&mut self) {
        self.models = query::models(&self.entries);
        self.tags = query::tags(&self.entries, &self.marks);
        (self.collections, self.loose) = query::collections(&self.entries, &self.marks);
        self.find();
    }

    fn trashed(&mut self, files: Vec<Trashed>, failure: Option<Failure>) {
        let gone: HashSet<&PathBuf> = files.iter().map(|file| &file.path).collect();
        // The next one is selected, so that one key after the other goes through the images.
        let next = self.current_place().map(|place| {
            let is_left = |item: &&Arc<Item>| !gone.contains(&item.path);
            let after = self.shown.iter().skip(place).find(is_left);
            after.or_else(|| self.shown.iter().take(place).rev().find(is_left)).map(|item| item.path.clone())
        });
        self.entries.retain(|entry| !gone.contains(&entry.item.path));
        let undo = |files: Vec<Trashed>| (TAKES_BACK && !files.is_empty()).then_some(TakeBack::Trash(files));
        self.selection.set(next.flatten().into_iter().collect());
        self.tell(match failure {
            Some(failure) => {
                let notice = Notice::failed(tr!("gallery-not-trashed"), failure);
                Notice { undo: undo(files), ..notice }
            }
            None => {
                let told = match files.as_slice() {
                    [one] => {
                        Told::about(file_name(&one.path), |name| tr!("gallery-trashed-one", name = name))
                    }
                    all => tr!("gallery-trashed", count = all.len()).into(),
                };
                let detail = if TAKES_BACK { String::new() } else { tr!("gallery-trashed-tip") };
                Notice { detail, undo: undo(files), ..Notice::from(told) }
            }
        });
        self.count_again();
    }

    fn collection_deleted(&mut self, deleted: Deleted) {
        if self.query.within == Within::Collection(deleted.name.clone()) {
            self.query.within = Within::All;
            self.find();
        }
        let told = Told::about(deleted.name.as_str(), |name| tr!("gallery-collection-deleted", name = name));
        let detail = tr!("gallery-collection-deleted-detail", count = deleted.files.len());
        let undo = Some(TakeBack::Collection(deleted));
        self.tell(Notice { detail, undo, ..Notice::from(told) });
    }

    fn exported(&mut self, progress: export::Progress) {
        let export::Progress { written, count, failed, failure, folder, is_done } = progress;
        if !is_done {
            return self.say(tr!(
                "gallery-exporting",
                number = (written + failed + 1).min(count),
                count = count
            ));
        }
        let mut notice = match failure {
            Some(failure) => Notice::failed(tr!("gallery-not-exported", count = failed), failure),
            None => Notice { text: tr!("gallery-exported", count = written), ..Notice::default() },
        };
        notice.folder = (written > 0).then_some(folder);
        self.tell(notice);
    }

    /// Says something without a way back.
    pub fn say(&mut self, told: impl Into<Told>) {
        let told: Told = told.into();
        self.tell(told.into());
    }

    /// Says what was done, in the place of what was said before, which can still be taken back.
    fn tell(&mut self, notice: Notice) {
        self.let_notice_go();
        self.told += 1;
        self.notice = Some(notice);
    }

    /// The number of the notice: the same words that are said again are another one.
    pub fn told(&self) -> u64 {
        self.told
    }

    /// The notice leaves by itself. What was done can still be taken back.
    pub fn let_notice_go(&mut self) {
        let undo = self.notice.take().and_then(|notice| notice.undo);
        self.left = undo.or_else(|| self.left.take());
    }

    /// No longer says what was done, and no longer offers to take it back; or, if that was not offered, what was done before.
    pub fn dismiss_notice(&mut self) {
        if self.notice.take().is_none_or(|notice| notice.undo.is_none()) {
            self.left = None;
        }
    }

    /// What was done last and can be taken back, which is no longer offered.
    pub fn take_undo(&mut self) -> Option<TakeBack> {
        let said = self.notice.take_if(|notice| notice.undo.is_some()).and_then(|notice| notice.undo);
        said.or_else(|| self.left.take())
    }
}
