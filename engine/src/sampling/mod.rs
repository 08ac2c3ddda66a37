//! From noise to latents: noise, noise levels and the methods that walk along them.

mod noise;
mod sampler;
mod schedule;

pub use noise::randn;
pub use sampler::{Step, euler, heun};
pub use schedule::{FlowShift, Shift};
