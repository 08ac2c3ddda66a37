//! Telemetry as JSON lines, the format of `--telemetry FILE.jsonl`.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{Sink, TelemetryError, TelemetryEvent, sink::GrowingFile};

/// The version of the file format. It rises when a field or kind changes its meaning; additions do not count.
pub const VERSION: u32 = 2;

/// The kinds of events, as in the file.
const KINDS: [&str; 7] = ["plan", "stage_started", "stage_finished", "step", "block", "memory", "note"];

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Marks the line as the header.
    pub kind: HeaderKind,
    /// The version of the file format: [`VERSION`].
    pub version: u64,
    /// The program that wrote the file.
    pub program: String,
    /// The program's version.
    pub version_of_program: String,
}

/// The `kind` of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeaderKind {
    /// The only one.
    Header,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            kind: HeaderKind::Header,
            version: u64::from(VERSION),
            program: "sluice".to_owned(),
            version_of_program: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Writes a header, then one event per line.
pub struct JsonlWriter {
    file: GrowingFile,
}

impl JsonlWriter {
    /// Creates the file and writes the header; replaces an existing file.
    pub fn create(path: &Path) -> Result<Self, TelemetryError> {
        let mut file = GrowingFile::create(path)?;
        file.json(&Header::default())?;
        file.text("\n")?;
        file.flush()?;
        Ok(Self { file })
    }
}

impl Sink for JsonlWriter {
    fn write(&mut self, events: &[TelemetryEvent]) -> Result<(), TelemetryError> {
        for event in events {
            self.file.json(event)?;
            self.file.text("\n")?;
        }
        self.file.flush()
    }

    fn finish(&mut self) -> Result<(), TelemetryError> {
        self.file.finish()
    }
}

/// The contents of a telemetry file.
#[derive(Debug, Clone, PartialEq)]
pub struct Telemetry {
    /// The header.
    pub header: Header,
    /// The events, in the order in which they were observed.
    pub events: Vec<TelemetryEvent>,
    /// Number of lines of unknown kinds, which are skipped.
    pub unknown: usize,
    /// Whether the last line is complete. It is not if the program was killed while writing it.
    pub complete: bool,
}

/// Reads a file written by [`JsonlWriter`].
pub fn read_jsonl(path: &Path) -> Result<Telemetry, TelemetryError> {
    let read_error = |cause| TelemetryError::Read { path: path.to_owned(), cause };
    let mut file = BufReader::new(File::open(path).map_err(read_error)?);
    let mut line = Vec::new();
    file.read_until(b'\n', &mut line).map_err(read_error)?;
    let mut telemetry =
        Telemetry { header: read_header(path, &line)?, events: Vec::new(), unknown: 0, complete: true };
    for number in 2.. {
        line.clear();
        if file.read_until(b'\n', &mut line).map_err(read_error)? == 0 {
            break;
        }
        match read_event(&line) {
            Ok(Some(event)) => telemetry.events.push(event),
            Ok(None) => telemetry.unknown += 1,
            Err(_) if line.last() != Some(&b'\n') => telemetry.complete = false,
            Err(error) => {
                let detail = error.to_string();
                return Err(TelemetryError::Damaged { path: path.to_owned(), line: number, detail });
            }
        }
    }
    Ok(telemetry)
}

/// Parses the header. Checks the version first: other versions may have other fields.
fn read_header(path: &Path, line: &[u8]) -> Result<Header, TelemetryError> {
    #[derive(Deserialize)]
    struct Version {
        #[serde(rename = "kind")]
        _kind: HeaderKind,
        version: u64,
    }
    let not_telemetry = || TelemetryError::NotTelemetry { path: path.to_owned() };
    let found = serde_json::from_slice::<Version>(line).map_err(|_| not_telemetry())?.version;
    if found != u64::from(VERSION) {
        return Err(TelemetryError::Version { path: path.to_owned(), found, known: VERSION });
    }
    serde_json::from_slice(line).map_err(|_| not_telemetry())
}

/// Parses an event; `None` if it is of an unknown kind.
fn read_event(line: &[u8]) -> Result<Option<TelemetryEvent>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    serde_json::from_slice(line).map(Some).or_else(|error| match serde_json::from_slice::<Kind>(line) {
        Ok(Kind { kind }) if !KINDS.contains(&kind.as_str()) => Ok(None),
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::telemetry::samples::{any_event, memory, plan, record};

    fn written(events: &[TelemetryEvent]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let mut writer = JsonlWriter::create(&path).unwrap();
        writer.write(events).unwrap();
        writer.finish().unwrap();
        (folder, path)
    }

    fn read(text: &str) -> Result<Telemetry, TelemetryError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        fs::write(&path, text).unwrap();
        read_jsonl(&path)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_written_is_read_back(events in vec(any_event(), 0..40)) {
            let (_folder, path) = written(&events);
            let telemetry = read_jsonl(&path).unwrap();
            prop_assert_eq!(telemetry.events, events);
            prop_assert_eq!(telemetry.header, Header::default());
            prop_assert_eq!((telemetry.unknown, telemetry.complete), (0, true));
        }
    }

    #[test]
    fn the_file_is_a_header_and_one_event_a_line() {
        let (_folder, path) = written(&[TelemetryEvent::Block(record(5, 2, 1)), memory(9, 1, 2)]);
        let text = fs::read_to_string(path).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        let header =
            format!(r#"{{"kind":"header","version":2,"program":"sluice","version_of_program":"{version}"}}"#);
        let block = r#"{"kind":"block","at":5,"component":0,"block":2,"walk":1,"wait":0,"load":0,"compute":10,"evict":0,"bytes":0,"tier":"device","slot":null}"#;
        let memory = r#"{"kind":"memory","at":9,"weights":1,"activations":0,"others":0,"host":2,"pinned":0,"process":0}"#;
        assert_eq!(text, format!("{header}\n{block}\n{memory}\n"));
    }

    #[test]
    fn every_kind_of_event_is_known() {
        let at = 1;
        let stage = crate::memory::Stage::new(0, crate::memory::StageKind::EncodePrompt);
        let step =
            crate::telemetry::StepRecord { at, step: 1, steps: 2, took: 3, wait: 0, bytes: 0, reused: 0 };
        let events = [
            TelemetryEvent::Plan(plan(&[])),
            TelemetryEvent::StageStarted { at, stage: stage.clone() },
            TelemetryEvent::StageFinished { at, stage },
            TelemetryEvent::Step(step),
            TelemetryEvent::Block(record(1, 0, 0)),
            memory(1, 0, 0),
            TelemetryEvent::Note { at, text: String::new() },
        ];
        for (event, kind) in events.iter().zip(KINDS) {
            assert_eq!(serde_json::to_value(event).unwrap()["kind"], kind);
        }
    }

    #[test]
    fn kinds_and_fields_of_the_future_are_passed_over() {
        let header = serde_json::to_string(&Header::default()).unwrap();
        let telemetry = read(&format!(
            "{header}\n{{\"kind\":\"weather\",\"sun\":1}}\n{{\"kind\":\"note\",\"at\":1,\"text\":\"a\",\"by\":2}}\n"
        ))
        .unwrap();
        assert_eq!(telemetry.unknown, 1);
        assert_eq!(telemetry.events, [TelemetryEvent::Note { at: 1, text: "a".to_owned() }]);
    }

    #[test]
    fn another_version_is_refused_with_both_numbers() {
        for (found, advice) in
            [(3, "Update Sluice."), (1, "Read it with the version of Sluice that wrote it")]
        {
            let error = read(&format!("{{\"kind\":\"header\",\"version\":{found}}}\n")).unwrap_err();
            assert!(
                error
                    .to_string()
                    .contains(&format!("version {found}, but this version of Sluice reads version 2")),
                "{error}"
            );
            assert!(error.advice().unwrap().starts_with(advice));
        }
    }

    #[test]
    fn a_file_without_header_is_no_telemetry() {
        for text in ["", "\n", "{}\n", "a,b\n", "{\"kind\":\"note\",\"at\":1,\"text\":\"\"}\n"] {
            assert!(matches!(read(text), Err(TelemetryError::NotTelemetry { .. })), "{text:?}");
        }
    }

    #[test]
    fn a_broken_line_is_named_by_its_number() {
        let header = serde_json::to_string(&Header::default()).unwrap();
        let error = read(&format!("{header}\n{{\"kind\":\"note\",\"at\":1}}\n")).unwrap_err();
        assert!(error.to_string().starts_with("line 2 of "), "{error}");
    }

    #[test]
    fn a_file_that_was_cut_off_is_read_up_to_there() {
        let (_folder, path) = written(&[memory(1, 2, 3), memory(4, 5, 6)]);
        let text = fs::read_to_string(&path).unwrap();
        let telemetry = read(&text[..text.len() - 9]).unwrap();
        assert_eq!(telemetry.events, [memory(1, 2, 3)]);
        assert!(!telemetry.complete);
    }
}
