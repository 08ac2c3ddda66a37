//! Where weights are, and how they come to a forward pass.
//!
//! A block's forward pass is a function of weights and state; it does not own its weights. It gets them as a
//! [`Lease`] from a [`WeightStore`], block by block, in the order of an [`Executor`]'s walk.

mod executor;
mod store;
mod weights;

pub use executor::{CancelToken, Executor, RunError};
pub use store::{Lease, Residency, WeightStore};
pub use weights::Weights;
