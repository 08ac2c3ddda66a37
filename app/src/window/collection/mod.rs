//! The items of the gallery: listing them, what is known of them, marks, search, selection and export. No drawing.

mod export;
mod folders;
mod gathered;
mod index;
mod item;
mod marks;
mod query;
mod selection;
mod shelf;
mod thumbnails;
mod trash;
mod watch;
mod worker;

pub use export::{EXPORTED, Export, ExportOptions, Progress, write_copy};
pub use gathered::{CollectionStep, Deleted};
pub use item::{Facts, Item, Stamp};
pub use marks::{Change, Mark};
pub use query::{Kind, Query, Sort, When, Within};
pub use selection::How;
pub use shelf::{Notice, Shelf, TakeBack};
pub use trash::Trashed;
pub use watch::Watch;
pub use worker::{Details, Places, Report, Task, Worker};
