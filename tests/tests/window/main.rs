//! The window, driven by scripted events instead of an engine.

#![cfg(test)]

mod adapters;
mod behaviour;
mod clip_inputs;
mod clip_length;
mod collections;
mod compare;
mod control_nets;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod cuda_engine;
mod describe;
mod detailers;
mod drag_out;
mod drawing;
mod empty;
mod engines;
mod enhance;
mod everyday;
mod file_menu;
mod focus;
mod folders;
mod from_elsewhere;
mod gallery;
mod get;
mod grid_settings;
mod grids;
mod hires;
mod image_menus;
mod image_prompts;
mod input_image;
mod interpolating;
mod library;
mod library_changes;
mod mask_painting;
mod memory;
mod notices;
mod opening;
mod palette;
mod plan_panel;
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
