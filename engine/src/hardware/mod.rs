//! What the machine has: graphics cards through NVML, memory and processor through sysinfo.

use std::{thread, time::Duration};

use serde::{Deserialize, Serialize};
use sysinfo::{
    CpuRefreshKind, MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, RefreshKind, System,
};

/// The machine at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HardwareSample {
    /// The processor's name.
    pub cpu: String,
    /// Logical processors.
    pub threads: usize,
    /// How busy they are, 0…1.
    pub cpu_load: f32,
    /// Bytes of memory in the machine.
    pub ram_total: u64,
    /// Bytes that programs can still get.
    pub ram_available: u64,
    /// Bytes that this process holds.
    pub process_ram: u64,
    /// NVIDIA cards, in the driver's order.
    pub gpus: Vec<GpuSample>,
    /// Why `gpus` may be incomplete, in words.
    pub gpu_note: Option<String>,
}

/// A graphics card at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuSample {
    /// Its name.
    pub name: String,
    /// Bytes of VRAM.
    pub vram_total: u64,
    /// Bytes in use by everybody.
    pub vram_used: u64,
    /// How busy it is, 0…1.
    pub load: f32,
    /// Degrees Celsius.
    pub temperature: Option<u32>,
}

/// Reads the machine again and again; keeps what is expensive to open.
pub struct Probe {
    system: System,
    nvml: Result<nvml_wrapper::Nvml, String>,
}

impl Probe {
    /// Opens NVML and sysinfo. A machine without NVIDIA's driver is no error: the sample says so.
    pub fn new() -> Self {
        let kinds = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing().with_cpu_usage())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let nvml = nvml_wrapper::Nvml::init().map_err(|error| {
            tracing::debug!(%error, "NVML is not available");
            format!("no NVIDIA card found ({error})")
        });
        Self { system: System::new_with_specifics(kinds), nvml }
    }

    /// Reads everything once. The processor's load is the mean since the last call.
    pub fn sample(&mut self) -> HardwareSample {
        self.system.refresh_cpu_usage();
        self.system.refresh_memory();
        let process_ram = sysinfo::get_current_pid().ok().map_or(0, |pid| {
            let kind = ProcessRefreshKind::nothing().with_memory();
            self.system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, kind);
            self.system.process(pid).map_or(0, sysinfo::Process::memory)
        });
        let (gpus, gpu_note) = match &self.nvml {
            Ok(nvml) => match read_gpus(nvml) {
                Ok(gpus) => (gpus, None),
                Err(error) => (Vec::new(), Some(format!("the NVIDIA driver does not answer ({error})"))),
            },
            Err(note) => (Vec::new(), Some(note.clone())),
        };
        HardwareSample {
            cpu: self.system.cpus().first().map_or_else(String::new, |cpu| cpu.brand().trim().to_owned()),
            threads: thread::available_parallelism().map_or(1, usize::from),
            cpu_load: self.system.global_cpu_usage() / 100.0,
            ram_total: self.system.total_memory(),
            ram_available: self.system.available_memory(),
            process_ram,
            gpus,
            gpu_note,
        }
    }

    /// The least time between two samples that gives a meaningful processor load.
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
                vram_total: memory.total,
                vram_used: memory.used,
                load: device.utilization_rates().map_or(0.0, |rates| rates.gpu as f32 / 100.0),
                temperature: device.temperature(TemperatureSensor::Gpu).ok(),
            })
        })
        .collect()
}

/// Bytes of memory that programs can still get.
pub fn available_memory() -> u64 {
    let mut system = System::new();
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    system.available_memory()
}
