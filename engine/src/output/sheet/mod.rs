//! Sheets: many images composed into one, in tables with labels.

mod letters;

use std::path::{Path, PathBuf};

use image::{Rgb, RgbImage, imageops};
use serde::{Deserialize, Serialize};

use super::{Date, Encoding, Image, Media, OutputError, Settings, clip_file, file::Existing};
use crate::request::grid::GridLabels;
pub use letters::FontFile;
use letters::{Fonts, Paragraph};

/// The most pixels of a sheet, and its longest side. The images of a larger one are scaled down.
const OF_IMAGES: Limits = Limits { pixels: 48e6, side: 8192.0 };
/// The same for each frame of a composed clip: what players show smoothly, and H.264 takes.
const OF_CLIPS: Limits = Limits { pixels: 8.8e6, side: 4096.0 };
/// The most pixels of all frames, which are in memory together.
const MOST_OF_CLIP: f64 = 150e6;
/// The letters of labels are this part of a cell's sides, and at least this many pixels high.
const LETTERS: f32 = 0.04;
const SMALLEST: f32 = 14.0;
const WHITE: Rgb<u8> = Rgb([255, 255, 255]);

/// Images that are composed: one file, or none, for each cell; table by table and row by row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// The labels, which say how many columns, rows and tables there are.
    pub labels: GridLabels,
    /// Width and height of the largest image. Smaller ones are centred.
    pub cell: [u32; 2],
    /// The files. A cell without one stays empty.
    pub files: Vec<Option<PathBuf>>,
}

impl Sheet {
    /// A sheet without images.
    pub fn new(labels: GridLabels, cell: [u32; 2]) -> Self {
        let files = vec![None; labels.count()];
        Self { labels, cell, files }
    }

    /// The place of a cell in [`Sheet::files`].
    pub fn place(&self, [column, row, table]: [usize; 3]) -> usize {
        let [columns, rows, _] = self.labels.sides();
        (table * rows + row) * columns + column
    }

    /// Reads one image after the other and composes them. A cell whose file cannot be read stays empty. `find` finds a font
    /// for a character of a label that Inter lacks; without one, a box stands in its place.
    pub fn compose(
        &self,
        read: impl Fn(&Path) -> Option<Image>,
        find: impl Fn(char) -> Option<FontFile>,
    ) -> Image {
        let read = |path: &Path, drawn: Drawn<'_>| {
            let image = read(path);
            image.and_then(|image| Self::fitted(image, drawn)).into_iter().collect()
        };
        self.composed(OF_IMAGES, 1, read, find).swap_remove(0)
    }

    /// Reads one clip after the other and composes them to this many frames, as [`Sheet::compose`] does with images. `read`
    /// also gets what says in which width and height it has to give the frames. A clip that is shorter stays at its last
    /// frame.
    pub fn compose_clip(
        &self,
        frames: usize,
        read: impl Fn(&Path, Drawn<'_>) -> Vec<Image>,
        find: impl Fn(char) -> Option<FontFile>,
    ) -> Vec<Image> {
        let frames = frames.max(1);
        let pixels = OF_CLIPS.pixels.min(MOST_OF_CLIP / frames as f64);
        self.composed(Limits { pixels, ..OF_CLIPS }, frames, read, find)
    }

    fn composed(
        &self,
        limits: Limits,
        frames: usize,
        read: impl Fn(&Path, Drawn<'_>) -> Vec<Image>,
        find: impl Fn(char) -> Option<FontFile>,
    ) -> Vec<Image> {
        let fonts = Fonts::new(&self.labels, find);
        let layout = Layout::new(&self.labels, self.cell, limits, &fonts);
        let mut sheets = vec![layout.with_labels(&self.labels, &fonts); frames];
        let [columns, rows, _] = self.labels.sides();
        for (place, path) in self.files.iter().enumerate() {
            let Some(path) = path else { continue };
            let images = read(path, &|size| layout.drawn(size)).into_iter();
            let mut images = images
                .filter_map(|Image { width, height, pixels, .. }| RgbImage::from_raw(width, height, pixels));
            let Some(mut image) = images.next() else { continue };
            let at = [place % columns, place / columns % rows, place / (columns * rows)];
            for (frame, sheet) in sheets.iter_mut().enumerate() {
                if frame > 0
                    && let Some(next) = images.next()
                {
                    image = next;
                }
                layout.paste(sheet, &image, at);
            }
        }
        let as_image = |sheet: RgbImage| {
            let (width, height) = sheet.dimensions();
            Image::opaque(width, height, sheet.into_raw())
        };
        sheets.into_iter().map(as_image).collect()
    }

    /// An image in the size in which it is drawn; `None` if it is not whole.
    pub fn fitted(image: Image, drawn: Drawn<'_>) -> Option<Image> {
        let own = [image.width, image.height];
        let [width, height] = drawn(own);
        if [width, height] == own {
            return Some(image);
        }
        let image = RgbImage::from_raw(own[0], own[1], image.pixels)?;
        let resized = imageops::resize(&image, width, height, imageops::FilterType::CatmullRom);
        Some(Image::opaque(width, height, resized.into_raw()))
    }

    /// Writes what is composed into a folder, under a new name that begins with the day and `grid`: an image as PNG, a clip with
    /// the codec.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_in(
        folder: &Path,
        composed: &Media,
        settings: &Settings,
        encoding: Encoding,
    ) -> Result<PathBuf, OutputError> {
        let date = Date::today();
        let extension = if composed.is_clip() { encoding.codec.extension() } else { "png" };
        let mut number = 1_u32;
        loop {
            let path = folder.join(format!("{date}-grid-{number:04}.{extension}"));
            match clip_file::write(&path, composed, settings, encoding, Existing::Keep) {
                Err(OutputError::Exists { .. }) => number += 1,
                result => return result.map(|()| path),
            }
        }
    }

    /// The file of a cell of a sheet with this name: `grid-x2-y1.png` of `grid.png`.
    pub fn name_of_cell(sheet: &Path, [column, row, table]: [usize; 3]) -> PathBuf {
        let stem = sheet.file_stem().unwrap_or_default().to_string_lossy();
        let extension =
            sheet.extension().map_or_else(|| "png".into(), |extension| extension.to_string_lossy());
        let table = if table == 0 { String::new() } else { format!("-z{}", table + 1) };
        sheet.with_file_name(format!("{stem}-x{}-y{}{table}.{extension}", column + 1, row + 1))
    }
}

/// Width and height in which an image of this width and height is drawn.
pub type Drawn<'a> = &'a dyn Fn([u32; 2]) -> [u32; 2];

/// The most pixels of a sheet, and its longest side.
#[derive(Clone, Copy)]
struct Limits {
    pixels: f64,
    side: f64,
}

/// Where everything is, in pixels.
struct Layout {
    /// Width and height of the images as they are drawn, and how much smaller that is.
    cell: [u32; 2],
    scale: f64,
    /// The height of letters.
    letters: f32,
    gap: u32,
    /// Room for the labels: above the columns, left of the rows, above the tables.
    above: u32,
    left: u32,
    title: u32,
    columns: u32,
    rows: u32,
    tables: u32,
    /// Tables next to each other.
    across: u32,
}

impl Layout {
    fn new(labels: &GridLabels, cell: [u32; 2], limits: Limits, fonts: &Fonts) -> Self {
        let mut scale = 1.0;
        loop {
            let layout = Self::scaled(labels, cell, scale, fonts);
            let [width, height] = layout.size().map(f64::from);
            let excess = (width * height / limits.pixels).sqrt().max(width.max(height) / limits.side);
            // Labels do not shrink with the images, so a cell of few pixels is the end.
            if excess <= 1.0 || layout.cell.iter().all(|side| *side <= 16) {
                return layout;
            }
            scale /= excess * 1.02;
        }
    }

    fn scaled(labels: &GridLabels, cell: [u32; 2], scale: f64, fonts: &Fonts) -> Self {
        let [columns, rows, tables] = labels.sides().map(|side| side as u32);
        let cell = cell.map(|side| ((f64::from(side) * scale).round() as u32).max(1));
        let letters = ((cell[0] + cell[1]) as f32 * LETTERS).max(SMALLEST);
        let gap = (letters / 4.0).ceil() as u32;
        let tallest = |labels: &[String], width: u32| {
            let heights = labels.iter().map(|label| Paragraph::new(fonts, label, letters, width).height());
            heights.max().map_or(0, |height| if height > 0 { height + 2 * gap } else { 0 })
        };
        // Words of rows wrap at a cell's width.
        let widest = labels.rows.iter().map(|label| Paragraph::new(fonts, label, letters, cell[0]).width());
        let left = widest.max().map_or(0, |width| if width > 0 { width + 4 * gap } else { 0 });
        let above = tallest(&labels.columns, cell[0]);
        let table = left + columns * (cell[0] + gap);
        let title = tallest(&labels.tables, table);
        let mut layout =
            Self { cell, scale, letters, gap, above, left, title, columns, rows, tables, across: 1 };
        // As near to a square as the tables allow.
        let unlike = |across: u32| {
            let [width, height] = Self { across, ..layout }.size().map(f64::from);
            (width / height).max(height / width)
        };
        let across = (1..=tables.max(1)).min_by(|one, other| unlike(*one).total_cmp(&unlike(*other)));
        layout.across = across.unwrap_or(1);
        layout
    }

    fn table(&self) -> [u32; 2] {
        let [width, height] = self.cell;
        let inner = [self.columns * (width + self.gap), self.rows * (height + self.gap)];
        [self.left + inner[0], self.title + self.above + inner[1]]
    }

    fn size(&self) -> [u32; 2] {
        let [width, height] = self.table();
        [self.across * width + self.gap, self.tables.div_ceil(self.across) * height + self.gap]
    }

    /// The top left corner of a table.
    fn corner(&self, table: u32) -> [u32; 2] {
        let [width, height] = self.table();
        [self.gap + table % self.across * width, self.gap + table / self.across * height]
    }

    fn with_labels(&self, labels: &GridLabels, fonts: &Fonts) -> RgbImage {
        let [width, height] = self.size();
        let mut sheet = RgbImage::from_pixel(width, height, WHITE);
        let mut write = |label: &str, [x, y]: [u32; 2], [width, height]: [u32; 2]| {
            let paragraph = Paragraph::new(fonts, label, self.letters, width);
            let top = y + height.saturating_sub(paragraph.height()) / 2;
            paragraph.draw(fonts, &mut sheet, [x, top], width);
        };
        let [cell_width, cell_height] = self.cell;
        for table in 0..self.tables {
            let [x, y] = self.corner(table);
            let inner = [self.table()[0] - self.gap, self.title];
            write(&labels.tables[table as usize], [x, y], inner);
            let y = y + self.title;
            for (column, label) in (0..).zip(&labels.columns) {
                let x = x + self.left + column * (cell_width + self.gap);
                write(label, [x, y], [cell_width, self.above]);
            }
            for (row, label) in (0..).zip(&labels.rows) {
                let y = y + self.above + row * (cell_height + self.gap);
                write(label, [x, y], [self.left.saturating_sub(self.gap), cell_height]);
            }
        }
        sheet
    }

    /// Width and height in which an image of this width and height is drawn. One that is larger than announced is scaled down
    /// to its cell.
    fn drawn(&self, own: [u32; 2]) -> [u32; 2] {
        let [width, height] = self.cell.map(f64::from);
        let fits = (width / f64::from(own[0])).min(height / f64::from(own[1]));
        let scale = self.scale.min(fits);
        own.map(|side| ((f64::from(side) * scale).round() as u32).max(1))
    }

    fn paste(&self, sheet: &mut RgbImage, image: &RgbImage, [column, row, table]: [usize; 3]) {
        let [x, y] = self.corner(table as u32);
        let [width, height] = self.cell;
        let x = x + self.left + column as u32 * (width + self.gap);
        let y = y + self.title + self.above + row as u32 * (height + self.gap);
        let x = i64::from(x + width.saturating_sub(image.width()) / 2);
        let y = i64::from(y + height.saturating_sub(image.height()) / 2);
        imageops::replace(sheet, image, x, y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn colour(place: usize) -> [u8; 3] {
        [40 + 30 * place as u8, 90, 200]
    }

    fn sheet(labels: GridLabels, cell: [u32; 2]) -> (Sheet, Image) {
        let mut sheet = Sheet::new(labels, cell);
        let places = sheet.files.iter_mut().enumerate();
        places.for_each(|(place, file)| *file = Some(PathBuf::from(place.to_string())));
        let read = |path: &Path| {
            let place: usize = path.to_str()?.parse().ok()?;
            let [width, height] = cell;
            let pixels = colour(place).repeat((width * height) as usize);
            Some(Image::opaque(width, height, pixels))
        };
        let composed = sheet.compose(read, |_| None);
        (sheet, composed)
    }

    fn counted(image: &Image, colour: [u8; 3]) -> usize {
        image.pixels.chunks_exact(3).filter(|pixel| *pixel == colour).count()
    }

    #[test]
    fn every_image_is_on_the_sheet_whole_and_labels_are_beside_them() {
        let labels = GridLabels {
            columns: words(&["Steps: 10", "Steps: 20", "Steps: 30"]),
            rows: words(&["Guidance: 1", "Guidance: 7"]),
            tables: words(&["Euler"]),
        };
        let (sheet, composed) = sheet(labels, [64, 48]);
        assert_eq!(sheet.place([2, 1, 0]), 5);
        for place in 0..6 {
            assert_eq!(counted(&composed, colour(place)), 64 * 48, "image {place}");
        }
        let (wide, high) = (3 * 64, 2 * 48);
        assert!(composed.width > wide + 60, "room for the labels of rows: {}", composed.width);
        assert!(composed.height > high + 30, "room for two lines of labels: {}", composed.height);
        let ink =
            composed.pixels.chunks_exact(3).filter(|pixel| pixel.iter().all(|value| *value < 90)).count();
        assert!(ink > 400, "letters are drawn: {ink}");
    }

    #[test]
    fn images_without_labels_are_close_together() {
        let (_, composed) = sheet(GridLabels::plain(4), [32, 32]);
        assert_eq!((composed.width, composed.height), (2 * 36 + 4, 2 * 36 + 4));
    }

    #[test]
    fn tables_fill_a_square() {
        let labels = GridLabels {
            columns: words(&["a", "b"]),
            rows: words(&[""]),
            tables: words(&["1", "2", "3", "4"]),
        };
        let (_, composed) = sheet(labels, [64, 64]);
        let ratio = f64::from(composed.width) / f64::from(composed.height);
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_large_sheet_is_scaled_down_and_an_empty_cell_stays_white() {
        let labels = GridLabels {
            columns: vec![String::new(); 40],
            rows: vec![String::new(); 2],
            tables: words(&[""]),
        };
        let mut sheet = Sheet::new(labels, [1024, 1024]);
        sheet.files[0] = Some("there".into());
        let black = |_: &Path| Some(Image::opaque(1024, 1024, vec![0; 3 * 1024 * 1024]));
        let composed = sheet.compose(black, |_| None);
        assert!(composed.width <= 8192, "{}", composed.width);
        let black = counted(&composed, [0, 0, 0]) as f64;
        let whole = f64::from(composed.width) * f64::from(composed.height);
        assert!((0.8 / 80.0..1.0 / 80.0).contains(&(black / whole)), "{}", black / whole);
    }

    #[test]
    fn long_labels_are_wrapped_and_stay_in_their_cells() {
        let long = "a painting of a very extraordinarily-long-word-without-spaces-that-goes-on harbour";
        let labels = GridLabels { columns: words(&[long, ""]), rows: words(&[""]), tables: words(&[""]) };
        let (_, composed) = sheet(labels, [96, 96]);
        let rows = composed.pixels.chunks_exact(3 * composed.width as usize);
        // Nothing is written over the second column.
        let strays = rows.flat_map(|row| row.as_chunks::<3>().0[104..].iter()).filter(|pixel| pixel[1] < 80);
        assert_eq!(strays.count(), 0);
        assert!(composed.height > 96 + 5 * 14, "several lines: {}", composed.height);
    }

    /// The icons of the window are in a font of their own, at characters that Inter lacks.
    #[test]
    fn a_character_that_inter_lacks_is_drawn_with_a_font_that_has_it() {
        const ICON: char = '\u{e458}';
        let labels = |text: String| GridLabels { columns: vec![text], ..GridLabels::plain(1) };
        let drawn = |text: String, find: &dyn Fn(char) -> Option<FontFile>| {
            Sheet::new(labels(text), [96, 96]).compose(|_| None, find)
        };
        let asked = std::cell::RefCell::new(Vec::new());
        let lucide = |letter: char| {
            asked.borrow_mut().push(letter);
            let bytes = include_bytes!("../../../../assets/fonts/Lucide.ttf").to_vec();
            Some(FontFile { bytes, face: 0 })
        };
        let text = format!("a {ICON}{ICON} b");
        let (with, without) = (drawn(text.clone(), &lucide), drawn(text, &|_| None));
        assert_eq!(*asked.borrow(), [ICON], "once, and for no letter that Inter has");
        assert_ne!(with, without);
        // An icon is as large as the letters beside it, and not a box.
        let ink = |image: &Image| image.pixels.chunks_exact(3).filter(|pixel| pixel[0] < 128).count();
        let letters = ink(&drawn("a b".to_owned(), &lucide));
        assert!((letters + 20..letters + 400).contains(&ink(&with)), "{} and {letters}", ink(&with));
        let broken = |_| Some(FontFile { bytes: vec![1; 50], face: 0 });
        assert_eq!(drawn(format!("{ICON}"), &broken), drawn(format!("{ICON}"), &|_| None));
    }

    #[test]
    fn cells_have_names_after_their_sheet() {
        let name = |at| Sheet::name_of_cell(Path::new("out/grid.png"), at);
        assert_eq!(name([1, 0, 0]), Path::new("out/grid-x2-y1.png"));
        assert_eq!(name([0, 2, 1]), Path::new("out/grid-x1-y3-z2.png"));
    }

    #[test]
    fn clips_are_composed_frame_by_frame_and_a_shorter_one_stays_at_its_last_frame() {
        let labels = GridLabels { columns: words(&["a", "b"]), rows: words(&[""]), tables: words(&[""]) };
        let mut sheet = Sheet::new(labels, [64, 48]);
        (sheet.files[0], sheet.files[1]) = (Some("3".into()), Some("2".into()));
        let read = |path: &Path, drawn: Drawn<'_>| {
            let [width, height] = drawn([64, 48]);
            let frames: usize = path.to_str().unwrap().parse().unwrap();
            let pixels = |frame| colour(frame).repeat((width * height) as usize);
            (0..frames).map(|frame| Image::opaque(width, height, pixels(frame))).collect()
        };
        let frames = sheet.compose_clip(3, read, |_| None);
        let shown = |frame: usize| [0, 1, 2].map(|place| counted(&frames[frame], colour(place)) / (64 * 48));
        assert_eq!([shown(0), shown(1), shown(2)], [[2, 0, 0], [0, 2, 0], [0, 1, 1]]);
        let many = Sheet { cell: [1024, 1024], ..sheet }.compose_clip(100, |_, _| Vec::new(), |_| None);
        assert_eq!(many.len(), 100);
        assert!(many[0].width * many[0].height <= 1_500_000, "{} × {}", many[0].width, many[0].height);
    }
}
