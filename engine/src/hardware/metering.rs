//! Meters the allocations of threads, so that a run's activations are measured, not estimated.
//!
//! Tensors on the CPU are plain allocations. The program's allocator attributes each one to a group of
//! threads; the groups of an engine's computing threads belong to its [`MemoryAccount`]. A deallocation is
//! credited to the group that allocated, whichever thread frees.

use std::{
    cell::RefCell,
    sync::{Arc, Mutex, Once, OnceLock, PoisonError},
};

use tracking_allocator::{
    AllocationGroupId, AllocationGroupToken, AllocationRegistry, AllocationTracker, Allocator,
};

use super::MemoryAccount;

#[global_allocator]
static ALLOCATOR: Allocator<std::alloc::System> = Allocator::system();

/// Smaller allocations are names and lists, not tensors.
const SMALLEST: usize = 4096;
/// Allocations from this size on are on large pages.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 20;
/// Number of threads that can be metered during the life of a process. Later ones are not.
const GROUPS: usize = 1 << 14;

/// The account of each group, by index. It is read during allocation, where locks are not allowed.
static ACCOUNTS: [OnceLock<Arc<MemoryAccount>>; GROUPS] = [const { OnceLock::new() }; GROUPS];

struct Meter;

impl AllocationTracker for Meter {
    fn allocated(&self, address: usize, size: usize, _: usize, group: AllocationGroupId) {
        #[cfg(target_os = "linux")]
        if size >= LARGE {
            ask_for_large_pages(address, size);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = address;
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

/// Asks for large pages where the system offers them on request. What fills a new tensor waits for each of its pages, which takes
/// several times as long as writing them if they are small.
#[cfg(target_os = "linux")]
fn ask_for_large_pages(address: usize, size: usize) {
    /// The size of a large page. An allocation that is not much larger has none to itself, so it shares those at its ends.
    const PAGE: usize = 2 << 20;
    let first = address / PAGE * PAGE;
    let length = (address + size).next_multiple_of(PAGE) - first;
    // SAFETY: the advice changes neither what memory holds nor what may be done with it, so that it may also be about memory
    // around the allocation, and about places where there is none. A system without large pages refuses it, and nothing is lost.
    unsafe { libc::madvise(first as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
}

/// Gives memory that was freed back to the system: the C library of Linux keeps some of it for what is allocated next, and more
/// of it the larger what was freed. On other systems this does nothing.
pub fn give_back_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches no memory that is in use.
    unsafe {
        libc::malloc_trim(0)
    };
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
    let Some(mut token) = new_group() else { return work() };
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
        static OUTSIDE: RefCell<Option<AllocationGroupToken>> = RefCell::new(new_group());
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

/// A new group. One thread at a time asks for it: if two do at once, the library takes the lower number for an overflow and
/// returns none, and that thread would be metered wrongly for as long as it lives.
fn new_group() -> Option<AllocationGroupToken> {
    static ASKING: Mutex<()> = Mutex::new(());
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    AllocationGroupToken::register()
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread};

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
    fn threads_that_ask_at_once_all_get_a_group() {
        const THREADS: usize = 4;
        let all_are_there = Barrier::new(THREADS);
        let ask = || {
            all_are_there.wait();
            (0..500).filter(|_| new_group().is_none()).count()
        };
        let refused = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        assert_eq!(refused, 0);
    }

    /// The flags of the mapping with this address, as the system lists them.
    #[cfg(target_os = "linux")]
    fn flags_at(address: usize) -> Option<String> {
        let listed = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut is_there = false;
        for line in listed.lines() {
            let range = line.split(' ').next()?.split_once('-');
            let ends = range.and_then(|(first, end)| {
                Some((usize::from_str_radix(first, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
            });
            if let Some((first, end)) = ends {
                is_there = (first..end).contains(&address);
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| is_there) {
                return Some(flags.to_owned());
            }
        }
        None
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn large_tensors_are_on_large_pages_where_there_are_any() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        // The second one need not have a whole large page to itself.
        for size in [64 << 20, 3 << 19] {
            let account = MemoryAccount::new();
            let tensor = metered(&account, || vec![1_u8; size]);
            let middle = tensor.as_ptr() as usize + tensor.len() / 2;
            let flags = flags_at(middle).expect("the tensor is in the list of mappings");
            assert!(flags.split_whitespace().any(|flag| flag == "hg"), "{size}: {flags}");
            assert_eq!(account.holdings().activations, size as u64, "it is counted as before");
        }
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
