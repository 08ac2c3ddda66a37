//! How a GPU computes attention, and what each way takes.

use std::cell::Cell;

use serde::{Deserialize, Serialize};

/// How a GPU computes attention. The CPU has one fused function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    /// Products and softmax of the tensor library in f32, for some heads and queries at a time.
    Math,
    /// A kernel on tensor cores that never has scores in memory (Dao et al. 2022). It computes in f16 and bf16, for
    /// some widths of heads; for others, and on GPUs before compute capability 8.0, `Math` does.
    #[default]
    Tiled,
}

impl Attention {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Math, Self::Tiled];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Math => "math",
            Self::Tiled => "tiled",
        }
    }
}

/// Bytes that the largest attention of a run takes besides its inputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionBytes {
    /// What computes it, if it is a GPU.
    pub on_gpu: Option<Attention>,
    /// With the CPU's function; 0 on a GPU.
    pub fused: u64,
    /// With [`Attention::Math`]; 0 on the CPU.
    pub math: u64,
    /// With [`Attention::Tiled`]; 0 on the CPU.
    pub tiled: u64,
}

impl AttentionBytes {
    /// The larger of both, for each way.
    pub fn join(&mut self, other: &Self) {
        self.on_gpu = self.on_gpu.or(other.on_gpu);
        self.fused = self.fused.max(other.fused);
        self.math = self.math.max(other.math);
        self.tiled = self.tiled.max(other.tiled);
    }
}

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
