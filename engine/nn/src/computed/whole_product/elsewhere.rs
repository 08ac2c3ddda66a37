//! Processors without such instructions.

use super::{
    super::{
        operands::{Start, Weights},
        sums::Kept,
    },
    Width,
};

pub fn can_multiply(_: Width) -> bool {
    false
}

pub fn multiply<T: Kept>(_: Width, _: Weights<'_>, _: Weights<'_>, _: Start<'_>, _: usize, _: &mut [T]) {}
