//! The engine's interface: sessions and their messages, errors, presets, the starter model.

#![cfg(test)]

mod clip_starter;
mod errors_model;
mod errors_request;
mod function_memory;
mod known;
mod messages;
mod presets;
mod published_times;
mod session;
mod stages;
mod starter;
mod traced;
