//! The machine's hardware: GPUs through NVML, memory and CPU through sysinfo; and the memory that the engine
//! holds.

mod account;
mod cards;
mod limit;
mod metering;
mod threads;

use std::{thread, time::Duration};

use serde::{Deserialize, Serialize};
use sysinfo::{
    CpuRefreshKind, MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, RefreshKind, System,
};

pub use account::{DevicePool, Holdings, MemoryAccount, OutOfMemory, Peaks, Reservation};
pub use cards::{CardProfile, card, cards};
pub use limit::{LimitKind, MemoryLimit, process_is_limited};
pub use metering::{give_back_freed, metered, unmetered};
pub use threads::computing_threads;

/// The state of the machine at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HardwareSample {
    /// The CPU's name.
    pub cpu: String,
    /// Number of logical CPUs.
    pub threads: usize,
    /// CPU load, 0…1.
    pub cpu_load: f32,
    /// Bytes of RAM, or of `ram_limit`.
    pub ram_total: u64,
    /// Bytes of available RAM, within `ram_limit`.
    pub ram_available: u64,
    /// What limits this process to less RAM than the machine has.
    pub ram_limit: Option<MemoryLimit>,
    /// Bytes of RAM this process uses.
    pub process_ram: u64,
    /// NVIDIA GPUs, in the order of `nvidia-smi`.
    pub gpus: Vec<GpuSample>,
    /// Why `gpus` may be incomplete, as text.
    pub gpu_note: Option<String>,
}

/// Changes that people notice: of a load, of memory as a share of all, and of a temperature in degrees.
const NOTICED_LOAD: f32 = 0.05;
const NOTICED_MEMORY: f64 = 0.01;
const NOTICED_HEAT: u32 = 2;

impl HardwareSample {
    /// Whether something has changed enough for people to notice.
    pub fn differs_from(&self, earlier: &Self) -> bool {
        let same_load = |a: f32, b: f32| (a - b).abs() < NOTICED_LOAD;
        let same_memory =
            |a: u64, b: u64, of: u64| (a.abs_diff(b) as f64) < of.max(1) as f64 * NOTICED_MEMORY;
        let same_gpu = |a: &GpuSample, b: &GpuSample| {
            let same_heat = match (a.temperature, b.temperature) {
                (Some(a), Some(b)) => a.abs_diff(b) < NOTICED_HEAT,
                (a, b) => a == b,
            };
            (&a.name, &a.uuid, a.vram_total) == (&b.name, &b.uuid, b.vram_total)
                && same_memory(a.vram_used, b.vram_used, a.vram_total)
                && same_load(a.load, b.load)
                && same_heat
        };
        let (gpus, others) = (&self.gpus, &earlier.gpus);
        let is_same = same_load(self.cpu_load, earlier.cpu_load)
            && same_memory(self.ram_available, earlier.ram_available, self.ram_total)
            && same_memory(self.process_ram, earlier.process_ram, self.ram_total)
            && (self.ram_total, &self.ram_limit, &self.gpu_note)
                == (earlier.ram_total, &earlier.ram_limit, &earlier.gpu_note)
            && gpus.len() == others.len()
            && gpus.iter().zip(others).all(|(a, b)| same_gpu(a, b));
        !is_same
    }
}

/// The load of the CPU over the last seconds. Where the CPU draws the window, a frame is a load of its own: it must not be what
/// the next frame is drawn for.
#[derive(Debug, Default)]
pub(crate) struct SmoothLoad(Option<f32>);

impl SmoothLoad {
    /// Part of the load that is that of the last second.
    const NEW: f32 = 0.25;

    /// The load with that of one more second.
    pub fn with(&mut self, load: f32) -> f32 {
        let smooth = self.0.map_or(load, |before| before + Self::NEW * (load - before));
        self.0 = Some(smooth);
        smooth
    }
}

/// The state of a GPU at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuSample {
    /// Its name.
    pub name: String,
    /// What the driver calls this one GPU, such as `GPU-5f1c…`, if it says so.
    #[serde(default)]
    pub uuid: Option<String>,
    /// Bytes of VRAM.
    pub vram_total: u64,
    /// Bytes of VRAM in use by all processes.
    pub vram_used: u64,
    /// GPU load, 0…1.
    pub load: f32,
    /// Degrees Celsius.
    pub temperature: Option<u32>,
}

/// Samples the machine repeatedly; keeps handles that are expensive to open.
pub struct Probe {
    system: Option<System>,
    nvml: Result<nvml_wrapper::Nvml, String>,
}

impl Probe {
    /// Opens NVML and sysinfo. A machine without the NVIDIA driver is not an error; the samples report it.
    pub fn new() -> Self {
        let kinds = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing().with_usage())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let nvml = nvml_wrapper::Nvml::init().map_err(|error| {
            tracing::debug!(%error, "NVML is not available");
            match error {
                nvml_wrapper::error::NvmlError::LibloadingError(_) => "no NVIDIA driver found".to_owned(),
                error => format!("no NVIDIA GPU found ({error})"),
            }
        });
        Self { system: open_system(kinds), nvml }
    }

    /// Takes a sample. The CPU load is the mean since the last call.
    pub fn sample(&mut self) -> HardwareSample {
        let (gpus, gpu_note) = match &self.nvml {
            Ok(nvml) => match read_gpus(nvml) {
                Ok(gpus) => (gpus, None),
                Err(error) => (Vec::new(), Some(format!("the NVIDIA driver does not respond ({error})"))),
            },
            Err(note) => (Vec::new(), Some(note.clone())),
        };
        let mut sample = HardwareSample {
            cpu: String::new(),
            threads: thread::available_parallelism().map_or(1, usize::from),
            cpu_load: 0.0,
            ram_total: 0,
            ram_available: 0,
            ram_limit: None,
            process_ram: 0,
            gpus,
            gpu_note,
        };
        if let Some(system) = &mut self.system {
            system.refresh_cpu_usage();
            system.refresh_memory();
            sample.cpu = system.cpus().first().map_or_else(String::new, |cpu| cpu.brand().trim().to_owned());
            sample.cpu_load = system.global_cpu_usage() / 100.0;
            sample.process_ram = own_memory(system);
            sample.ram_total = system.total_memory();
            sample.ram_available = system.available_memory();
            sample.ram_limit = limit::memory_limit(system);
            if let Some(MemoryLimit { bytes, free, .. }) = sample.ram_limit {
                sample.ram_total = sample.ram_total.min(bytes);
                sample.ram_available = sample.ram_available.min(free);
            }
        }
        sample
    }

    /// What the driver calls each NVIDIA GPU, with its compute capability times ten, such as 86.
    pub fn capabilities(&self) -> Vec<(String, u32)> {
        let Ok(nvml) = &self.nvml else { return Vec::new() };
        let of = |index: u32| -> Result<(String, u32), nvml_wrapper::error::NvmlError> {
            let device = nvml.device_by_index(index)?;
            let found = device.cuda_compute_capability()?;
            let [major, minor] =
                [found.major, found.minor].map(|part| u32::try_from(part).unwrap_or_default());
            Ok((device.uuid()?, 10 * major + minor))
        };
        (0..nvml.device_count().unwrap_or_default()).filter_map(|index| of(index).ok()).collect()
    }

    /// The minimum time between two samples for a meaningful CPU load.
    pub const INTERVAL: Duration = Duration::from_secs(1);
}

impl Default for Probe {
    fn default() -> Self {
        Self::new()
    }
}

fn read_gpus(nvml: &nvml_wrapper::Nvml) -> Result<Vec<GpuSample>, nvml_wrapper::error::NvmlError> {
    use nvml_wrapper::enum_wrappers::device::TemperatureSensor;
    (0..nvml.device_count()?)
        .map(|index| {
            let device = nvml.device_by_index(index)?;
            let memory = device.memory_info()?;
            Ok(GpuSample {
                name: device.name()?,
                uuid: device.uuid().ok(),
                vram_total: memory.total,
                vram_used: memory.used,
                load: device.utilization_rates().map_or(0.0, |rates| rates.gpu as f32 / 100.0),
                temperature: device.temperature(TemperatureSensor::Gpu).ok(),
            })
        })
        .collect()
}

/// Reads this process's memory use repeatedly.
pub struct ProcessMemory {
    system: Option<System>,
    last: u64,
    reads: u32,
}

impl ProcessMemory {
    /// A reader for this process.
    pub fn new() -> Self {
        Self { system: open_system(RefreshKind::nothing()), last: 0, reads: 0 }
    }

    /// Bytes of RAM this process uses. Refreshed on every fifth call, because reading it takes the operating
    /// system some time.
    pub fn bytes(&mut self) -> u64 {
        if self.reads.is_multiple_of(5)
            && let Some(system) = &mut self.system
        {
            self.last = own_memory(system);
        }
        self.reads = self.reads.wrapping_add(1);
        self.last
    }
}

impl Default for ProcessMemory {
    fn default() -> Self {
        Self::new()
    }
}

fn own_memory(system: &mut System) -> u64 {
    let Ok(pid) = sysinfo::get_current_pid() else { return 0 };
    let kind = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, kind);
    system.process(pid).map_or(0, sysinfo::Process::memory)
}

fn open_system(kinds: RefreshKind) -> Option<System> {
    System::new_with_specifics(kinds)
        .inspect_err(|error| tracing::warn!(%error, "the memory and the CPU of this machine cannot be read"))
        .ok()
}

/// Bytes of RAM that this process may use; `None` if unknown.
#[cfg(any(feature = "cuda", feature = "metal"))]
pub fn total_memory() -> Option<u64> {
    let mut system =
        open_system(RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram()))?;
    own_memory(&mut system);
    let total = system.total_memory();
    Some(limit::memory_limit(&system).map_or(total, |limit| limit.bytes.min(total)))
}

/// The limit of this process's memory that leaves least, if it has one.
pub fn memory_limit() -> Option<MemoryLimit> {
    let mut system =
        open_system(RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram()))?;
    own_memory(&mut system);
    limit::memory_limit(&system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_not_drawn_because_of_the_frame_before() {
        // The CPU draws, and a frame is a sixth of a second's work for all its cores.
        const FRAME: f32 = 0.16;
        let (mut load, mut shown, mut frames) = (SmoothLoad::default(), 1.0_f32, Vec::new());
        let mut drew = true;
        for second in 0..120 {
            let now = load.with(if drew { FRAME } else { 0.0 });
            drew = (now - shown).abs() >= NOTICED_LOAD;
            if drew {
                shown = now;
                frames.push(second);
            }
        }
        assert!(frames.last().is_some_and(|last| *last < 30), "{frames:?}");
        assert!((load.with(0.5) - shown).abs() >= NOTICED_LOAD, "what others do is noticed at once");
    }

    #[test]
    fn only_what_people_notice_is_news() {
        const GIB: u64 = 1 << 30;
        let gpu = GpuSample {
            name: "RTX".to_owned(),
            uuid: None,
            vram_total: 8 * GIB,
            vram_used: GIB,
            load: 0.0,
            temperature: Some(40),
        };
        let idle = HardwareSample {
            cpu: "CPU".to_owned(),
            threads: 2,
            cpu_load: 0.02,
            ram_total: 16 * GIB,
            ram_available: 10 * GIB,
            ram_limit: None,
            process_ram: GIB,
            gpus: vec![gpu.clone()],
            gpu_note: None,
        };
        let still = HardwareSample { cpu_load: 0.04, ram_available: 10 * GIB - (50 << 20), ..idle.clone() };
        assert!(!still.differs_from(&idle));
        let busy = HardwareSample { cpu_load: 0.5, ..idle.clone() };
        let fuller = HardwareSample { ram_available: 9 * GIB, ..idle.clone() };
        let warm = HardwareSample { gpus: vec![GpuSample { temperature: Some(43), ..gpu }], ..idle.clone() };
        let gone = HardwareSample { gpus: Vec::new(), ..idle.clone() };
        for changed in [busy, fuller, warm, gone] {
            assert!(changed.differs_from(&idle), "{changed:?}");
        }
    }
}
