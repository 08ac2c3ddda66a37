//! Classifies GPU errors.

use candle_core::cuda_backend::CudaError;
use cudarc::driver::{DriverError, sys::CUresult};

use crate::residency::fault::Fault;

/// Classifies an error; `None` if it is of another kind.
pub fn fault(error: &candle_core::Error) -> Option<Fault> {
    match error {
        candle_core::Error::Cuda(error) => of_driver(error.downcast_ref::<CudaError>()?),
        candle_core::Error::WithBacktrace { inner, .. } | candle_core::Error::Context { inner, .. } => {
            fault(inner)
        }
        candle_core::Error::WithPath { inner, .. } => fault(inner),
        _ => None,
    }
}

fn of_driver(error: &CudaError) -> Option<Fault> {
    match error {
        CudaError::Cuda(DriverError(code)) | CudaError::Load { cuda: DriverError(code), .. } => {
            of_code(*code)
        }
        CudaError::Cublas(error) => of_cublas(error.0),
        _ => None,
    }
}

fn of_cublas(code: cudarc::cublas::sys::cublasStatus_t) -> Option<Fault> {
    use cudarc::cublas::sys::cublasStatus_t as Status;
    match code {
        Status::CUBLAS_STATUS_ALLOC_FAILED => Some(Fault::OutOfMemory),
        Status::CUBLAS_STATUS_EXECUTION_FAILED | Status::CUBLAS_STATUS_INTERNAL_ERROR => Some(Fault::Lost),
        _ => None,
    }
}

/// After some errors the driver rejects every further call of the process.
fn of_code(code: CUresult) -> Option<Fault> {
    match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => Some(Fault::OutOfMemory),
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_LAUNCH_FAILED
        | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
        | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
        | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | CUresult::CUDA_ERROR_INVALID_PC
        | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
        | CUresult::CUDA_ERROR_ASSERT
        | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
        | CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE
        | CUresult::CUDA_ERROR_SYSTEM_NOT_READY
        | CUresult::CUDA_ERROR_UNKNOWN => Some(Fault::Lost),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(code: CUresult) -> candle_core::Error {
        candle_core::Error::Cuda(Box::new(CudaError::Cuda(DriverError(code))))
    }

    #[test]
    fn what_a_process_survives_is_told_from_what_it_does_not() {
        assert_eq!(fault(&driver(CUresult::CUDA_ERROR_OUT_OF_MEMORY)), Some(Fault::OutOfMemory));
        assert_eq!(fault(&driver(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS).bt()), Some(Fault::Lost));
        assert_eq!(fault(&driver(CUresult::CUDA_ERROR_NOT_FOUND)), None);
        assert_eq!(fault(&candle_core::Error::Msg("another".to_owned())), None);
    }
}
