//! What attention costs.

use super::{Computes, Cost, Costs, Kernels, WIDE};
use crate::{
    Attention,
    computed::{Most, attends_in_bf16, attention_pieces, attention_scratch_bytes},
    cuda::WIDTHS,
    effort::uneven,
};

impl Costs {
    /// Attention of `[batch, tokens, heads, width]` over `kv_heads` key heads.
    pub fn attention(self, [batch, tokens, heads, width]: [usize; 4], keys: usize, kv_heads: usize) -> Cost {
        let queries = batch * tokens * heads * width;
        let spread = batch * keys * heads * width;
        let operations = 4.0 * queries as f64 * keys as f64;
        let tiled = self.value_bytes < WIDE && WIDTHS.contains(&width);
        match self.computes {
            Computes::Processor { threads, effort } => {
                let wide = queries + 2 * batch * keys * kv_heads * width;
                let shape = [batch, tokens, heads, width];
                let by = if self.in_bf16 { attends_in_bf16(width) } else { None };
                let scratch = attention_scratch_bytes(shape, keys, threads, by);
                let scores = batch * tokens * heads * keys;
                let even = effort.attention(queries, keys, scores, by.is_some());
                let operations = even * uneven(attention_pieces(shape, keys, by), 1, threads);
                if by.is_some() {
                    let result = (queries * self.value_bytes) as u64;
                    return Cost { peak: scratch as u64 + result, result, operations };
                }
                self.function(effort, wide, queries, scratch, operations)
            }
            // The result alone.
            Computes::Card(Kernels { attention: Attention::Tiled, .. }, balance) if tiled => {
                let moved = 2 * queries + 2 * batch * keys * kv_heads * width;
                self.product_on_card(balance, [queries, 0], moved, operations)
            }
            // The larger of three peaks: keys and values in f32 and transposed, plus one more copy while the
            // second is transposed; scores before and after a function, next to a chunk of queries and the
            // partial results; the partial results and the whole.
            //
            // If not all heads are computed together: the same for some of them, next to the results of the others.
            Computes::Card(_, balance) => {
                let most = Most::USUAL;
                let every_score = WIDE * batch * tokens * heads * keys;
                let result = queries * self.value_bytes;
                let group = most.kv_heads([batch, keys, width], heads, kv_heads);
                let of_group = |bytes: usize| bytes / kv_heads.max(1) * group;
                let heads = heads / kv_heads.max(1) * group;
                let together = (most.scores / (batch * heads * keys).max(1)).clamp(1, tokens.max(1));
                let (scores, part) = (batch * heads * together * keys, batch * together * heads * width);
                let widened = if self.value_bytes < WIDE { batch * keys * group * width } else { 0 };
                let own = of_group(result);
                let parts = if together < tokens { 2 * own } else { own };
                let during = WIDE * (2 * scores + 3 * part) + own;
                let peak = 2 * WIDE * of_group(spread) + (WIDE * widened).max(during).max(parts);
                let all = if group < kv_heads { (result - own + peak).max(2 * result) } else { peak };
                // Scores are divided, their softmax is taken in some steps, and both products read or write them.
                let operations = operations + balance.moving(8 * every_score);
                Cost { peak: all as u64, result: result as u64, operations }
            }
        }
    }

    /// [`attention`](Self::attention) with a relative position bias.
    pub fn attention_with_bias(self, shape: [usize; 4], keys: usize, kv_heads: usize) -> Cost {
        let mut cost = self.attention(shape, keys, kv_heads);
        if let Computes::Card(Kernels { attention: Attention::Math, .. }, _) = self.computes {
            // The bias of each query and key.
            let [batch, tokens, heads, _] = shape;
            let most = Most::USUAL.scores / batch.max(1);
            let scores = (heads * tokens * keys).min(most.max(heads * keys));
            cost.peak += (scores * WIDE) as u64;
        }
        cost
    }

    /// [`attention`](Self::attention) with a bias for each pair, which has no kernel for GPUs.
    pub fn attention_with_pair_bias(self, shape: [usize; 4], keys: usize, kv_heads: usize) -> Cost {
        let [batch, tokens, heads, _] = shape;
        let bias = heads * tokens * keys;
        match self.computes {
            Computes::Processor { effort, .. } => {
                let mut cost = self.attention(shape, keys, kv_heads);
                // It is turned around, then widened.
                let turned = if self.value_bytes < WIDE { bias * (self.value_bytes + WIDE) } else { 0 };
                cost.peak = (cost.peak + (bias * WIDE) as u64).max(turned as u64);
                cost.operations += effort.moving(2 * bias) + effort.moving(batch * bias);
                cost
            }
            Computes::Card(_, balance) => {
                let plain = Self { computes: Computes::Card(Kernels::NONE, balance), ..self };
                let mut cost = plain.attention(shape, keys, kv_heads);
                // The part for a chunk of queries.
                let most = Most::USUAL.scores / batch.max(1);
                cost.peak += (bias.min(most.max(heads * keys)) * WIDE) as u64;
                cost
            }
        }
    }

    /// [`attention`](Self::attention) with so many biases for the rows and columns of a grid, which has no kernel for GPUs.
    pub fn attention_with_grid_bias(
        self,
        shape: [usize; 4],
        keys: usize,
        kv_heads: usize,
        biases: usize,
    ) -> Cost {
        match self.computes {
            Computes::Processor { effort, .. } => {
                let mut cost = self.attention(shape, keys, kv_heads);
                // They are turned around.
                cost.peak += (biases * WIDE) as u64;
                cost.operations += effort.copying(biases);
                cost
            }
            Computes::Card(_, balance) => {
                let plain = Self { computes: Computes::Card(Kernels::NONE, balance), ..self };
                let mut cost = plain.attention(shape, keys, kv_heads);
                // Scores are read and written for one, then for the other.
                let [batch, tokens, heads, _] = shape;
                cost.operations += balance.moving(4 * WIDE * batch * tokens * heads * keys);
                cost
            }
        }
    }

    /// [`attention`](Self::attention) with sinks, which has no kernel for GPUs.
    pub fn attention_with_sinks(self, shape: [usize; 4], keys: usize, kv_heads: usize) -> Cost {
        let Computes::Card(_, balance) = self.computes else {
            return self.attention(shape, keys, kv_heads);
        };
        let plain = Self { computes: Computes::Card(Kernels::NONE, balance), ..self };
        let mut cost = plain.attention(shape, keys, kv_heads);
        // The mask, the scores of the sinks, and the values with those of the sinks, which have none.
        let [batch, tokens, heads, width] = shape;
        let values = batch * heads * (keys + 1) * width;
        cost.peak += ((tokens * keys + 2 * batch * heads * tokens + values) * WIDE) as u64;
        cost
    }
}
