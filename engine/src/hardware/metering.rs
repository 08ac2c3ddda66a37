//! Meters the allocations of threads, so that a run's activations are measured, not estimated.
//!
//! Tensors on the CPU are plain allocations. The program's allocator attributes each one to a group of
//! threads; the groups of an engine's computing threads belong to its [`MemoryAccount`]. A deallocation is
//! credited to the group that allocated, whichever thread frees.

use std::{
    cell::RefCell,
    sync::{Arc, Once, OnceLock},
};

use tracking_allocator::{
    AllocationGroupId, AllocationGroupToken, AllocationRegistry, AllocationTracker, Allocator,
};

use super::MemoryAccount;

#[global_allocator]
static ALLOCATOR: Allocator<std::alloc::System> = Allocator::system();

/// Smaller allocations are names and lists, not tensors.
const SMALLEST: usize = 4096;
/// Number of threads that can be metered during the life of a process. Later ones are not.
const GROUPS: usize = 1 << 14;

/// The account of each group, by index. It is read during allocation, where locks are not allowed.
static ACCOUNTS: [OnceLock<Arc<MemoryAccount>>; GROUPS] = [const { OnceLock::new() }; GROUPS];

struct Meter;

impl AllocationTracker for Meter {
    fn allocated(&self, _: usize, size: usize, _: usize, group: AllocationGroupId) {
        if size >= SMALLEST
            && let Some(account) = account(&group)
        {
            account.allocated(size as u64);
        }
    }

    fn deallocated(&self, _: usize, size: usize, _: usize, group: AllocationGroupId, _: AllocationGroupId) {
        if size >= SMALLEST
            && let Some(account) = account(&group)
        {
            account.freed(size as u64);
        }
    }
}

fn account(group: &AllocationGroupId) -> Option<&'static Arc<MemoryAccount>> {
    ACCOUNTS.get(group.as_usize().get())?.get()
}

/// Runs `work` and charges its allocations on this thread to `account` as activations.
pub fn metered<T>(account: &Arc<MemoryAccount>, work: impl FnOnce() -> T) -> T {
    static START: Once = Once::new();
    START.call_once(|| {
        if AllocationRegistry::set_global_tracker(Meter).is_err() {
            tracing::warn!("another allocation tracker is active; activations are not measured");
        }
        AllocationRegistry::enable_tracking();
    });
    let Some(mut token) = AllocationGroupToken::register() else { return work() };
    let place = ACCOUNTS.get(token.id().as_usize().get());
    if place.is_none_or(|place| place.set(Arc::clone(account)).is_err()) {
        tracing::debug!("a thread can no longer be metered");
    }
    let _guard = token.enter();
    work()
}

/// Runs `work` without charging its allocations on this thread as activations: for weights, and for images
/// that leave the engine.
pub fn unmetered<T>(work: impl FnOnce() -> T) -> T {
    thread_local! {
        static OUTSIDE: RefCell<Option<AllocationGroupToken>> = RefCell::new(AllocationGroupToken::register());
    }
    OUTSIDE.with(|outside| match outside.try_borrow_mut() {
        Ok(mut outside) => match outside.as_mut() {
            Some(token) => {
                let _guard = token.enter();
                work()
            }
            None => work(),
        },
        // This is a nested call.
        Err(_) => work(),
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn what_a_metered_thread_allocates_is_counted_until_it_is_freed_anywhere() {
        let account = MemoryAccount::new();
        let tensor = metered(&account, || vec![0_u8; 100_000]);
        assert_eq!(account.holdings().activations, 100_000);
        thread::spawn(move || drop(tensor)).join().unwrap();
        assert_eq!(account.holdings().activations, 0);
        assert_eq!(account.take_peaks().activations, 100_000);
    }

    #[test]
    fn small_things_and_what_others_allocate_are_not_counted() {
        let account = MemoryAccount::new();
        let small = metered(&account, || vec![0_u8; 100]);
        let other = vec![0_u8; 100_000];
        let outside = metered(&account, || unmetered(|| unmetered(|| vec![0_u8; 100_000])));
        assert_eq!(account.holdings().activations, 0);
        drop((small, other, outside));
        assert_eq!(account.holdings().activations, 0);
    }

    #[test]
    fn memory_that_grows_is_counted_once() {
        let account = MemoryAccount::new();
        metered(&account, || {
            let mut values: Vec<u8> = Vec::with_capacity(10_000);
            values.resize(10_000, 1);
            values.reserve_exact(90_000);
            assert_eq!(account.holdings().activations, 100_000);
        });
        assert_eq!(account.holdings().activations, 0);
    }
}
