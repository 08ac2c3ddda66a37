//! Stops a transfer from another thread, also while it waits for the network.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Stops a transfer. Clones stop the same one.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    stopped: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_stopped: bool,
    agents: Vec<ureq::Agent>,
}

impl Stop {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops it: open connections are closed, and what waits wakes up.
    pub fn stop(&self) {
        let mut state = self.state();
        state.is_stopped = true;
        let agents = std::mem::take(&mut state.agents);
        drop(state);
        for agent in agents {
            agent.shutdown();
        }
        self.0.stopped.notify_all();
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// Closes the connections of an agent when it is stopped.
    pub(super) fn closes(&self, agent: &ureq::Agent) {
        let mut state = self.state();
        if state.is_stopped {
            drop(state);
            agent.clone().shutdown();
        } else {
            state.agents.push(agent.clone());
        }
    }

    /// Waits for a time. Returns `false` at once if it is stopped.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut state = self.state();
        while !state.is_stopped {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            state = self.0.stopped.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_when_it_is_stopped() {
        let stop = Stop::default();
        assert!(stop.wait(Duration::from_millis(1)));
        let other = stop.clone();
        let thread = std::thread::spawn(move || other.wait(Duration::from_secs(60)));
        stop.stop();
        assert!(!thread.join().unwrap());
        assert!(stop.is_stopped() && !stop.wait(Duration::from_secs(60)));
    }
}
