//! More or fewer pixels, and values between them by bilinear interpolation.

use candle_core::{DType, Result, Tensor, bail};
use rayon::prelude::*;

use super::{
    cpu::{by_processor, contiguous, rounded, values, values_as, zeros},
    held::{AsHeld, Held, as_held},
};

/// Rows per work item.
const ROWS: usize = 8;

/// Two neighbouring pixels along an axis, and the share of the second.
#[derive(Clone, Copy)]
struct Between {
    pixels: [usize; 2],
    share: f32,
}

impl Between {
    /// A place along an axis. Beyond the ends, the first and the last pixel go on.
    fn at(place: f32, length: usize) -> Self {
        let place = place.clamp(0.0, (length - 1) as f32);
        let first = place as usize;
        Self { pixels: [first, (first + 1).min(length - 1)], share: place - first as f32 }
    }

    fn of<T>(self, values: impl Fn(usize) -> T) -> [T; 2] {
        self.pixels.map(values)
    }

    fn mix(self, [first, second]: [f32; 2]) -> f32 {
        first * (1.0 - self.share) + second * self.share
    }
}

/// Resizes; see [`resize_between_edges`](crate::resize_between_edges).
pub fn resize_between_edges(x: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    if [height, width] == [rows, columns] {
        return Ok(x.clone());
    }
    if !by_processor(x) {
        return x.contiguous()?.upsample_bilinear2d(rows, columns, false);
    }
    let spread = |count: usize, length: usize| -> Vec<Between> {
        let step = length as f64 / count as f64;
        let place = |number: usize| Between::at(((number as f64 + 0.5) * step - 0.5) as f32, length);
        (0..count).map(place).collect()
    };
    let (down, across) = (spread(rows, height), spread(columns, width));
    let wide = contiguous(x)?;
    let held = wide.storage_and_layout();
    let input = values(&held)?;
    let mut out = zeros(batch * channels * rows * columns);
    if !out.is_empty() {
        out.par_chunks_mut(columns).enumerate().with_min_len(ROWS).for_each(|(line, out)| {
            let (plane, row) = (line / rows, down[line % rows]);
            let lines = row.of(|row| &input[(plane * height + row) * width..][..width]);
            for (out, column) in out.iter_mut().zip(&across) {
                *out = row.mix(lines.map(|line| column.mix(column.of(|column| line[column]))));
            }
        });
    }
    drop(held);
    drop(wide);
    rounded(out, (batch, channels, rows, columns), x.dtype())
}

/// Warps; see [`warp`](crate::warp).
pub fn warp(x: &Tensor, flow: &Tensor) -> Result<Tensor> {
    let (batch, _, height, width) = x.dims4()?;
    if batch != 1 || flow.dims() != [1, 2, height, width] || flow.dtype() != DType::F32 {
        bail!("an image {:?} cannot be warped by {:?} in {:?}", x.dims(), flow.dims(), flow.dtype());
    }
    if by_processor(x) { fused_warp(x, flow) } else { plain_warp(x, flow) }
}

fn fused_warp(x: &Tensor, flow: &Tensor) -> Result<Tensor> {
    let (_, channels, height, width) = x.dims4()?;
    let pixels = height * width;
    let (wide, flow) = (contiguous(x)?, contiguous(flow)?);
    let (held, flowing) = (wide.storage_and_layout(), flow.storage_and_layout());
    let (input, moved) = (values(&held)?, values(&flowing)?);
    let mut out = zeros(channels * pixels);
    if !out.is_empty() {
        out.par_chunks_mut(width).enumerate().with_min_len(ROWS).for_each(|(line, out)| {
            let (channel, row) = (line / height, line % height);
            let plane = &input[channel * pixels..][..pixels];
            let (across, down) = (&moved[row * width..], &moved[pixels + row * width..]);
            for (column, ((out, across), down)) in out.iter_mut().zip(across).zip(down).enumerate() {
                let x = Between::at(column as f32 + across, width);
                let y = Between::at(row as f32 + down, height);
                *out = y.mix(y.of(|row| x.mix(x.of(|column| plane[row * width + column]))));
            }
        });
    }
    drop(held);
    drop(wide);
    rounded(out, x.dims(), x.dtype())
}

/// Values of f32, beside three for each channel, that the composition for GPUs holds for each pixel.
pub(crate) const WARP_PLANES: usize = 9;

fn plain_warp(x: &Tensor, flow: &Tensor) -> Result<Tensor> {
    let (_, channels, height, width) = x.dims4()?;
    let line = |length: usize| Tensor::arange(0f32, length as f32, x.device());
    // The two pixels along an axis, and the share of the second one.
    let along = |axis: usize, line: Tensor, length: usize| -> Result<([Tensor; 2], Tensor)> {
        let last = (length - 1) as f32;
        let place = flow.narrow(1, axis, 1)?.reshape((height, width))?.broadcast_add(&line)?;
        let place = place.maximum(0f32)?.minimum(last)?;
        let first = place.floor()?;
        let share = (place - &first)?.reshape((1, height * width))?;
        let second = (&first + 1.0)?.minimum(last)?;
        Ok(([first.to_dtype(DType::U32)?, second.to_dtype(DType::U32)?], share))
    };
    let (columns, across) = along(0, line(width)?.reshape((1, width))?, width)?;
    let (rows, down) = along(1, line(height)?.reshape((height, 1))?, height)?;
    let [top, bottom] = rows;
    let rows = [(top * width as f64)?, (bottom * width as f64)?];
    let planes = x.contiguous()?.reshape((channels, height * width))?;
    let share = |of: &Tensor, second: bool| if second { Ok(of.clone()) } else { of.affine(-1.0, 1.0) };
    let mut sum: Option<Tensor> = None;
    for (down, row) in [share(&down, false)?, down].iter().zip(&rows) {
        for (second, column) in [false, true].into_iter().zip(&columns) {
            let seen = {
                let place = (row + column)?.flatten_all()?;
                let seen = planes.index_select(&place, 1)?.to_dtype(DType::F32)?;
                drop(place);
                seen.broadcast_mul(&(down * share(&across, second)?)?)?
            };
            sum = Some(match sum {
                Some(sum) => (sum + seen)?,
                None => seen,
            });
        }
    }
    let Some(sum) = sum else { bail!("an image without pixels") };
    sum.reshape((1, channels, height, width))?.to_dtype(x.dtype())
}

/// Doubles height and width of `x` `[batch, channels, height, width]` by repeating each pixel.
pub fn upsample_nearest_2x(x: &Tensor) -> Result<Tensor> {
    let (_, _, height, width) = x.dims4()?;
    let size = (height * 2, width * 2);
    if !by_processor(x) || x.elem_count() == 0 {
        return x.upsample_nearest2d(size.0, size.1);
    }
    as_held(x.dtype(), Doubled(x))
}

struct Doubled<'a>(&'a Tensor);

impl AsHeld for Doubled<'_> {
    fn of<T: Held>(self) -> Result<Tensor> {
        let input = self.0.to_dtype(T::DTYPE)?.contiguous()?;
        let (batch, channels, height, width) = input.dims4()?;
        let held = input.storage_and_layout();
        let rows = values_as::<T>(&held)?;
        let mut out: Vec<T> = zeros(4 * input.elem_count());
        out.par_chunks_mut(4 * width).enumerate().with_min_len(16).for_each(|(row, out)| {
            let (first, second) = out.split_at_mut(2 * width);
            for (pair, value) in first.as_chunks_mut::<2>().0.iter_mut().zip(&rows[row * width..]) {
                *pair = [*value; 2];
            }
            second.copy_from_slice(first);
        });
        Tensor::from_vec(out, (batch, channels, height * 2, width * 2), input.device())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::super::check::{assert_close, assert_independent_of_threads, flat, random};
    use super::*;

    #[test]
    fn resizing_is_that_of_candle() {
        for (shape, size) in [
            ([2, 3, 8, 12], [4, 6]),
            ([1, 2, 32, 64], [2, 4]),
            ([1, 5, 3, 7], [12, 28]),
            ([1, 1, 1, 5], [16, 80]),
            ([1, 2, 9, 5], [7, 11]),
        ] {
            let x = random(&shape, 1);
            let want = x.upsample_bilinear2d(size[0], size[1], false).unwrap();
            assert_close(&resize_between_edges(&x, size).unwrap(), &want, 1e-6);
            assert_independent_of_threads(|| resize_between_edges(&x, size).unwrap());
        }
        // Two of four values are in the middle.
        let x = Tensor::new(&[[[[1f32, 2.0, 4.0, 8.0]]]], &Device::Cpu).unwrap();
        assert_eq!(flat(&resize_between_edges(&x, [1, 1]).unwrap()), [3.0]);
        let view = random(&[1, 6, 4, 4], 2).narrow(1, 2, 3).unwrap();
        let want = view.contiguous().unwrap().upsample_bilinear2d(8, 8, false).unwrap();
        assert_close(&resize_between_edges(&view, [8, 8]).unwrap(), &want, 1e-6);
    }

    #[test]
    fn warping_looks_where_the_flow_leads() {
        let values = [0f32, 1.0, 2.0, 10.0, 11.0, 12.0];
        let x = Tensor::from_slice(&values, (1, 1, 2, 3), &Device::Cpu).unwrap();
        let across = [0f32, 0.5, 9.0, -9.0, 0.25, 0.0];
        let down = [0f32, 0.0, 0.5, 0.0, -0.5, -1.0];
        let flow = Tensor::from_slice(&[across, down].concat(), (1, 2, 2, 3), &Device::Cpu).unwrap();
        let want = [0.0, 1.5, 7.0, 10.0, 6.25, 2.0];
        assert_eq!(flat(&fused_warp(&x, &flow).unwrap()), want);
        assert_eq!(flat(&plain_warp(&x, &flow).unwrap()), want);
    }

    #[test]
    fn warping_is_that_of_the_plain_composition() {
        for shape in [[1, 3, 17, 23], [1, 1, 1, 9], [1, 4, 40, 8]] {
            let x = random(&shape, 1);
            let flow = (random(&[1, 2, shape[2], shape[3]], 2).affine(14.0, -7.0)).unwrap();
            assert_close(&warp(&x, &flow).unwrap(), &plain_warp(&x, &flow).unwrap(), 1e-6);
            assert_independent_of_threads(|| warp(&x, &flow).unwrap());
            let narrow = x.to_dtype(DType::BF16).unwrap();
            assert_close(&warp(&narrow, &flow).unwrap(), &plain_warp(&narrow, &flow).unwrap(), 1e-2);
        }
        // No number is a place like another.
        let nothing = Tensor::full(f32::NAN, (1, 2, 4, 4), &Device::Cpu).unwrap();
        warp(&random(&[1, 2, 4, 4], 1), &nothing).unwrap();
        assert!(warp(&random(&[2, 3, 4, 4], 1), &random(&[2, 2, 4, 4], 2)).is_err());
        assert!(warp(&random(&[1, 3, 4, 4], 1), &random(&[1, 2, 4, 5], 2)).is_err());
    }

    #[test]
    fn upsampling_repeats_each_pixel() {
        let x = random(&[2, 3, 5, 7], 1);
        let want = x.upsample_nearest2d(10, 14).unwrap();
        assert_eq!(flat(&upsample_nearest_2x(&x).unwrap()), flat(&want));
        let x = x.transpose(2, 3).unwrap();
        let want = x.contiguous().unwrap().upsample_nearest2d(14, 10).unwrap();
        assert_eq!(flat(&upsample_nearest_2x(&x).unwrap()), flat(&want));
    }
}
