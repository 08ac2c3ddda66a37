//! CUDA graphs: kernels that are recorded once and launched as one.
//!
//! A pass through small blocks launches hundreds of kernels that take a few microseconds each, and the CPU may be slower to
//! launch them than the GPU to run them. A graph launches all of them at once. Runs do not use graphs yet: `bench kernels`
//! records one, and docs/decisions.md says what a run would need.

use candle_core::{
    Device, Result, Tensor,
    backend::BackendDevice as _,
    bail,
    cuda::{
        WrapErr as _,
        cudarc::driver::{
            CudaGraph,
            sys::{CUgraphInstantiate_flags, CUstreamCaptureMode},
        },
    },
};

/// A recorded function of one tensor.
pub struct Graph {
    graph: CudaGraph,
    /// Where the recorded kernels read the argument, and where they write the result.
    given: Tensor,
    result: Tensor,
}

/// A view of the GPU with this number in CUDA's order, on which work can be recorded: it has one stream, so tensors need no
/// events, which a recording cannot wait for.
///
/// # Errors
/// Fails if there is no such GPU or the driver does not respond.
pub fn device_to_record(ordinal: usize) -> Result<Device> {
    let device = Device::new_cuda_with_stream(ordinal)?;
    let stream = device.as_cuda_device()?.cuda_stream();
    // SAFETY: every tensor of this device is written and read on its one stream, in order, so nothing has to wait for an event.
    unsafe { stream.context().disable_event_tracking() };
    Ok(device)
}

impl Graph {
    /// Records what `work` computes of `given`, which is on a [device to record](device_to_record). Tensors that `work` reads
    /// beside `given` must stay where they are for as long as the graph is used. `work` runs twice; the second time, it only
    /// records. It must do the same both times, and copy nothing from the host: strided arguments of some functions do.
    ///
    /// # Errors
    /// Fails if the device does, or something that `work` does cannot be recorded.
    pub fn record(given: &Tensor, work: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        let device = given.device().as_cuda_device()?;
        let stream = device.cuda_stream();
        let given = given.copy()?;
        // The first run loads the kernels and allocates the workspaces of libraries.
        let result = work(&given)?.force_contiguous()?;
        device.synchronize()?;
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).w()?;
        let recorded = work(&given).and_then(|made| result.slice_set(&made.contiguous()?, 0, 0));
        // What the recorded kernels allocate and free belongs to the graph.
        let graph =
            stream.end_capture(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH).w();
        recorded?;
        let Some(graph) = graph? else { bail!("nothing was recorded") };
        Ok(Self { graph, given, result })
    }

    /// Computes the function for another argument of the same shape and dtype.
    ///
    /// # Errors
    /// Fails if the shape or the dtype differs, or the device fails.
    pub fn run(&self, given: &Tensor) -> Result<Tensor> {
        self.given.slice_set(&given.contiguous()?, 0, 0)?;
        self.graph.launch().w()?;
        self.result.copy()
    }
}
