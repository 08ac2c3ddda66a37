//! Embeddings of the places of patches, for grids other than the one that a vision transformer was trained with.

/// The weights of four neighbours at a distance of `t` after the second one: cubic convolution with PyTorch's −0.75.
fn cubic(t: f32) -> [f32; 4] {
    const A: f32 = -0.75;
    let near = |x: f32| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f32| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]
}

/// For each place of a side of `length`, four places of a side of `from` and their weights.
fn neighbours(from: usize, length: usize) -> Vec<[(usize, f32); 4]> {
    let scale = from as f32 / length as f32;
    let of = |place: usize| {
        let at = scale * (place as f32 + 0.5) - 0.5;
        let first = at.floor();
        let weights = cubic(at - first);
        std::array::from_fn(|index| {
            let neighbour = first as isize + index as isize - 1;
            (neighbour.clamp(0, from as isize - 1) as usize, weights[index])
        })
    };
    (0..length).map(of).collect()
}

/// How much of each place of a square grid is in each place of another one, `[rows · columns, side · side]`, as PyTorch's
/// bicubic interpolation has it.
pub fn shares(side: usize, [rows, columns]: [usize; 2]) -> Vec<f32> {
    let (down, across) = (neighbours(side, rows), neighbours(side, columns));
    let mut all = vec![0.0; rows * columns * side * side];
    let places = down.iter().flat_map(|vertical| across.iter().map(move |horizontal| (vertical, horizontal)));
    for (place, (vertical, horizontal)) in all.chunks_exact_mut(side * side).zip(places) {
        for (row, by_row) in vertical {
            for (column, by_column) in horizontal {
                place[row * side + column] += by_row * by_column;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_grid_stays() {
        for (index, share) in shares(3, [3, 3]).into_iter().enumerate() {
            let expected = if index / 9 == index % 9 { 1.0 } else { 0.0 };
            assert!((share - expected).abs() < 1e-6, "{share} at {index}");
        }
    }

    #[test]
    fn shares_of_a_place_add_up_to_one() {
        for place in shares(4, [7, 3]).chunks(16) {
            let sum: f32 = place.iter().sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        }
    }
}
