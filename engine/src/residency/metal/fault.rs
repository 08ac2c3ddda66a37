//! Classifies errors of Metal.

use candle_core::MetalError;
use candle_metal_kernels::MetalKernelError;

use crate::residency::fault::Fault;

/// Classifies an error; `None` if it is of another kind.
pub fn fault(error: &candle_core::Error) -> Option<Fault> {
    match error {
        candle_core::Error::Metal(MetalError::KernelError(error)) => of_kernel(error),
        candle_core::Error::WithBacktrace { inner, .. } | candle_core::Error::Context { inner, .. } => {
            fault(inner)
        }
        candle_core::Error::WithPath { inner, .. } => fault(inner),
        _ => None,
    }
}

fn of_kernel(error: &MetalKernelError) -> Option<Fault> {
    match error {
        MetalKernelError::FailedToCreateResource(what) if what == "Buffer" => Some(Fault::OutOfMemory),
        MetalKernelError::CommandBufferError(said) => of_words(said),
        MetalKernelError::WithBacktrace { inner, .. } => of_kernel(inner),
        _ => None,
    }
}

/// The tensor library keeps only the words of these errors, which end with their names.
fn of_words(said: &str) -> Option<Fault> {
    if said.contains("kIOGPUCommandBufferCallbackErrorOutOfMemory") {
        return Some(Fault::OutOfMemory);
    }
    // After too many errors the system ignores all further work of the process.
    said.contains("kIOGPUCommandBufferCallbackErrorSubmissionsIgnored").then_some(Fault::Lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_survives_is_told_from_what_it_does_not() {
        let of = |error: MetalKernelError| fault(&candle_core::Error::Metal(error.into()));
        let words = |said: &str| of(MetalKernelError::CommandBufferError(said.to_owned()));
        let memory = "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)";
        assert_eq!(words(memory), Some(Fault::OutOfMemory));
        let ignored = "Ignored (00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)";
        assert_eq!(words(ignored), Some(Fault::Lost));
        assert_eq!(words("unknown error"), None);
        let refused = |what: &str| of(MetalKernelError::FailedToCreateResource(what.to_owned()));
        assert_eq!([refused("Buffer"), refused("CommandBuffer")], [Some(Fault::OutOfMemory), None]);
    }
}
