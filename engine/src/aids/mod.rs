//! Small networks beside the model: they look at images, and what they see helps to make others.

mod depth;
mod depth_names;
mod places;

pub use depth::{DepthAnything, Opened, is_depth_estimator, open};
