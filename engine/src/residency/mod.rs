//! Where weights live, and how they get to a forward pass.
//!
//! A block's forward pass is a function of weights and state; it does not own its weights. It gets them as a
//! [`Lease`] from a [`WeightStore`], block by block, in the order of an [`Executor`]'s walk. A
//! [`UsePlan`](crate::memory::UsePlan) decides which blocks stay on the device and which stream through its
//! slots.
//!
//! A store is a cache between a device and what is stored, and behaves as caches of this kind do elsewhere:
//!
//! | operation | here |
//! |---|---|
//! | onload | [`WeightStore::begin_walk`] and [`WeightStore::lease`]; an [`Executor`] calls both. [`WeightStore::fetch_ahead`] starts earlier |
//! | offload | drop the lease; [`rest`](WeightStore::rest) frees the slots, [`leave_device`](WeightStore::leave_device) the device, [`leave_memory`](WeightStore::leave_memory) RAM, too |
//! | keep onloaded for a while | [`WeightStore::keep_on_device`], until the scope is dropped |
//! | read what is stored, without onloading | [`WeightStore::stored`], [`WeightStore::rows`] |
//! | assign | [`WeightStore::assign`]: reaches the stored copy and every later lease |
//! | move tensor by tensor | [`Placement::Leaves`](crate::memory::Placement::Leaves): a tensor is loaded when it is read |
//! | offload to RAM or to disk | [`Tier::Host`](crate::memory::Tier::Host) or [`Tier::Disk`](crate::memory::Tier::Disk) as the block's home |
//! | several devices | a store for each [`DeviceMemory`] and component |
//!
//! What is onloaded is always what is stored, to the last bit: nothing is ever copied back.

mod blocks;
mod branch_trace;
mod buffer;
mod cancel;
mod copies;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod error;
mod executor;
#[cfg(any(feature = "cuda", feature = "metal"))]
mod fault;
#[cfg(feature = "metal")]
pub mod metal;
mod moment;
mod pieces;
mod read_ahead;
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
pub use read_ahead::ReadAhead;
pub use store::{BlockTimings, Lease, OnDeviceScope, WeightStore};
use weights::BlockWeights;
pub use weights::Weights;
