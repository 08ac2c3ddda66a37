//! Threads like those of a session.

use std::{sync::Arc, thread};

use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use sluice_engine::hardware::{MemoryAccount, metered};

/// Two threads whose allocations are charged to `account`.
///
/// # Errors
/// When the operating system cannot start them.
pub fn two_metered_threads(account: &Arc<MemoryAccount>) -> Result<ThreadPool, ThreadPoolBuildError> {
    let start = |compute: ThreadBuilder| {
        let account = Arc::clone(account);
        thread::spawn(move || metered(&account, || compute.run()));
        Ok(())
    };
    ThreadPoolBuilder::new().num_threads(2).spawn_handler(start).build()
}
