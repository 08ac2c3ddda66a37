//! Limits that somebody has set for this process's memory, below what the machine has.
//!
//! On Linux these are `ulimit -v`, `ulimit -d` and the memory limit of a control group (versions 1 and 2), such as a
//! container's. macOS does not enforce its `ulimit -v`, and the job objects of Windows cannot be read safely, so there
//! no limit is found.

use serde::{Deserialize, Serialize};
use sysinfo::System;

/// A limit of the memory of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLimit {
    /// Who counts what.
    pub kind: LimitKind,
    /// Bytes that are allowed.
    pub bytes: u64,
    /// Bytes that can still be allocated.
    pub free: u64,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// The address space of the process, `ulimit -v`.
    AddressSpace,
    /// The private memory of the process, `ulimit -d`.
    Data,
    /// The memory of a group of processes, such as a container.
    ControlGroup,
}

impl LimitKind {
    /// How people know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AddressSpace => "ulimit -v",
            Self::Data => "ulimit -d",
            Self::ControlGroup => "the limit of a container or control group",
        }
    }
}

/// The limit that leaves least, if there is one. `system` must have this process and the machine's memory.
pub(super) fn memory_limit(system: &System) -> Option<MemoryLimit> {
    let group = control_group(system).filter(|limit| limit.bytes < system.total_memory());
    process_limits().into_iter().flatten().chain(group).min_by_key(|limit| limit.free)
}

fn control_group(system: &System) -> Option<MemoryLimit> {
    let limits = system.process(sysinfo::get_current_pid().ok()?)?.cgroup_limits()?;
    // What files take in the cache is freed when it is needed, so only the memory of processes counts as used.
    let free = limits.total_memory.saturating_sub(limits.rss);
    Some(MemoryLimit { kind: LimitKind::ControlGroup, bytes: limits.total_memory, free })
}

/// Whether `ulimit -v` or `ulimit -d` is set.
pub fn process_is_limited() -> bool {
    process_limits().iter().any(Option::is_some)
}

#[cfg(target_os = "linux")]
fn process_limits() -> [Option<MemoryLimit>; 2] {
    use rustix::process::{Resource, getrlimit};
    let limits =
        [(LimitKind::AddressSpace, Resource::As, "VmSize:"), (LimitKind::Data, Resource::Data, "VmData:")];
    limits.map(|(kind, resource, used)| {
        let bytes = getrlimit(resource).current?;
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        Some(MemoryLimit { kind, bytes, free: bytes.saturating_sub(kilobytes(&status, used)?) })
    })
}

#[cfg(not(target_os = "linux"))]
fn process_limits() -> [Option<MemoryLimit>; 2] {
    [None, None]
}

/// The bytes of an entry such as `VmData:     1234 kB`.
#[cfg(target_os = "linux")]
fn kilobytes(status: &str, name: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_the_process_has_is_read_in_bytes() {
        let status = "Name:\tsluice\nVmSize:\t  205112 kB\nVmData:\t      84 kB\n";
        assert_eq!(kilobytes(status, "VmData:"), Some(84 << 10));
        assert_eq!(kilobytes(status, "VmSize:"), Some(205_112 << 10));
        assert_eq!(kilobytes(status, "VmLck:"), None);
    }
}
