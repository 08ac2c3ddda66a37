//! The measurements of a run, in one line next to the prediction.

use sluice_engine::{memory::Outcome, session::Event, telemetry::TelemetryEvent, units};

/// The data from a run's events that its outcome does not repeat.
#[derive(Debug, Default)]
pub(super) struct Measured {
    budget: u64,
    /// Peak bytes in host memory.
    host: u64,
}

impl Measured {
    /// The line, once the outcome is known.
    pub fn hear(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Started { .. } => *self = Self::default(),
            Event::Telemetry { events, .. } => {
                for event in events {
                    match event {
                        TelemetryEvent::Plan(mark) => self.budget = mark.device_budget,
                        TelemetryEvent::Memory(sample) => self.host = self.host.max(sample.host),
                        _ => {}
                    }
                }
            }
            Event::Outcome { outcome, .. } => return Some(self.line(outcome)),
            _ => {}
        }
        None
    }

    fn line(&self, outcome: &Outcome) -> String {
        let memory = if outcome.device == "CPU" { "memory" } else { "VRAM" };
        let used = match self.budget {
            0 => units::memory(outcome.measured_device),
            budget => units::memory_of(outcome.measured_device, budget),
        };
        let mut parts =
            vec![format!("{memory} {} (predicted {})", used, units::memory(outcome.predicted_device))];
        if self.host > 0 {
            parts.push(format!("RAM {}", units::memory(self.host)));
        }
        // The first step is not measured, so a run of one step has no such time.
        if outcome.measured_step_seconds > 0.0 {
            parts.push(format!(
                "{} per step (predicted {})",
                units::seconds(outcome.measured_step_seconds),
                units::seconds(outcome.predicted_step_seconds)
            ));
        }
        parts.join(" · ")
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        session::JobId,
        telemetry::{MemorySample, PlanMark},
    };

    use super::*;

    const JOB: JobId = JobId(1);

    fn outcome(device: &str, measured_step_seconds: f64) -> Event {
        let outcome = Outcome {
            model: "Example".to_owned(),
            run: None,
            device: device.to_owned(),
            predicted_device: 7 << 30,
            measured_device: 13 << 29,
            predicted_activations: 0,
            measured_activations: 0,
            predicted_step_seconds: 3.1,
            measured_step_seconds,
            measured_operations_per_second: 0.0,
            measured_link_bytes_per_second: 0.0,
            measured_disk_bytes_per_second: 0.0,
            stages: Vec::new(),
            speeds: Vec::new(),
        };
        Event::Outcome { job: JOB, outcome: Box::new(outcome) }
    }

    #[test]
    fn a_run_is_compared_with_its_prediction() {
        let mut measured = Measured::default();
        let mark = PlanMark {
            at: 0,
            device: "RTX 3060".to_owned(),
            device_total: 8 << 30,
            device_budget: 8 << 30,
            stages: Vec::new(),
            components: Vec::new(),
        };
        let sample = |host| TelemetryEvent::Memory(MemorySample { host, ..MemorySample::default() });
        let events = vec![TelemetryEvent::Plan(mark), sample(2 << 30), sample(1 << 30)];
        assert_eq!(measured.hear(&Event::Telemetry { job: JOB, events }), None);
        let line = "VRAM 6.5 of 8.0 GB (predicted 7.0 GB) · RAM 2.0 GB · 3.2 s per step (predicted 3.1 s)";
        assert_eq!(measured.hear(&outcome("RTX 3060", 3.2)).unwrap(), line);

        measured.hear(&Event::Started { job: JOB });
        assert_eq!(measured.hear(&outcome("CPU", 0.0)).unwrap(), "memory 6.5 GB (predicted 7.0 GB)");
    }
}
