//! Passes the events of the engine on to the outputs of the command line.

use anyhow::Context;
use serde_json::json;
use sluice_engine::session::{Event, JobId, Picture};

use super::{adapter, measured::Measured, offload_log::OffloadLog, progress::Progress, stdout};

/// Passes events on: as JSON, to the offload log and to the progress display.
pub(super) struct Listener {
    json: bool,
    log: Option<OffloadLog>,
    progress: Progress,
    measured: Measured,
    titles: Vec<String>,
}

impl Listener {
    /// `titles` are lines for the jobs, in their order. `offload_log` asks for tables of blocks or, with `json`, for the telemetry events that they are made from.
    pub fn new(titles: Vec<String>, json: bool, quiet: bool, offload_log: bool) -> Self {
        let log = offload_log.then(OffloadLog::default);
        let progress = Progress::new(quiet || json);
        Self { json, log, progress, measured: Measured::default(), titles }
    }

    /// Whether the standard output is for events only.
    pub fn json(&self) -> bool {
        self.json
    }

    pub fn hear(&mut self, event: &Event) -> anyhow::Result<()> {
        if self.json {
            // Telemetry is thousands of lines per minute, which few readers want.
            let wanted = self.log.is_some() || !matches!(event, Event::Telemetry { .. });
            return if wanted { stdout::line(&json_line(event)?) } else { Ok(()) };
        }
        if let (Some(log), Event::Telemetry { events, .. }) = (&mut self.log, event) {
            events.iter().filter_map(|event| log.hear(event)).for_each(|text| self.progress.write(&text));
        }
        if let Event::Restarting { failure } = event {
            self.progress.write(&format!("{}; trying again", failure.message));
        }
        if let Event::Found { detailer, boxes, .. } = event
            && (*boxes == 0 || !self.progress.is_nothing())
        {
            self.progress.write(&found_line(*detailer, *boxes));
        }
        // The offload log has its own line for it.
        if self.log.is_none() || !matches!(event, Event::Replanned { .. }) {
            self.progress.show(event);
        }
        if !self.progress.is_nothing() {
            let measured = self.measured.hear(event);
            for line in self.title_line(event).into_iter().chain(measured).chain(adapter_lines(event)) {
                self.progress.write(&line);
            }
        }
        Ok(())
    }

    /// Names the job that starts, if there are several.
    fn title_line(&self, event: &Event) -> Option<String> {
        let Event::Started { job: JobId(number) } = event else { return None };
        self.titles.get(usize::try_from(*number).ok()?.checked_sub(1)?).cloned()
    }
}

/// What a detailer, counted from 0, has found.
fn found_line(detailer: usize, boxes: usize) -> String {
    let number = detailer + 1;
    match boxes {
        0 => format!("detailer {number} found nothing, and leaves the image as it is"),
        1 => format!("detailer {number} found 1 box"),
        boxes => format!("detailer {number} found {boxes} boxes"),
    }
}

/// How much of each adapter was applied.
fn adapter_lines(event: &Event) -> Vec<String> {
    let Event::Adapted { job: Some(_), reports } = event else { return Vec::new() };
    reports.iter().map(adapter::in_a_line).collect()
}

/// An event as JSON, without pixels, which would be megabytes of numbers.
fn json_line(event: &Event) -> anyhow::Result<String> {
    let Event::Finished { job, pictures, seconds } = event else {
        return serde_json::to_string(event).context("an event cannot be converted to JSON");
    };
    let pictures = pictures.iter().map(|Picture { media, seed, path }| {
        let image = media.first().map(|image| json!({ "width": image.width, "height": image.height }));
        json!({ "image": image, "frames": media.frames().len(), "seed": seed, "path": path })
    });
    let pictures: Vec<_> = pictures.collect();
    Ok(json!({ "event": "finished", "job": job, "pictures": pictures, "seconds": seconds }).to_string())
}
