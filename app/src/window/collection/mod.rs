//! The items of the gallery: listing them, what is known of them, marks, search, selection and export. No drawing.

mod export;
mod folders;
mod index;
mod item;
mod marks;
mod query;
mod selection;
mod shelf;
mod thumbnails;
mod trash;
mod worker;

pub use export::{Export, ExportOptions, Progress};
pub use item::{Facts, Item, Stamp};
pub use marks::{Change, Mark};
pub use query::{Kind, Query, Sort, When};
pub use selection::How;
pub use shelf::{Notice, Shelf};
pub use trash::Trashed;
pub use worker::{Details, Places, Report, Task, Worker};
