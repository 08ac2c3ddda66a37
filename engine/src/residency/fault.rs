//! Failures of GPUs.

/// A failure that a run can handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The GPU is out of memory. A smaller plan may fit.
    OutOfMemory,
    /// This process can no longer use the GPU; a new process can.
    Lost,
}
