//! A session with an engine elsewhere, as the caller knows it.

use std::{collections::HashMap, sync::Arc, time::Instant};

use super::{new_visit, parcels::Ticket, results::Results, sent::Sent};
use crate::session::command::JobId;

/// An engine that has other files.
pub struct Visit {
    /// Its name.
    pub name: String,
    /// The files at the engine.
    pub sent: Arc<Sent>,
    /// What comes back.
    pub results: Results,
    /// Jobs that wait for their files, or are at the engine.
    pub tickets: HashMap<JobId, Ticket>,
    /// Whether it has ever been ready.
    pub has_served: bool,
    /// When the connection broke.
    pub lost_at: Instant,
}

impl Default for Visit {
    fn default() -> Self {
        Self {
            name: new_visit(),
            sent: Arc::default(),
            results: Results::default(),
            tickets: HashMap::new(),
            has_served: false,
            lost_at: Instant::now(),
        }
    }
}
