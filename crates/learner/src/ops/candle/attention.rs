//! Attention within a group by candle's operations, some rows of queries at a time.
//!
//! A tile is so many consecutive rows of a group, and the columns that any of them attends to: the prompt and their own responses, not those of
//! others. Where a group has several tiles, their scores are not kept for backward, which computes each tile again (Rabe and Staats 2021, arXiv
//! 2112.05682): the scores of one tile exist at a time, however long the responses are.

use std::ops::Range;
use std::sync::Arc;

use candle_core::{D, DType, Device, Error, Result, Tensor, Var};
use veriplay_kernels::attention::{AttentionGroup, HeadSizes, VisibleRows};

use super::{WithBackward, softmax, widened};

/// Rows of a tile. Large enough for products by cuBLAS; a group of a prompt and short answers is one tile.
pub(crate) const TILE_ROWS: usize = 512;
/// Scores of a head in a tile at most, give or take those of one response: `TILE_ROWS` rows on 8,192 columns.
const TILE_SCORES: usize = TILE_ROWS << 13;

/// Rows of a tile at most, where a sequence of its group has so many tokens: the longer they are, the fewer, so that the scores of a tile have
/// the same room in memory.
pub(crate) fn rows_of_tile(tokens: usize) -> usize {
    TILE_ROWS.min(TILE_SCORES / tokens.max(1)).max(1)
}

/// Some rows of a group, and what they attend to. Rows and columns count from the group's first.
#[derive(Debug)]
pub(super) struct Tile {
    rows: Range<usize>,
    /// Rows of the prompt, from the first on,
    shared: usize,
    /// and of responses.
    own: Range<usize>,
    /// u8 [rows, columns]: whether a row attends to a column.
    visible: Tensor,
    /// What is added to a score that is visible, and to one that is not: 0 and −∞.
    added: [Tensor; 2],
}

impl Tile {
    /// The tiles of a group whose rows see so many positions, of `tile_rows` rows each, or of fewer as [`rows_of_tile`] says.
    pub(super) fn split(
        group: &AttentionGroup,
        window: usize,
        tile_rows: usize,
        device: &Device,
    ) -> Result<Arc<[Self]>> {
        let visible: Vec<VisibleRows> = group.visible_rows().map(|row| row.within(window)).collect();
        let longest = visible.iter().map(|row| row.position + 1).max().unwrap_or(1);
        let tile_rows = tile_rows.min(rows_of_tile(longest));
        let tile = |(at, rows)| Self::new(at * tile_rows, rows, device);
        visible.chunks(tile_rows).enumerate().map(tile).collect()
    }

    fn new(first: usize, rows: &[VisibleRows], device: &Device) -> Result<Self> {
        let shared = rows.iter().map(|row| row.shared.end).max().unwrap_or(0);
        let responses = || rows.iter().map(|row| &row.own).filter(|own| !own.is_empty());
        let start = responses().map(|own| own.start).min().unwrap_or(shared);
        let own = start..responses().map(|own| own.end).max().unwrap_or(start);
        let visible = visible(rows, (0..shared).chain(own.clone()), device)?;
        let added = [Tensor::new(0.0_f32, device)?, Tensor::new(f32::NEG_INFINITY, device)?];
        Ok(Self { rows: first..first + rows.len(), shared, own, visible, added })
    }

    /// What is added to its scores: f32 [rows, columns].
    fn mask(&self) -> Result<Tensor> {
        let [seen, hidden] = self.added.each_ref().map(|value| value.broadcast_as(self.visible.shape()));
        self.visible.where_cond(&seen?, &hidden?)
    }

    /// Its rows of x [heads, rows of the group, dim].
    fn rows_of(&self, x: &Tensor) -> Result<Tensor> {
        x.narrow(1, self.rows.start, self.rows.len())?.contiguous()
    }

    /// Its columns of keys or values [kv_heads, rows of the group, dim].
    fn columns_of(&self, x: &Tensor) -> Result<Tensor> {
        let shared = x.narrow(1, 0, self.shared)?;
        if self.own.is_empty() {
            return shared.contiguous();
        }
        Tensor::cat(&[shared, x.narrow(1, self.own.start, self.own.len())?], 1)
    }

    /// A gradient of its columns [kv_heads, columns, dim] as one of all rows of the group.
    fn spread(&self, columns: &Tensor, rows: usize) -> Result<Tensor> {
        let part = |from: usize, to: &Range<usize>| {
            columns.narrow(1, from, to.len())?.pad_with_zeros(1, to.start, rows - to.end)
        };
        let shared = part(0, &(0..self.shared))?;
        if self.own.is_empty() { Ok(shared) } else { shared + part(self.shared, &self.own)? }
    }

    /// q [heads, its rows, dim] on k and v [kv_heads, its columns, dim]: [heads, its rows, dim]. Query heads that share a key head stack up
    /// as more rows of it, so that keys and values are not repeated.
    fn attend(&self, sizes: &HeadSizes, q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
        let HeadSizes { heads, kv_heads, dim, .. } = *sizes;
        let (rows, columns) = (self.rows.len(), k.dim(1)?);
        let stacked = heads / kv_heads * rows;
        let scores = q.reshape((kv_heads, stacked, dim))?.matmul(&k.t()?)?;
        let scores = (widened(&scores)? * f64::from(sizes.scale))?;
        let scores = scores.reshape((kv_heads, heads / kv_heads, rows, columns))?;
        let weights = softmax(&scores.broadcast_add(&self.mask()?)?)?.to_dtype(v.dtype())?;
        weights.reshape((kv_heads, stacked, columns))?.matmul(v)?.reshape((heads, rows, dim))
    }
}

/// Whether a row attends to a column, u8 [rows, columns]: compared on the device, to which the host sends five short lists.
fn visible(rows: &[VisibleRows], columns: impl Iterator<Item = usize>, device: &Device) -> Result<Tensor> {
    let columns: Vec<u32> = columns.map(|column| column as u32).collect();
    let columns = Tensor::new(columns, device)?.unsqueeze(0)?;
    let of_rows = |bound: fn(&VisibleRows) -> usize| {
        let bounds: Vec<u32> = rows.iter().map(|row| bound(row) as u32).collect();
        Tensor::new(bounds, device)?.unsqueeze(1)
    };
    let in_window = columns.broadcast_ge(&of_rows(|row| row.shared.start)?)?;
    let in_prompt = (in_window * columns.broadcast_lt(&of_rows(|row| row.shared.end)?)?)?;
    let behind_start = columns.broadcast_ge(&of_rows(|row| row.own.start)?)?;
    let before_end = columns.broadcast_lt(&of_rows(|row| row.own.end)?)?;
    in_prompt + (behind_start * before_end)?
}

/// Attention of a group, q [heads, rows, dim] on k and v [kv_heads, rows, dim]: [heads, rows, dim].
pub(super) fn attend(sizes: &HeadSizes, tiles: &Arc<[Tile]>, [q, k, v]: &[Tensor; 3]) -> Result<Tensor> {
    if let [only] = &**tiles {
        return only.attend(sizes, q, k, v);
    }
    let result = attend_in_tiles(sizes, tiles, &[q, k, v].map(Tensor::detach))?;
    if ![q, k, v].iter().any(|x| x.track_op()) {
        return Ok(result);
    }
    let (sizes, tiles) = (*sizes, Arc::clone(tiles));
    let backward = move |q: &Tensor, k: &Tensor, v: &Tensor, dy: &Tensor| backward(&sizes, &tiles, [q, k, v], dy);
    q.apply_op3(k, v, WithBackward::new("attention", result, backward))
}

fn attend_in_tiles(sizes: &HeadSizes, tiles: &[Tile], [q, k, v]: &[Tensor; 3]) -> Result<Tensor> {
    let tile = |tile: &Tile| tile.attend(sizes, &tile.rows_of(q)?, &tile.columns_of(k)?, &tile.columns_of(v)?);
    Tensor::cat(&tiles.iter().map(tile).collect::<Result<Vec<_>>>()?, 1)
}

/// Gradients of queries, keys and values: each tile is computed again and differentiated. Sums over tiles are f32.
fn backward(sizes: &HeadSizes, tiles: &[Tile], [q, k, v]: [&Tensor; 3], dy: &Tensor) -> Result<[Tensor; 3]> {
    let rows = q.dim(1)?;
    let mut dq = Vec::with_capacity(tiles.len());
    let mut sums = [k, v].map(|x| Tensor::zeros(x.shape(), DType::F32, x.device()));
    for tile in tiles {
        let arguments = [tile.rows_of(q)?, tile.columns_of(k)?, tile.columns_of(v)?];
        let [q, k, v] = arguments.each_ref().map(|x| Var::from_tensor(&x.detach()));
        let (q, k, v) = (q?, k?, v?);
        let y = tile.attend(sizes, &q, &k, &v)?;
        let mut store = (y * tile.rows_of(dy)?)?.sum(D::Minus1)?.sum_all()?.backward()?;
        let mut take = |x: &Var| {
            let gradient = store.remove(x).ok_or_else(|| Error::Msg("a tile is cut off its arguments".to_owned()));
            gradient.map(|gradient| gradient.detach())
        };
        dq.push(take(&q)?);
        for (sum, x) in sums.iter_mut().zip([&k, &v]) {
            let columns = take(x)?.to_dtype(DType::F32)?;
            *sum = std::mem::replace(sum, Ok(columns.clone())).and_then(|sum| sum + tile.spread(&columns, rows)?);
        }
    }
    let [dk, dv] = sums.map(|sum| sum?.to_dtype(k.dtype()));
    Ok([Tensor::cat(&dq, 1)?, dk?, dv?])
}
