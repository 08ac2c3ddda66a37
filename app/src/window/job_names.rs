//! What jobs are called where they are listed.

use sluice_engine::{
    checkpoint::MapKind,
    request::{MapOf, Request},
    session::Job,
};

use super::state::file_name;
use crate::language::tr;

/// Letters of a name within a sentence.
const LETTERS: usize = 60;

/// The prompt, or what is done with a file.
pub fn name_of(request: &Request) -> String {
    let changed = request.changes_file().or(request.detail_of.as_ref());
    let changed = changed.map(|path| file_name(path)).unwrap_or_default();
    match (&request.upscale, &request.map_of, &request.mask_of) {
        _ if request.enhance.is_some() => tr!("queue-enhance"),
        _ if request.describe.is_some() => {
            let images = request.describe.iter().flat_map(|describe| &describe.images);
            let names: Vec<String> = images.map(|path| file_name(path)).collect();
            tr!("queue-describe", names = names.join(", "))
        }
        _ if request.detail_of.is_some() => tr!("queue-detail", name = changed),
        (None, ..) if request.interpolate.is_some() => tr!("queue-interpolate", name = changed),
        (Some(_), ..) => tr!("queue-upscale", name = changed),
        (None, Some(MapOf { kind, image }), _) => {
            let name = file_name(image);
            match kind {
                MapKind::Depth => tr!("queue-depth", name = name),
                MapKind::Pose => tr!("queue-pose", name = name),
                MapKind::Segments => tr!("queue-segments", name = name),
                MapKind::SoftEdge => tr!("queue-soft-edge", name = name),
            }
        }
        (None, None, Some(mask)) => tr!("queue-mask", name = file_name(&mask.image)),
        (None, None, None) if request.prompt.trim().is_empty() => tr!("queue-no-prompt"),
        (None, None, None) => request.prompt.clone(),
    }
}

/// What is done with several files, by the request for one of them.
pub fn name_of_files(request: &Request, count: usize) -> String {
    if request.describe.is_some() {
        tr!("queue-describe-files", count = count)
    } else if request.detail_of.is_some() {
        tr!("detailers-ask-title", count = count)
    } else if request.interpolate.is_some() {
        tr!("interpolate-title", count = count)
    } else {
        tr!("upscale-title", count = count)
    }
}

/// Says what has failed.
pub fn failed(request: &Request) -> String {
    let changed = request.changes_file().or(request.detail_of.as_ref());
    let changed = changed.map(|path| file_name(path)).unwrap_or_default();
    if request.enhance.is_some() {
        tr!("state-enhance-failed")
    } else if let Some(describe) = &request.describe {
        let names: Vec<String> = describe.images.iter().map(|path| file_name(path)).collect();
        tr!("state-description-failed", names = names.join(", "))
    } else if request.detail_of.is_some() {
        tr!("state-detail-failed", name = changed)
    } else if request.upscale.is_some() {
        tr!("state-upscale-failed", name = changed)
    } else if request.interpolate.is_some() {
        tr!("state-interpolation-failed", name = changed)
    } else if let Some(map) = &request.map_of {
        tr!("state-map-failed", name = file_name(&map.image))
    } else if let Some(mask) = &request.mask_of {
        tr!("state-mask-failed", name = file_name(&mask.image))
    } else {
        tr!("state-generation-failed")
    }
}

/// Says which of the cancelled jobs is resumed next: the last one. None if there is none.
pub fn resumed(jobs: &[Job]) -> Option<String> {
    let (next, others) = jobs.split_last()?;
    let name = shortened(&name_of(&next.request));
    Some(match others.len() {
        0 => tr!("queue-resume-cancelled-tip", name = name),
        others => tr!("queue-resume-cancelled-and-others-tip", name = name, others = others),
    })
}

/// The beginning of a name, in one line.
fn shortened(name: &str) -> String {
    let line = name.trim().replace('\n', " ");
    match line.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        request::{Describe, Upscale},
        session::JobId,
    };

    use super::*;

    fn job(request: Request) -> Job {
        Job::new(JobId(1), request)
    }

    #[test]
    fn what_is_resumed_is_said_by_its_prompt_or_file() {
        let fox = job(Request { prompt: "a fox\nin snow".to_owned(), ..Request::default() });
        let upscale = Some(Upscale { path: "/photos/hills.png".into(), scale: 2.0 });
        let hills = job(Request { upscale, ..Request::default() });
        assert_eq!(resumed(&[]), None);
        let said = |jobs: &[Job]| resumed(jobs).unwrap();
        assert_eq!(said(std::slice::from_ref(&fox)), "Continue “a fox in snow” where it was cancelled.");
        let one_more =
            "Continue “Upscale hills.png” where it was cancelled. Then another one can be resumed.";
        assert_eq!(said(&[fox.clone(), hills.clone()]), one_more);
        let two_more = "Continue “a fox in snow” where it was cancelled. Then 2 others can be resumed.";
        assert_eq!(said(&[hills.clone(), hills, fox]), two_more);
    }

    #[test]
    fn what_failed_is_said_with_its_file() {
        let upscale = Some(Upscale { path: "/photos/hills.png".into(), scale: 2.0 });
        let images = vec!["/photos/den.png".into(), "/photos/fox.png".into()];
        let describe = Some(Describe { images, ..Describe::default() });
        let map_of = Some(MapOf { kind: MapKind::Depth, image: "/photos/hills.png".into() });
        let detail_of = Some("/photos/hills.png".into());
        for (request, said) in [
            (Request::default(), "Generation failed"),
            (Request { upscale, ..Request::default() }, "Upscaling hills.png failed"),
            (Request { detail_of, ..Request::default() }, "Detailing hills.png failed"),
            (Request { describe, ..Request::default() }, "Describing den.png, fox.png failed"),
            (Request { map_of, ..Request::default() }, "The map of hills.png could not be made"),
        ] {
            assert_eq!(failed(&request), said);
        }
    }

    #[test]
    fn a_long_prompt_is_shortened() {
        let long = job(Request { prompt: "harbour ".repeat(30), ..Request::default() });
        let said = resumed(&[long]).unwrap();
        assert!(said.contains("…”") && said.chars().count() < 110, "{said}");
    }
}
