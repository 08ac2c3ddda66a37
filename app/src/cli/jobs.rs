//! The jobs of `generate`: one for each prompt, each cell of a grid, or each input image of a folder.

use std::path::{Path, PathBuf};

use sluice_engine::{
    output::{Output, Sheet},
    request::{Request, SourceImage, grid::Grid},
    session::{Job, JobId},
    units,
};

use super::exit::refuse;
use crate::{
    folders::pictures_folder,
    groups::Group,
    input_folder::{InputFolder, Subfolders},
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
    /// The job of a request.
    pub job: &'a JobOf<'a>,
}

impl Plan<'_> {
    /// The jobs for a request.
    pub fn jobs(&self, request: &Request) -> anyhow::Result<Jobs> {
        let mut all = Jobs::default();
        for (number, prompt) in (1..).zip(self.prompts) {
            let request = Request { prompt: prompt.clone(), ..request.clone() };
            let several = (self.prompts.len() > 1).then_some(number);
            match (self.grid, request.source.as_ref().filter(|source| source.path.is_dir())) {
                (Some(_), Some(_)) => {
                    let what = "a grid cannot be combined with a folder of input images";
                    return Err(refuse(what.to_owned(), "Give one input image.".to_owned()));
                }
                (Some(grid), None) => self.cells(grid, &request, several, &mut all)?,
                (None, Some(source)) => self.folder(source, &request, &mut all)?,
                (None, None) => self.one(request, several, &mut all),
            }
        }
        let count = self.prompts.len();
        if self.grid.is_none() && count > 1 && all.titles.is_empty() {
            let prompts = (1..).zip(self.prompts);
            all.titles =
                prompts.map(|(number, prompt)| format!("prompt {number} of {count}: {prompt}")).collect();
        }
        Ok(all)
    }

    /// With several prompts, the names of their files are numbered.
    fn one(&self, request: Request, several: Option<usize>, all: &mut Jobs) {
        let name = |file: &Path| several.map_or_else(|| file.to_owned(), |number| numbered(file, number));
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
            let mut group = Group::of_batch(&request, sheet);
            group.add(id, 0);
            all.groups.push(group);
        }
        all.jobs.push((self.job)(id, request, output, &name));
    }

    fn cells(
        &self,
        grid: &Grid,
        request: &Request,
        several: Option<usize>,
        all: &mut Jobs,
    ) -> anyhow::Result<()> {
        let cells = grid.cells(request).map_err(|error| {
            refuse(
                error.to_string(),
                "See `sluice generate --help` for what --x, --y and --z take.".to_owned(),
            )
        })?;
        let sheet =
            self.output.map(|file| several.map_or_else(|| file.to_owned(), |number| numbered(file, number)));
        let composed = sheet.clone().map_or_else(folder, Output::File);
        let mut group = Group::of_grid(grid, request, &cells, composed);
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

    fn folder(&self, source: &SourceImage, request: &Request, all: &mut Jobs) -> anyhow::Result<()> {
        let results = self.output.map_or_else(
            || {
                let name = source.path.canonicalize().ok();
                let name = name.as_deref().and_then(Path::file_name).map(PathBuf::from);
                pictures_folder().unwrap_or_else(|| PathBuf::from(".")).join(name.unwrap_or_default())
            },
            Path::to_owned,
        );
        let extension = if request.frames == 1 { "png" } else { "mp4" };
        let advice = || "Give a folder with images, and another folder as --output.".to_owned();
        let InputFolder { images, done } =
            InputFolder::of(&source.path, &results, extension, self.subfolders)
                .map_err(|error| refuse(format!("{}: {error}", source.path.display()), advice()))?;
        if images.is_empty() && done == 0 {
            return Err(refuse(format!("{} contains no images", source.path.display()), advice()));
        }
        if done > 0 {
            all.notes.push(format!(
                "{} left out: already in {}",
                units::counted(done, "image"),
                results.display()
            ));
        }
        let count = images.len();
        for (number, (input, result)) in (1..).zip(images) {
            let id = all.next_id();
            all.titles.push(format!("image {number} of {count}: {}", input.display()));
            let source = Some(SourceImage { path: input, ..source.clone() });
            let name = |file: &Path| numbered(file, number);
            let request = Request { source, ..request.clone() };
            all.jobs.push((self.job)(id, request, Output::File(result), &name));
        }
        Ok(())
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
