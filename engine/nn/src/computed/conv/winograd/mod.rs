//! 3×3 convolution by Winograd's minimal filtering (Lavin and Gray 2016).
//!
//! Tiles of the input and the kernels are transformed, products over the channels follow, one for each value of a transformed
//! tile, and another transform gives the pixels. The larger the tiles, the fewer multiplications a pixel takes, and the more
//! of the accuracy the transforms cost: see [`two`] and [`four`].

pub(super) mod four;
pub(super) mod two;
