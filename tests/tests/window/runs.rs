//! Predictions for published models, and the telemetry of runs under them.

use sluice_engine::{
    hardware::card,
    memory::{
        Accuracy, DeviceChoice, ErrorSpread, Footprint, Forecast, Machine, MemoryPreferences, Outcome,
        Placement, Plan, Stage, StageKind, Tier, Workload, forecast, machine_of,
    },
    request::Request,
    session::{Event, JobId, Readings},
    telemetry::{
        BlockMark, BlockRecord, ComponentMark, MemorySample, PlanMark, StageMark, StepRecord, TelemetryEvent,
    },
};
use sluice_tests::known;

const GIB: u64 = 1 << 30;

/// A published model on a GPU.
pub struct Scene {
    footprint: Footprint,
    workload: Workload,
    machine: Machine,
    pub preferences: MemoryPreferences,
    pub forecast: Forecast,
}

impl Scene {
    /// FLUX.1, streamed to a GPU with 12 GB, with 48 GB of RAM.
    pub fn streamed() -> Self {
        Self::new("flux.1-dev", "rtx-3060", MemoryPreferences::default(), 1024)
    }

    /// The same fully on the GPU, which is far too small for that.
    pub fn too_large() -> Self {
        let preferences = MemoryPreferences {
            mode: sluice_engine::memory::OffloadMode::None,
            ..MemoryPreferences::default()
        };
        Self::new("flux.1-dev", "rtx-4060", preferences, 1024)
    }

    /// A small model on this computer, which has one memory for everything.
    pub fn here() -> Self {
        let mut scene = Self::new("z-image", "rtx-3060", MemoryPreferences::default(), 128);
        scene.preferences.device = DeviceChoice::Auto;
        for block in scene.footprint.parts.iter_mut().flat_map(|component| &mut component.blocks) {
            for bytes in [&mut block.bytes, &mut block.largest_tensor, &mut block.file_bytes] {
                *bytes /= 400;
            }
            block.by_dtype.iter_mut().for_each(|bytes| *bytes /= 400);
            for held in block.smaller.values_mut() {
                held.bytes /= 400;
                held.by_dtype.iter_mut().for_each(|bytes| *bytes /= 400);
                held.largest_tensor /= 400;
            }
        }
        "Starter".clone_into(&mut scene.footprint.model);
        scene.machine = Machine {
            device: "CPU".to_owned(),
            unified: true,
            device_total: 64 * GIB,
            device_budget: 48 * GIB,
            host_budget: 0,
            operations_per_second: 4e12,
            ..scene.machine
        };
        scene.forecast =
            forecast(&scene.footprint, &scene.workload, &scene.machine, &scene.preferences, None);
        scene
    }

    fn new(model: &str, device: &str, preferences: MemoryPreferences, side: u32) -> Self {
        let preferences =
            MemoryPreferences { device: DeviceChoice::Simulated(device.to_owned()), ..preferences };
        let request = Request { width: side, height: side, steps: 12, ..known::request(model).unwrap() };
        let (footprint, workload) = known::sizes(model, &request).unwrap();
        let machine = machine_of(card(device).unwrap(), 48 * GIB, preferences.min_free_vram);
        let accuracy = Some(Accuracy {
            runs: 6,
            memory: ErrorSpread { median: 0.004, worst: 0.012 },
            time: Some(ErrorSpread { median: 0.021, worst: 0.034 }),
        });
        let forecast = forecast(&footprint, &workload, &machine, &preferences, accuracy);
        Self { footprint, workload, machine, preferences, forecast }
    }

    /// The answer to a query.
    pub fn answer(&self, id: u64) -> Event {
        Event::Planned { id, forecast: Box::new(self.forecast.clone()), readings: Readings::default() }
    }

    pub fn plan(&self) -> &Plan {
        self.forecast.plan.as_ref().unwrap()
    }

    /// The plan event at the start of the run.
    pub fn mark(&self) -> PlanMark {
        let plan = self.plan();
        let uses = plan.stages.iter().flat_map(|stage| stage.uses.iter().map(move |placed| (stage, placed)));
        let components = uses.map(|(stage, placed)| {
            let part = &self.footprint.parts[placed.part];
            let blocks = part.blocks.iter().zip(&placed.blocks).map(|(block, place)| BlockMark {
                name: block.name.clone(),
                bytes: block.bytes,
                placement: place.placement,
            });
            ComponentMark {
                part: part.name.clone(),
                role: part.role,
                stage: stage.stage.clone(),
                blocks: blocks.collect(),
            }
        });
        PlanMark {
            at: 0,
            device: self.machine.device.clone(),
            device_total: self.machine.device_total,
            device_budget: plan.device_budget,
            stages: plan
                .stages
                .iter()
                .map(|stage| StageMark { stage: stage.stage.clone(), predicted: stage.device() })
                .collect(),
            components: components.collect(),
        }
    }

    /// The events of a run until `steps` steps are finished; if those are all steps, including decoding.
    pub fn run(&self, steps: u32, all: u32) -> Vec<TelemetryEvent> {
        let mut run = Run { scene: self, mark: self.mark(), at: 0, said: Vec::new() };
        run.said.push(TelemetryEvent::Plan(run.mark.clone()));
        run.stage(StageKind::EncodePrompt, 1, 1, all);
        run.stage(StageKind::Denoise, steps, all, all);
        if steps == all {
            run.stage(StageKind::Decode, 1, 1, all);
        }
        run.said
    }

    /// The measured outcome.
    pub fn outcome(&self) -> Outcome {
        let plan = self.plan();
        Outcome {
            model: self.forecast.model.clone(),
            run: None,
            device: self.machine.device.clone(),
            predicted_device: plan.peak_device(),
            measured_device: plan.peak_device() / 100 * 99,
            predicted_activations: GIB,
            measured_activations: GIB,
            predicted_step_seconds: plan.seconds_per_step,
            measured_step_seconds: plan.seconds_per_step * 1.04,
            measured_operations_per_second: 0.0,
            measured_link_bytes_per_second: 0.0,
            measured_disk_bytes_per_second: 0.0,
            stages: Vec::new(),
            speeds: Vec::new(),
        }
    }
}

struct Run<'a> {
    scene: &'a Scene,
    mark: PlanMark,
    at: u64,
    said: Vec<TelemetryEvent>,
}

impl Run<'_> {
    fn stage(&mut self, kind: StageKind, walks: u32, walks_of_stage: u32, steps: u32) {
        let planned = self.scene.plan().first_of(kind).unwrap().clone();
        let stage = &planned.stage;
        self.said.push(TelemetryEvent::StageStarted { at: self.at, stage: stage.clone() });
        let blocks: usize = self.of_stage(stage).map(|(_, component)| component.blocks.len()).sum();
        let compute = (planned.seconds * 1e6 / (f64::from(walks_of_stage) * blocks.max(1) as f64)) as u64;
        for walk in 0..walks {
            let began = self.at;
            let mut waited = 0;
            let mut moved = 0;
            let components: Vec<_> =
                self.of_stage(stage).map(|(index, component)| (index, component.clone())).collect();
            for (index, component) in components {
                for (number, block) in component.blocks.iter().enumerate() {
                    let record = self.record((index, number, walk), block, compute);
                    waited += record.wait;
                    moved += record.bytes;
                    self.sample(number, blocks, planned.weights, planned.activations, planned.host);
                    self.at += record.wait + record.compute;
                    self.said.push(TelemetryEvent::Block(record));
                }
            }
            if kind == StageKind::Denoise {
                self.said.push(TelemetryEvent::Step(StepRecord {
                    at: self.at,
                    step: walk + 1,
                    steps,
                    took: self.at - began,
                    wait: waited,
                    bytes: moved,
                    reused: 0,
                }));
            }
        }
        if walks == walks_of_stage {
            self.said.push(TelemetryEvent::StageFinished { at: self.at, stage: stage.clone() });
        }
    }

    fn of_stage(&self, stage: &Stage) -> impl Iterator<Item = (usize, &ComponentMark)> {
        self.mark.components.iter().enumerate().filter(move |(_, component)| component.stage == *stage)
    }

    fn record(
        &self,
        (component, block, walk): (usize, usize, u32),
        mark: &BlockMark,
        compute: u64,
    ) -> BlockRecord {
        let resident = mark.placement == Placement::Resident;
        let load = (mark.bytes as f64 / self.scene.machine.link.bytes_per_second * 1e6) as u64;
        // Some blocks arrive late: the first ones of the first walk, and every eleventh.
        let late = !resident && (block % 11 == 5 || (walk == 0 && block < 4));
        BlockRecord {
            at: self.at,
            component: component as u8,
            block: block as u16,
            walk,
            wait: if late { load / 3 } else { 0 },
            load: if resident { 0 } else { load },
            compute,
            evict: 0,
            bytes: if resident { 0 } else { mark.bytes },
            tier: if resident { Tier::Device } else { Tier::Host },
            slot: (!resident).then_some((block % 2) as u8),
        }
    }

    fn sample(&mut self, number: usize, blocks: usize, weights: u64, activations: u64, host: u64) {
        let wave = [70, 92, 99, 84][number % 4];
        let filled = if self.at < 400_000 { (number + 1) as u64 * 100 / blocks.max(1) as u64 } else { 99 };
        self.said.push(TelemetryEvent::Memory(MemorySample {
            at: self.at,
            weights: weights / 100 * filled.min(99),
            activations: activations / 100 * wave,
            others: GIB * 6 / 10,
            host,
            pinned: host,
            process: host + 900 * (1 << 20),
        }));
    }
}

/// All events of a run, in batches as from the engine.
pub fn telemetry(job: JobId, events: &[TelemetryEvent]) -> impl Iterator<Item = Event> {
    events.chunks(400).map(move |events| Event::Telemetry { job, events: events.to_vec() })
}
