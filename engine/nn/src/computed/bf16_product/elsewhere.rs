//! Processors without such instructions.

use half::bf16;

use super::{
    super::operands::{Start, Weights},
    Instruction, Kept, Method,
};

pub fn detect() -> Option<Instruction> {
    None
}

/// There is none.
pub struct Unit(());

impl Unit {
    pub fn of(_: Instruction) -> Self {
        Self(())
    }

    pub fn add(&self, _: &[u32], _: usize, _: &[u32], _: &mut [f32], _: usize) {}
}

pub fn join(_: &[bf16], _: &mut [u32]) {}

pub fn multiply<T: Kept>(_: Method, _: &[bf16], _: Weights<'_>, _: Start<'_>, _: usize, _: &mut [T]) {}
