//! The engine as programs see it: sessions and their messages, errors in words, presets, the starter model.

#![cfg(test)]

mod errors_model;
mod errors_request;
mod messages;
mod presets;
mod session;
mod starter;
mod traced;
