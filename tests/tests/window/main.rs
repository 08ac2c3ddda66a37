//! The window, driven by scripted events instead of an engine.

#![cfg(test)]

mod adapters;
mod behaviour;
mod clip_inputs;
mod clip_length;
mod collections;
mod compare;
mod control_nets;
mod describe;
mod detailers;
mod drag_out;
mod engines;
mod enhance;
mod everyday;
mod file_menu;
mod focus;
mod from_elsewhere;
mod gallery;
mod get;
mod grid_settings;
mod grids;
mod hires;
mod image_prompts;
mod input_image;
mod interpolating;
mod library;
mod memory;
mod palette;
mod player;
mod presets;
mod prompts;
mod queue;
mod real_run;
mod regions;
mod results;
mod runs;
mod settings_page;
mod snapshots;
mod sound;
mod support;
mod timeline;
mod tooltips;
mod upscaling;
