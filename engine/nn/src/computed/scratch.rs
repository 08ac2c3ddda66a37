//! Scratch memory of the threads that compute a function.

use std::{
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Values of a cache line.
const LINE: usize = 16;

/// Memory that a thread reuses between work items.
#[derive(Default)]
pub(super) struct Scratch(Vec<f32>);

impl Scratch {
    /// Memory for so many values. Nothing is written to it before it is used.
    fn of(length: usize) -> Self {
        Self(Vec::with_capacity(length + LINE))
    }

    /// `length` values of arbitrary content, aligned to a cache line so that no vector straddles two.
    #[inline(always)]
    pub fn take(&mut self, length: usize) -> &mut [f32] {
        if self.0.len() < length + LINE {
            if self.0.capacity() < length + LINE {
                // What is too small goes first: both together would be more than was predicted.
                self.0 = Vec::new();
                self.0 = Vec::with_capacity(length + LINE);
            }
            self.0.resize(length + LINE, 0.0);
        }
        let start = self.0.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE);
        &mut self.0[start..][..length]
    }
}

/// Scratch memory for all threads that work at the same time, reserved before the first of them begins: what a function takes
/// does not depend on how many threads come in time.
pub(super) struct Reserve(Mutex<Vec<Scratch>>);

impl Reserve {
    /// For so many work items, each of which takes up to `length` values.
    pub fn new(items: usize, length: usize) -> Self {
        let threads = rayon::current_num_threads().min(items);
        Self(Mutex::new((0..threads).map(|_| Scratch::of(length)).collect()))
    }

    /// A thread's part, which comes back when it is dropped.
    pub fn lend(&self) -> Lent<'_> {
        Lent { scratch: self.idle().pop().unwrap_or_default(), reserve: self }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread's part of a [`Reserve`].
pub(super) struct Lent<'a> {
    scratch: Scratch,
    reserve: &'a Reserve,
}

impl Deref for Lent<'_> {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Scratch {
        &mut self.scratch
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let scratch = std::mem::take(&mut self.scratch);
        self.reserve.idle().push(scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_reserved_is_lent_and_comes_back() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let reserve = pool.install(|| Reserve::new(5, 100));
        let places = || {
            let mut lent = [reserve.lend(), reserve.lend()];
            let mut places = lent.each_mut().map(|scratch| {
                let taken = scratch.take(100);
                assert!(taken.as_ptr().addr().is_multiple_of(64));
                taken.as_ptr().addr()
            });
            places.sort_unstable();
            places
        };
        assert_eq!(places(), places());
        assert_eq!(reserve.idle().len(), 2);
        assert_eq!(pool.install(|| Reserve::new(1, 100)).idle().len(), 1);
    }

    #[test]
    fn more_than_was_reserved_is_given_too() {
        let mut scratch = Scratch::of(10);
        assert_eq!(scratch.take(10).len(), 10);
        assert_eq!(scratch.take(1000).len(), 1000);
        assert_eq!(scratch.take(5).len(), 5);
    }
}
