//! How tests of downloads reach servers.

use std::time::Duration;

use sluice::downloads::{Credentials, Network, Patience};

use crate::file_server::FileServer;

/// Bytes that are free on every disk, as far as these tests know.
pub const FREE: u64 = 50 << 30;

/// Reaches only this server, and loses its patience soon.
pub fn network(server: &FileServer) -> Network {
    Network {
        endpoint: server.url(),
        civitai: server.url(),
        proxy: None,
        credentials: Credentials::none(),
        patience: Patience {
            connection: Duration::from_secs(2),
            bytes: Duration::from_millis(500),
            retries: 3,
            first_wait: Duration::from_millis(5),
            longest_wait: Duration::from_millis(20),
        },
        free_space: |_| Ok(FREE),
    }
}
