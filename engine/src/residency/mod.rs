//! Where weights live, and how they get to a forward pass.
//!
//! A block's forward pass is a function of weights and state; it does not own its weights. It gets them as a
//! [`Lease`] from a [`WeightStore`], block by block, in the order of an [`Executor`]'s walk. A
//! [`UsePlan`](crate::memory::UsePlan) decides which blocks stay on the device and which stream through its
//! slots.

mod blocks;
mod buffer;
mod cancel;
mod copies;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod error;
mod executor;
mod moment;
mod store;
mod weight_source;
mod weights;

pub use blocks::{Blocks, TracedBlocks};
pub use buffer::BlockLayout;
pub use cancel::CancelToken;
pub use device::{CpuMemory, DeviceMemory, SimulatedCard};
pub use error::RunError;
pub use executor::Executor;
pub use moment::Moment;
pub use store::{BlockTimings, Lease, WeightStore};
pub use weights::Weights;
