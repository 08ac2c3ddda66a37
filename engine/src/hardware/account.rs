//! Tracks the memory the engine holds on a device and on the host: counted at allocation, checked against a
//! budget, with peaks for each run.

use std::{
    fmt,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
};

use crate::units;

/// No budget.
const UNLIMITED: u64 = u64::MAX;

/// A device's own allocator, whose counters include both weights and activations.
pub trait DevicePool: Send + Sync + fmt::Debug {
    /// Bytes in use.
    fn used(&self) -> u64;

    /// Peak bytes in use since the last call.
    fn take_most(&self) -> u64;

    /// Bytes used on the device by other programs and the driver itself.
    fn others(&self) -> u64;

    /// Bytes this process holds or can still allocate.
    fn available(&self) -> u64;

    /// Bytes allocated on the device but located in host memory, where some drivers move them silently.
    fn spilled(&self) -> u64;

    /// Waits until released memory is free; a device works asynchronously.
    fn settle(&self);

    /// Returns cached memory to the driver, for other programs.
    fn give_back(&self);
}

/// The memory account of one engine. Holders of weights and of copies reserve bytes here. Activations are
/// what the engine's computing threads allocate (see [`metered`](super::metered)); on a device with its own
/// counters, they are its total minus the weights.
pub struct MemoryAccount {
    budget: AtomicU64,
    weights: AtomicU64,
    activations: AtomicI64,
    host: AtomicU64,
    pinned: AtomicU64,
    peak: AtomicU64,
    peak_activations: AtomicU64,
    peak_host: AtomicU64,
    /// Bytes the device would have needed for the last refused allocation; 0 if none was refused.
    refused: AtomicU64,
    /// Charges until one is refused, for tests; 0 if none is to be.
    until_fault: AtomicU64,
    pool: RwLock<Option<Arc<dyn DevicePool>>>,
    /// Whether there is a pool. The allocator reads this, and must not take a lock.
    has_pool: AtomicBool,
}

/// Bytes held at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Weights on the device, including slots.
    pub weights: u64,
    /// Activations on the device.
    pub activations: u64,
    /// Copies of weights in host memory, and staging buffers.
    pub host: u64,
    /// The part of `host` that is pinned.
    pub pinned: u64,
}

/// Peak bytes held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Peaks {
    /// Weights and activations on the device together.
    pub device: u64,
    /// Activations on the device.
    pub activations: u64,
    /// In host memory.
    pub host: u64,
}

/// The device ran out of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the device ran out of memory: {} needed, {} allowed", units::memory_needed(*.needed), units::memory(*.budget))]
pub struct OutOfMemory {
    /// Bytes the device would have to hold.
    pub needed: u64,
    /// Bytes it may hold.
    pub budget: u64,
}

/// Bytes charged to an account until this is dropped.
#[must_use = "the reservation ends when this is dropped"]
pub struct Reservation {
    account: Arc<MemoryAccount>,
    bytes: u64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Weights,
    Host,
    Pinned,
}

impl MemoryAccount {
    /// An account without a budget.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            budget: AtomicU64::new(UNLIMITED),
            weights: AtomicU64::new(0),
            activations: AtomicI64::new(0),
            host: AtomicU64::new(0),
            pinned: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            peak_activations: AtomicU64::new(0),
            peak_host: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            until_fault: AtomicU64::new(0),
            pool: RwLock::new(None),
            has_pool: AtomicBool::new(false),
        })
    }

    /// Sets the limit on bytes held on the device.
    pub fn set_budget(&self, budget: Option<u64>) {
        self.budget.store(budget.unwrap_or(UNLIMITED), Ordering::Relaxed);
        self.refused.store(0, Ordering::Relaxed);
    }

    /// Refuses one charge on the device, as if the budget were used up: the first one for 1. For tests of what follows; 0
    /// refuses none.
    pub fn refuse_charge(&self, number: u64) {
        self.until_fault.store(number, Ordering::Relaxed);
    }

    /// Whether the charge that [`refuse_charge`](Self::refuse_charge) chose is still to come.
    pub fn is_fault_ahead(&self) -> bool {
        self.until_fault.load(Ordering::Relaxed) > 0
    }

    /// Counts a charge. Whether it is the one to refuse.
    fn is_fault(&self) -> bool {
        // A load costs less than a write, and outside tests there is nothing to count.
        self.is_fault_ahead() && self.until_fault.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Sets the device's own counters as the source of its memory in use, or `None` to meter the computing
    /// threads.
    pub fn count_with(&self, pool: Option<Arc<dyn DevicePool>>) {
        if let Some(pool) = &pool {
            pool.take_most();
        }
        self.has_pool.store(pool.is_some(), Ordering::Relaxed);
        *self.pool.write().unwrap_or_else(PoisonError::into_inner) = pool;
    }

    fn pool(&self) -> Option<Arc<dyn DevicePool>> {
        self.pool.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the device's own counters, if it has any. Usage over the budget counts as a refusal.
    pub fn observe(&self) {
        let Some(pool) = self.pool() else { return };
        let (most, weights) = (pool.take_most(), self.weights.load(Ordering::Relaxed));
        self.peak.fetch_max(most, Ordering::Relaxed);
        self.peak_activations.fetch_max(most.saturating_sub(weights), Ordering::Relaxed);
        if most > self.budget.load(Ordering::Relaxed) {
            self.refused.fetch_max(most, Ordering::Relaxed);
        }
    }

    /// The error for an allocation that the device refused.
    pub fn out_of_memory(&self) -> OutOfMemory {
        let held = self.holdings();
        let budget = held.weights + held.activations;
        OutOfMemory { needed: budget + 1, budget }
    }

    /// Bytes of the device that others use; 0 if unknown.
    pub fn others(&self) -> u64 {
        self.pool().map_or(0, |pool| pool.others())
    }

    /// Bytes of the device that this process holds or can still allocate, if known.
    pub fn available(&self) -> Option<u64> {
        self.pool().map(|pool| pool.available())
    }

    /// Bytes allocated on the device that the driver keeps in host memory.
    pub fn spilled(&self) -> u64 {
        self.pool().map_or(0, |pool| pool.spilled())
    }

    /// Returns memory cached by the device's allocator to the driver.
    pub fn give_back(&self) {
        if let Some(pool) = self.pool() {
            pool.give_back();
        }
    }

    /// Charges weights on the device.
    ///
    /// # Errors
    /// Fails, and charges nothing, if this would exceed the budget.
    pub fn reserve_weights(self: &Arc<Self>, bytes: u64) -> Result<Reservation, OutOfMemory> {
        let budget = self.budget.load(Ordering::Relaxed);
        let activations = self.activations();
        let before = self.weights.fetch_add(bytes, Ordering::Relaxed);
        let needed = before + bytes + activations;
        if needed > budget || self.is_fault() {
            self.weights.fetch_sub(bytes, Ordering::Relaxed);
            return Err(OutOfMemory { needed, budget });
        }
        self.peak.fetch_max(needed, Ordering::Relaxed);
        Ok(Reservation { account: Arc::clone(self), bytes, kind: Kind::Weights })
    }

    /// Charges a copy of weights in host memory, or a buffer.
    pub fn reserve_host(self: &Arc<Self>, bytes: u64, pinned: bool) -> Reservation {
        let held = self.host.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak_host.fetch_max(held, Ordering::Relaxed);
        if pinned {
            self.pinned.fetch_add(bytes, Ordering::Relaxed);
        }
        let kind = if pinned { Kind::Pinned } else { Kind::Host };
        Reservation { account: Arc::clone(self), bytes, kind }
    }

    /// Charges an allocation of a computing thread. One that exceeds the budget is recorded as refused and
    /// does not count towards the peak: the host memory that simulates VRAM can hold it, VRAM could not.
    pub(super) fn allocated(&self, bytes: u64) {
        if self.has_pool.load(Ordering::Relaxed) {
            self.activations.fetch_add(bytes as i64, Ordering::Relaxed);
            return;
        }
        let live = self.activations.fetch_add(bytes as i64, Ordering::Relaxed) + bytes as i64;
        let live = u64::try_from(live).unwrap_or(0);
        let total = live + self.weights.load(Ordering::Relaxed);
        if total > self.budget.load(Ordering::Relaxed) || self.is_fault() {
            self.refused.fetch_max(total, Ordering::Relaxed);
            return;
        }
        // Peaks rarely change, and a load is cheaper than a write.
        if total > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(total, Ordering::Relaxed);
        }
        if live > self.peak_activations.load(Ordering::Relaxed) {
            self.peak_activations.fetch_max(live, Ordering::Relaxed);
        }
    }

    pub(super) fn freed(&self, bytes: u64) {
        self.activations.fetch_sub(bytes as i64, Ordering::Relaxed);
    }

    /// The allocation that exceeded the budget since the last call, if any.
    pub fn take_refusal(&self) -> Option<OutOfMemory> {
        let needed = self.refused.swap(0, Ordering::Relaxed);
        (needed > 0).then(|| OutOfMemory { needed, budget: self.budget.load(Ordering::Relaxed) })
    }

    /// Whether an allocation exceeded the budget.
    pub fn has_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed) > 0
    }

    /// Waits until a device with its own counters has freed released memory. Until then that memory counts as
    /// in use, and exceeding a new budget only because of it is not a refusal.
    pub fn settle(&self) {
        if let Some(pool) = self.pool() {
            pool.settle();
            self.observe();
            self.refused.store(0, Ordering::Relaxed);
        }
    }

    /// Bytes held now.
    pub fn holdings(&self) -> Holdings {
        Holdings {
            weights: self.weights.load(Ordering::Relaxed),
            activations: self.activations(),
            host: self.host.load(Ordering::Relaxed),
            pinned: self.pinned.load(Ordering::Relaxed),
        }
    }

    /// The peaks since the last call; they restart from what is held now.
    pub fn take_peaks(&self) -> Peaks {
        self.observe();
        let now = self.holdings();
        Peaks {
            device: self.peak.swap(now.weights + now.activations, Ordering::Relaxed),
            activations: self.peak_activations.swap(now.activations, Ordering::Relaxed),
            host: self.peak_host.swap(now.host, Ordering::Relaxed),
        }
    }

    fn activations(&self) -> u64 {
        if let Some(pool) = self.pool() {
            return pool.used().saturating_sub(self.weights.load(Ordering::Relaxed));
        }
        u64::try_from(self.activations.load(Ordering::Relaxed)).unwrap_or(0)
    }
}

impl fmt::Debug for MemoryAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.holdings().fmt(f)
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of {:?}", self.bytes, self.kind)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let account = &self.account;
        match self.kind {
            Kind::Weights => account.weights.fetch_sub(self.bytes, Ordering::Relaxed),
            Kind::Host => account.host.fetch_sub(self.bytes, Ordering::Relaxed),
            Kind::Pinned => {
                account.pinned.fetch_sub(self.bytes, Ordering::Relaxed);
                account.host.fetch_sub(self.bytes, Ordering::Relaxed)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_over_the_budget_are_refused_and_leave_no_trace() {
        let account = MemoryAccount::new();
        account.set_budget(Some(100));
        let held = account.reserve_weights(60).unwrap();
        account.allocated(30);
        assert_eq!(account.reserve_weights(11).unwrap_err(), OutOfMemory { needed: 101, budget: 100 });
        assert_eq!(account.holdings(), Holdings { weights: 60, activations: 30, host: 0, pinned: 0 });
        drop(held);
        assert_eq!(account.holdings().weights, 0);
        assert_eq!(account.take_peaks().device, 90);
        assert_eq!(account.take_peaks().device, 30);
    }

    #[test]
    fn an_allocation_over_the_budget_is_remembered_until_it_is_asked_for() {
        let account = MemoryAccount::new();
        account.set_budget(Some(100));
        let _held = account.reserve_weights(60).unwrap();
        account.allocated(50);
        account.freed(50);
        assert!(account.has_refused());
        assert_eq!(account.take_refusal(), Some(OutOfMemory { needed: 110, budget: 100 }));
        assert_eq!(account.take_refusal(), None);
        assert_eq!(account.take_peaks().device, 60);
    }

    /// Bytes in use, their peak, and released bytes that are in use until the device settles.
    #[derive(Debug, Default)]
    struct Counting([AtomicU64; 3]);

    impl Counting {
        fn use_bytes(&self, bytes: u64) {
            self.0[0].store(bytes, Ordering::Relaxed);
            self.0[1].fetch_max(bytes, Ordering::Relaxed);
        }
    }

    impl DevicePool for Counting {
        fn used(&self) -> u64 {
            self.0[0].load(Ordering::Relaxed)
        }

        fn take_most(&self) -> u64 {
            self.0[1].swap(self.used(), Ordering::Relaxed)
        }

        fn others(&self) -> u64 {
            7
        }

        fn available(&self) -> u64 {
            93
        }

        fn spilled(&self) -> u64 {
            0
        }

        fn settle(&self) {
            self.0[0].fetch_sub(self.0[2].swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }

        fn give_back(&self) {}
    }

    #[test]
    fn a_device_that_counts_by_itself_is_believed() {
        let account = MemoryAccount::new();
        let pool = Arc::new(Counting::default());
        account.count_with(Some(Arc::clone(&pool) as Arc<dyn DevicePool>));
        account.set_budget(Some(100));
        account.allocated(1_000);
        assert!(!account.has_refused(), "host allocations must not count for the device");
        let _held = account.reserve_weights(40).unwrap();
        pool.use_bytes(90);
        pool.use_bytes(60);
        assert_eq!(account.holdings(), Holdings { weights: 40, activations: 20, host: 0, pinned: 0 });
        let peaks = account.take_peaks();
        assert_eq!((peaks.device, peaks.activations), (90, 50));
        assert_eq!((account.others(), account.available()), (7, Some(93)));
        assert_eq!(account.take_peaks().device, 60);
        pool.use_bytes(101);
        pool.use_bytes(60);
        account.observe();
        assert_eq!(account.take_refusal(), Some(OutOfMemory { needed: 101, budget: 100 }));
        account.count_with(None);
        assert_eq!(account.holdings().activations, 1_000);
    }

    #[test]
    fn what_was_let_go_is_not_held_against_a_smaller_budget() {
        let account = MemoryAccount::new();
        let pool = Arc::new(Counting::default());
        account.count_with(Some(Arc::clone(&pool) as Arc<dyn DevicePool>));
        pool.use_bytes(300);
        pool.0[2].store(260, Ordering::Relaxed);
        account.settle();
        account.set_budget(Some(100));
        assert_eq!(account.take_peaks().device, 300);
        assert_eq!((account.take_refusal(), account.take_peaks().device), (None, 40));
        pool.use_bytes(101);
        account.observe();
        pool.use_bytes(50);
        account.settle();
        assert_eq!((account.take_refusal(), account.take_peaks().device), (None, 101));
    }

    #[test]
    fn pinned_memory_is_part_of_the_hosts() {
        let account = MemoryAccount::new();
        let (plain, pinned) = (account.reserve_host(10, false), account.reserve_host(5, true));
        assert_eq!((account.holdings().host, account.holdings().pinned), (15, 5));
        drop((plain, pinned));
        assert_eq!(account.take_peaks().host, 15);
        assert_eq!(account.holdings(), Holdings::default());
    }
}
