//! What attention is computed with on a GPU.

use std::cell::Cell;

use crate::memory::Attention;

thread_local! {
    static CHOSEN: Cell<Attention> = const { Cell::new(Attention::Tiled) };
}

/// Runs `work`, with this attention for all functions that this thread calls.
pub fn with_attention<T>(attention: Attention, work: impl FnOnce() -> T) -> T {
    struct Before(Attention);
    impl Drop for Before {
        fn drop(&mut self) {
            CHOSEN.set(self.0);
        }
    }
    let _before = Before(CHOSEN.replace(attention));
    work()
}

/// What this thread computes attention with on a GPU.
pub(super) fn attention() -> Attention {
    CHOSEN.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_holds_for_the_work_and_its_thread_alone() {
        with_attention(Attention::Math, || {
            assert_eq!(attention(), Attention::Math);
            with_attention(Attention::Tiled, || assert_eq!(attention(), Attention::Tiled));
            assert_eq!(attention(), Attention::Math);
            let elsewhere = std::thread::spawn(attention).join().unwrap();
            assert_eq!(elsewhere, Attention::default());
        });
        assert_eq!(attention(), Attention::default());
    }
}
