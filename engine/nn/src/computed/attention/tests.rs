//! Attention is compared with its definition.

use super::super::check::{assert_close, assert_independent_of_threads, flat, random};
use super::*;

const WHOLE: Most = Most { scores: usize::MAX, keys: usize::MAX };

fn inputs(q: [usize; 4], keys: usize, kv_heads: usize) -> [Tensor; 3] {
    let k = [q[0], keys, kv_heads, q[3]];
    [(random(&q, 1) * 3.0).unwrap(), (random(&k, 2) * 3.0).unwrap(), random(&k, 3)]
}

/// The definition in f64; in f32 the definition would be no more accurate than the code under test.
fn exact(q: &Tensor, k: &Tensor, v: &Tensor, mask: Mask) -> Result<Tensor> {
    let wide = [q, k, v].map(|x| x.to_dtype(DType::F64).unwrap());
    let divisor = (q.dim(3)? as f64).sqrt();
    let added = if mask == Mask::Causal { Added::Causal } else { Added::Nothing };
    plain(wide.each_ref(), divisor, added, WHOLE)?.to_dtype(q.dtype())
}

#[test]
fn the_plain_path_is_as_near_in_parts_as_it_is_whole() {
    for (q, keys, kv_heads) in [([1, 1, 1, 4], 1, 1), ([2, 96, 4, 24], 90, 2), ([1, 96, 2, 64], 77, 2)] {
        let [q, k, v] = inputs(q, keys, kv_heads);
        let (tokens, heads) = (q.dim(1).unwrap(), q.dim(2).unwrap());
        let bias = random(&[heads, tokens + keys - 1], 4);
        for added in [Added::Nothing, Added::Causal, Added::Bias(&bias)] {
            let wide = [&q, &k, &v].map(|x| x.to_dtype(DType::F64).unwrap());
            let exact = flat(&plain(wide.each_ref(), 3.0, added, WHOLE).unwrap());
            let error = |most| {
                let given = flat(&plain([&q, &k, &v], 3.0, added, most).unwrap());
                given.iter().zip(&exact).map(|(given, exact)| (given - exact).abs()).fold(0.0, f32::max)
            };
            let row = q.dim(0).unwrap() * heads * keys;
            // The tensor library sums products of a few rows in another order than products of many.
            let allowed = 2.0 * error(WHOLE) + 1e-7;
            for queries in [0, 1, 16, 33, 48] {
                for heads in [1, 2, 4] {
                    let of_head = q.dim(0).unwrap() * keys * q.dim(3).unwrap();
                    let most = Most { scores: queries * row + 1, keys: heads * of_head };
                    let error = error(most);
                    assert!(error <= allowed, "{error} with {most:?}, {allowed} as a whole");
                }
            }
        }
    }
    let [q, k, v] = inputs([1, 0, 2, 8], 5, 2);
    assert_eq!(plain([&q, &k, &v], 1.0, Added::Nothing, Most::USUAL).unwrap().dims(), [1, 0, 2, 8]);
}

#[test]
fn attention_is_the_plain_composition() {
    for (q, keys, kv_heads) in [
        ([1, 1, 1, 1], 1, 1),
        ([2, 7, 3, 5], 9, 3),
        ([1, 50, 4, 16], 50, 2),
        ([2, 77, 6, 64], 300, 1),
        ([1, 200, 2, 40], 257, 2),
        ([1, 193, 1, 128], 600, 1),
        ([1, 130, 1, 512], 140, 1),
    ] {
        let [q, k, v] = inputs(q, keys, kv_heads);
        for mask in [Mask::None, Mask::Causal] {
            let want = exact(&q, &k, &v, mask).unwrap();
            assert_close(&attention(&q, &k, &v, mask).unwrap(), &want, 3e-6);
        }
    }
}

#[test]
fn a_bias_of_pairs_is_added_to_their_scores() {
    for (q, keys) in [([1, 1, 1, 4], 1), ([2, 7, 3, 5], 9), ([1, 200, 2, 40], 257), ([3, 100, 4, 16], 100)] {
        let [q, k, v] = inputs(q, keys, q[2]);
        let (tokens, heads, width) = (q.dim(1).unwrap(), q.dim(2).unwrap(), q.dim(3).unwrap());
        let bias = (random(&[heads, tokens, keys], 4) * 5.0).unwrap();
        let wide = [&q, &k, &v].map(|x| x.to_dtype(DType::F64).unwrap());
        let divisor = (width as f64).sqrt();
        let want = plain(wide.each_ref(), divisor, Added::PairBias(&bias), WHOLE).unwrap();
        let want = want.to_dtype(DType::F32).unwrap();
        assert_close(&attention_with_pair_bias(&q, &k, &v, &bias).unwrap(), &want, 1e-5);
        for rows in [1, 3, 64] {
            let most = Most { scores: rows * q.dim(0).unwrap() * heads * keys, keys: keys * width };
            let parts = plain([&q, &k, &v], divisor, Added::PairBias(&bias), most).unwrap();
            assert_close(&parts, &want, 1e-5);
        }
        let other = bias.narrow(2, 0, keys - 1).unwrap();
        assert!(attention_with_pair_bias(&q, &k, &v, &other).is_err());
    }
}

#[test]
fn biases_of_rows_and_columns_are_added_to_their_scores() {
    for (q, [rows, columns]) in [
        ([1, 1, 1, 4], [1, 1]),
        ([2, 7, 3, 5], [3, 2]),
        ([1, 200, 2, 40], [9, 30]),
        ([3, 196, 4, 16], [14, 14]),
        ([1, 300, 1, 24], [2, 170]),
    ] {
        let [batch, tokens, heads, width] = q;
        let [q, k, v] = inputs(q, rows * columns, heads);
        // As they are cut from what has more of them.
        let bias = |side: usize, seed: u64| {
            let more = (random(&[batch, tokens, heads, side + 3], seed) * 5.0).unwrap();
            more.narrow(3, 2, side).unwrap()
        };
        let biases = [bias(rows, 4), bias(columns, 5)];
        let wide = [&q, &k, &v].map(|x| x.to_dtype(DType::F64).unwrap());
        let divisor = (width as f64).sqrt();
        let want = plain(wide.each_ref(), divisor, Added::Grid(biases.each_ref()), WHOLE).unwrap();
        if batch == 1 {
            let places = (heads, tokens, rows, columns);
            let spread = |bias: &Tensor, dim: usize| {
                let bias = bias.squeeze(0).unwrap().transpose(0, 1).unwrap().unsqueeze(dim).unwrap();
                bias.broadcast_as(places).unwrap()
            };
            let pairs = (spread(&biases[0], 3) + spread(&biases[1], 2)).unwrap();
            let pairs = pairs.reshape((heads, tokens, rows * columns)).unwrap();
            let pairs = plain(wide.each_ref(), divisor, Added::PairBias(&pairs), WHOLE).unwrap();
            assert_close(&want.to_dtype(DType::F32).unwrap(), &pairs.to_dtype(DType::F32).unwrap(), 5e-6);
        }
        let want = want.to_dtype(DType::F32).unwrap();
        assert_close(&attention_with_grid_bias(&q, &k, &v, &biases[0], &biases[1]).unwrap(), &want, 1e-5);
        for [queries, together] in [[1, 1], [3, 2], [64, 1]] {
            let keys = rows * columns;
            let most = Most { scores: queries * batch * heads * keys, keys: together * batch * keys * width };
            let parts = plain([&q, &k, &v], divisor, Added::Grid(biases.each_ref()), most).unwrap();
            assert_close(&parts, &want, 1e-5);
        }
        let other = bias(rows + 1, 6);
        assert!(attention_with_grid_bias(&q, &k, &v, &other, &biases[1]).is_err());
    }
    let [q, k, v] = inputs([1, 4, 2, 8], 6, 2);
    let bias = |tokens: usize, side: usize| random(&[1, tokens, 2, side], 4);
    assert!(attention_with_grid_bias(&q, &k, &v, &bias(3, 2), &bias(4, 3)).is_err());
}

#[test]
fn a_bias_is_added_by_distance() {
    for (q, keys) in [([1, 1, 1, 4], 1), ([2, 7, 3, 5], 9), ([1, 200, 2, 40], 257), ([1, 100, 4, 16], 100)] {
        let [q, k, v] = inputs(q, keys, q[2]);
        let (tokens, heads) = (q.dim(1).unwrap(), q.dim(2).unwrap());
        let bias = (random(&[heads, tokens + keys - 1], 4) * 5.0).unwrap();
        let wide = [&q, &k, &v].map(|x| x.to_dtype(DType::F64).unwrap());
        let want = plain(wide.each_ref(), 1.0, Added::Bias(&bias), WHOLE).unwrap();
        let got = attention_with_bias(&q, &k, &v, &bias).unwrap();
        assert_close(&got, &want.to_dtype(DType::F32).unwrap(), 1e-5);
        assert!(attention_with_bias(&q, &k, &v, &bias.narrow(1, 0, tokens + keys - 2).unwrap()).is_err());
    }
}

#[test]
fn sinks_take_their_share_and_windows_hide_the_keys_before_them() {
    for (q, kv_heads, window) in [
        ([1, 1, 1, 4], 1, None),
        ([2, 7, 3, 5], 3, Some(3)),
        ([1, 300, 4, 16], 2, None),
        ([1, 300, 4, 16], 2, Some(128)),
        ([1, 700, 2, 40], 1, Some(1)),
        ([1, 260, 2, 64], 1, Some(600)),
    ] {
        let (tokens, heads, width) = (q[1], q[2], q[3]);
        let [q, k, v] = inputs(q, tokens, kv_heads);
        let sinks = (random(&[heads], 4) * 3.0).unwrap();
        let got = attention_with_sinks(&q, &k, &v, &sinks, window).unwrap();
        let wide = [&q, &k, &v, &sinks].map(|x| x.to_dtype(DType::F64).unwrap());
        let added = Added::Sinks { sinks: &wide[3], window };
        let want = plain([&wide[0], &wide[1], &wide[2]], (width as f64).sqrt(), added, WHOLE).unwrap();
        assert_close(&got, &want.to_dtype(DType::F32).unwrap(), 3e-6);
        // By the definition, key by key.
        let rows = |x: &Tensor, head: usize| {
            x.get(0).unwrap().narrow(1, head, 1).unwrap().squeeze(1).unwrap().to_vec2::<f64>().unwrap()
        };
        let (head, query) = (heads - 1, tokens - 1);
        let (own, keys, values) =
            (&rows(&wide[0], head)[query], rows(&wide[1], kv_heads - 1), rows(&wide[2], kv_heads - 1));
        let score =
            |key: &[f64]| own.iter().zip(key).map(|(q, k)| q * k).sum::<f64>() / (width as f64).sqrt();
        let first = window.map_or(0, |window| tokens.saturating_sub(window));
        let weights: Vec<f64> = keys[first..].iter().map(|key| score(key).exp()).collect();
        let all = weights.iter().sum::<f64>() + wide[3].to_vec1::<f64>().unwrap()[head].exp();
        let summed: f64 = weights.iter().zip(&values[first..]).map(|(weight, value)| weight * value[0]).sum();
        assert!((rows(&want, head)[query][0] - summed / all).abs() < 1e-9, "{window:?}");
    }
    let [q, k, v] = inputs([1, 4, 2, 8], 4, 2);
    assert!(attention_with_sinks(&q, &k, &v, &random(&[3], 1), None).is_err());
    assert!(attention_with_sinks(&q, &k, &v, &random(&[2], 1), Some(0)).is_err());
}

#[test]
fn attention_takes_views_and_half_width_floats() {
    let all = random(&[2, 3, 60, 3 * 16], 1).transpose(1, 2).unwrap();
    let [q, k, v] = [0, 16, 32].map(|first| all.narrow(3, first, 16).unwrap());
    let want = exact(&q, &k, &v, Mask::None).unwrap();
    assert_close(&attention(&q, &k, &v, Mask::None).unwrap(), &want, 2e-6);
    let v = v.transpose(1, 3).unwrap().contiguous().unwrap().transpose(1, 3).unwrap();
    assert_close(&attention(&q, &k, &v, Mask::None).unwrap(), &want, 2e-6);
    let [q, k, v] = [q, k, v].map(|x| x.to_dtype(DType::BF16).unwrap());
    let got = attention(&q, &k, &v, Mask::None).unwrap();
    assert_close(&got, &want.to_dtype(DType::BF16).unwrap(), 2e-2);
}

#[test]
fn sharp_scores_do_not_overflow() {
    let [q, k, v] = inputs([1, 60, 1, 32], 700, 1);
    let q = (q * 1e3).unwrap();
    let want = exact(&q, &k, &v, Mask::None).unwrap();
    // Scores in the thousands have no more precision than this.
    assert_close(&attention(&q, &k, &v, Mask::None).unwrap(), &want, 1e-2);
}

#[test]
fn attention_refuses_shapes_that_do_not_fit() {
    let [q, k, v] = inputs([1, 4, 3, 8], 5, 2);
    assert!(attention(&q, &k, &v, Mask::None).is_err());
    assert!(attention(&q, &k, &v.narrow(1, 0, 4).unwrap(), Mask::None).is_err());
    assert!(attention(&q, &k.narrow(1, 0, 0).unwrap(), &v.narrow(1, 0, 0).unwrap(), Mask::None).is_err());
}

#[test]
fn attention_is_the_same_on_any_number_of_threads() {
    let [q, k, v] = inputs([2, 250, 4, 24], 300, 2);
    assert_independent_of_threads(|| attention(&q, &k, &v, Mask::Causal).unwrap());
}
