//! What model files hold, in every layout and format, also where they are damaged.

#![cfg(test)]

mod damaged;
mod formats;
mod formats_flux;
mod inventory;
mod likeness;
mod parts;
mod published;
