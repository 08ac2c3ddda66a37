//! The jobs of `generate`: one for each prompt, each cell of a grid, or each input image of a folder.

use std::path::{Path, PathBuf};

use sluice_engine::{
    output::{Encoding, Output, Sheet},
    request::{Request, SourceImage, grid::Grid},
    session::{Job, JobId},
    units,
};

use super::exit::refuse;
use crate::{
    folders::pictures_folder,
    groups::Group,
    input_folder::{InputImages, Subfolders},
};

/// Jobs, what to call each of them, and which are composed into one image.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub jobs: Vec<Job>,
    /// A line for each job, if there are several.
    pub titles: Vec<String>,
    pub groups: Vec<Group>,
    /// What to say before they run.
    pub notes: Vec<String>,
}

/// The job of a request; the last argument numbers the files that all jobs have.
type JobOf<'a> = dyn Fn(JobId, Request, Output, &dyn Fn(&Path) -> PathBuf) -> Job + 'a;

/// What all jobs share, and where their results go.
pub(super) struct Plan<'a> {
    pub prompts: &'a [String],
    pub grid: Option<&'a Grid>,
    pub composes_batch: bool,
    pub output: Option<&'a Path>,
    /// Whether a folder of input images has others.
    pub subfolders: Subfolders,
    /// How images and clips are encoded.
    pub encoding: Encoding,
    /// The job of a request.
    pub job: &'a JobOf<'a>,
}

impl Plan<'_> {
    /// The jobs for a request.
    pub fn jobs(&self, request: &Request) -> anyhow::Result<Jobs> {
        if let Some(source) = request.source.as_ref().filter(|source| source.path.is_dir()) {
            if self.grid.is_some() {
                let what = "a grid cannot be combined with a folder of input images";
                return Err(refuse(what.to_owned(), "Give one input image.".to_owned()));
            }
            return self.folder(source, request);
        }
        let mut all = Jobs::default();
        for (number, prompt) in (1..).zip(self.prompts) {
            let request = Request { prompt: prompt.clone(), ..request.clone() };
            match self.grid {
                Some(grid) => self.cells(grid, &request, number, &mut all)?,
                None => self.one(request, number, &mut all),
            }
        }
        let count = self.prompts.len();
        if count > 1 && all.titles.is_empty() {
            let prompts = (1..).zip(self.prompts);
            all.titles =
                prompts.map(|(number, prompt)| format!("prompt {number} of {count}: {prompt}")).collect();
        }
        Ok(all)
    }

    /// The name of a file for the prompt of this number: with several prompts, it is numbered.
    fn named(&self, file: &Path, prompt: usize) -> PathBuf {
        if self.prompts.len() > 1 { numbered(file, prompt) } else { file.to_owned() }
    }

    fn one(&self, request: Request, prompt: usize, all: &mut Jobs) {
        let name = |file: &Path| self.named(file, prompt);
        let output = match self.output {
            Some(file) => Output::File(name(file)),
            None => folder(),
        };
        let id = all.next_id();
        if self.composes_batch && request.batch > 1 {
            let sheet = match &output {
                Output::File(path) => Output::File(beside(path, "grid")),
                folder => folder.clone(),
            };
            let mut group = Group::of_batch(&request, sheet).encoded(self.encoding);
            group.add(id, 0);
            all.groups.push(group);
        }
        all.jobs.push((self.job)(id, request, output, &name));
    }

    fn cells(&self, grid: &Grid, request: &Request, prompt: usize, all: &mut Jobs) -> anyhow::Result<()> {
        let cells = grid.cells(request).map_err(|error| {
            refuse(
                error.to_string(),
                "See `sluice generate --help` for what --x, --y and --z take.".to_owned(),
            )
        })?;
        let sheet = self.output.map(|file| self.named(file, prompt));
        let composed = sheet.clone().map_or_else(folder, Output::File);
        let mut group = Group::of_grid(grid, request, &cells, composed).encoded(self.encoding);
        let (labels, count) = (grid.labels(), cells.len());
        for (number, cell) in (1..).zip(cells) {
            let id = all.next_id();
            let name = |file: &Path| Sheet::name_of_cell(file, cell.at);
            let output = sheet.as_deref().map_or_else(folder, |sheet| Output::File(name(sheet)));
            let [x, y, z] = cell.at;
            let words = [&labels.columns[x], &labels.rows[y], &labels.tables[z]];
            let words: Vec<&str> =
                words.into_iter().map(String::as_str).filter(|words| !words.is_empty()).collect();
            all.titles.push(format!("image {number} of {count}: {}", words.join(", ")));
            all.jobs.push((self.job)(id, cell.request, output, &name));
            group.add(id, group.place(cell.at).place);
        }
        all.groups.push(group);
        Ok(())
    }

    /// The jobs of a folder of input images: all of them for one prompt after the other.
    fn folder(&self, source: &SourceImage, request: &Request) -> anyhow::Result<Jobs> {
        let results = self.output.map_or_else(
            || {
                let name = source.path.canonicalize().ok();
                let name = name.as_deref().and_then(Path::file_name).map(PathBuf::from);
                pictures_folder().unwrap_or_else(|| PathBuf::from(".")).join(name.unwrap_or_default())
            },
            Path::to_owned,
        );
        let extension = if request.frames == 1 { "png" } else { self.encoding.codec.extension() };
        let advice = || "Give a folder with images, and another folder as --output.".to_owned();
        let files = |result: &Path| self.files_of(result, request.batch);
        let InputImages { all: images, unreadable } =
            InputImages::of(&source.path, (&results, extension), self.subfolders, files)
                .map_err(|error| refuse(format!("{}: {error}", source.path.display()), advice()))?;
        if images.is_empty() {
            let why = unreadable.first().map(|why| format!(" that can be read: {why}")).unwrap_or_default();
            return Err(refuse(format!("{} contains no images{why}", source.path.display()), advice()));
        }
        let notes = unreadable.iter().map(|why| format!("left out: {why}")).collect();
        let mut all = Jobs { notes, ..Jobs::default() };
        let (mut wanted, mut done) = (Vec::new(), 0);
        for (number, prompt) in (1..).zip(self.prompts) {
            for (input, result) in &images {
                match self.named(result, number) {
                    result if result.exists() => done += 1,
                    result => wanted.push((prompt, input, result)),
                }
            }
        }
        if done > 0 {
            all.notes.push(format!(
                "{} left out: already in {}; name another folder with --output to make them again",
                units::counted(done, "image"),
                results.display()
            ));
        }
        let count = wanted.len();
        for (number, (prompt, input, result)) in (1..).zip(wanted) {
            let id = all.next_id();
            let of_prompt = if self.prompts.len() > 1 { format!(", {prompt}") } else { String::new() };
            all.titles.push(format!("image {number} of {count}: {}{of_prompt}", input.display()));
            let source = Some(SourceImage { path: input.clone(), ..source.clone() });
            let name = |file: &Path| numbered(file, number);
            let request = Request { source, prompt: prompt.clone(), ..request.clone() };
            all.jobs.push((self.job)(id, request, Output::File(result), &name));
        }
        Ok(all)
    }

    /// All files that an input image becomes: for each prompt the images of a batch.
    fn files_of(&self, result: &Path, batch: u32) -> Vec<PathBuf> {
        let of_prompt = |prompt| {
            let first = self.named(result, prompt);
            let others: Vec<_> = (2..=batch as usize).map(|image| numbered(&first, image)).collect();
            std::iter::once(first).chain(others)
        };
        (1..=self.prompts.len()).flat_map(of_prompt).collect()
    }
}

impl Jobs {
    fn next_id(&self) -> JobId {
        JobId(self.jobs.len() as u64 + 1)
    }
}

fn folder() -> Output {
    Output::Folder(pictures_folder().unwrap_or_else(|| PathBuf::from(".")))
}

/// `a.png` as `a-3.png`.
fn numbered(file: &Path, number: usize) -> PathBuf {
    beside(file, &number.to_string())
}

/// `a.png` as `a-grid.png`.
fn beside(file: &Path, what: &str) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{what}"));
    if let Some(extension) = file.extension() {
        name.push(".");
        name.push(extension);
    }
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_several_prompts_are_numbered_before_the_extension() {
        for (file, expected) in
            [("out/a.png", "out/a-3.png"), ("run.trace.json", "run.trace-3.json"), ("log", "log-3")]
        {
            assert_eq!(numbered(Path::new(file), 3), Path::new(expected));
        }
    }
}
