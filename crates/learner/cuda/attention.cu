// Attention within groups of a prompt and its responses, forward and backward, on matrix units.
//
// Rows of all groups of a micro-batch lie one behind the other, and each sees two ranges of rows: of its prompt, and of its own response. Scores
// exist a tile of 64 x 64 at a time, in registers: forward keeps the logarithm of each row's sum of exponentials, from which backward computes
// the probabilities again (Dao et al. 2022, arXiv 2205.14135, algorithms 1 and 4). No sum depends on the order in which blocks run: the gradients
// of queries are summed in a kernel of their own, and those of keys and values a query head at a time first.
//
// bfloat16, heads of 64 or 128 numbers; products and softmax are summed in f32. `emulated/attention.cpp` runs it on a
// processor.

#ifdef EMULATED
#include "emulated/warp.h"
#else
#include "warp.cuh"
#endif

#define TILE 64
#define LOG2_E 1.4426950408889634f

// What a row sees: rows [shared_start, shared_end) and [own_start, own_end).
struct Seen {
  uint32_t shared_start, shared_end, own_start, own_end;
};

// Up to TILE consecutive rows of one group, and what any of them sees.
struct QueryTile {
  uint32_t start, end;
  Seen seen;
};

// Up to TILE consecutive rows of one group as keys and values, and the rows that see any of them.
struct KeyTile {
  uint32_t start, end, queries_start, queries_end;
};

struct Sizes {
  uint32_t rows, heads, kv_heads;
  float scale;
};

static __device__ __forceinline__ bool sees(const Seen &seen, uint32_t column) {
  return (column >= seen.shared_start && column < seen.shared_end) || (column >= seen.own_start && column < seen.own_end);
}

// Rows [start, start + N) of one head, zeros from `end` on. `from` is the head in row 0.
template <int D, int N>
static __device__ __forceinline__ void load(const bf16 *tile, const bf16 *from, uint32_t width, uint32_t start, uint32_t end) {
  constexpr int CHUNKS = D / 8;
#pragma unroll
  for (int i = threadIdx.x; i < N * CHUNKS; i += THREADS) {
    int row = i / CHUNKS, chunk = i % CHUNKS;
    bool is_there = start + row < end;
    copy_later(address<D>(tile, row, chunk), from + (size_t)(is_there ? start + row : start) * width + chunk * 8, is_there ? 16 : 0);
  }
  end_of_copies();
}

// Sixteen rows of a tile from `row` on, as the left factor, of its 16 columns from 16 * step on.
template <int D> static __device__ __forceinline__ void left(uint32_t (&to)[4], const bf16 *tile, int row, int step) {
  int lane = threadIdx.x % 32;
  load_matrices(to, address<D>(tile, row + (lane & 15), 2 * step + (lane >> 4)));
}

// sums [16, N] += left [16, D] * tile [N, D] transposed.
template <int D, int N>
static __device__ __forceinline__ void add_rows_by_rows(float (&sums)[N / 8][4], const uint32_t (&factor)[4], const bf16 *tile, int step) {
  int lane = threadIdx.x % 32;
#pragma unroll
  for (int block = 0; block < N / 16; block++) {
    uint32_t b[4];
    load_matrices(b, address<D>(tile, 16 * block + (lane & 7) + ((lane >> 4) << 3), 2 * step + ((lane >> 3) & 1)));
    multiply(sums[2 * block], factor, b[0], b[1]);
    multiply(sums[2 * block + 1], factor, b[2], b[3]);
  }
}

// sums [16, D] += left [16, 16] * rows [16 * step, 16 * step + 16) of tile [.., D].
template <int D>
static __device__ __forceinline__ void add_weighted_rows(float (&sums)[D / 8][4], const uint32_t (&factor)[4], const bf16 *tile, int step) {
  int lane = threadIdx.x % 32;
#pragma unroll
  for (int block = 0; block < D / 16; block++) {
    uint32_t b[4];
    load_transposed(b, address<D>(tile, 16 * step + (lane & 15), 2 * block + (lane >> 4)));
    multiply(sums[2 * block], factor, b[0], b[1]);
    multiply(sums[2 * block + 1], factor, b[2], b[3]);
  }
}

// Two neighbouring 16 x 8 blocks of sums as a left factor of 16 columns.
static __device__ __forceinline__ void as_left(uint32_t (&to)[4], const float (&a)[4], const float (&b)[4]) {
  to[0] = pack(a[0], a[1]);
  to[1] = pack(a[2], a[3]);
  to[2] = pack(b[0], b[1]);
  to[3] = pack(b[2], b[3]);
}

template <int N> static __device__ __forceinline__ void clear(float (&sums)[N][4]) {
#pragma unroll
  for (int i = 0; i < N; i++) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = 0.0f;
}

static __device__ __forceinline__ float max_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

static __device__ __forceinline__ float sum_of_row(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

// qkv [rows, (heads + 2 kv_heads) D], queries and keys rotated -> out [rows, heads D], and log2 of each row's sum of 2^score [heads, rows].
template <int D>
static __device__ void forward(const bf16 *qkv, bf16 *out, float *log_sums, const Seen *seen_of, const QueryTile *tiles, Sizes sizes) {
  SHARED_ROOM(room);
  bf16 *keys = room, *values = room + TILE * D;
  const QueryTile tile = tiles[blockIdx.x];
  const uint32_t head = blockIdx.y, kv_head = head / (sizes.heads / sizes.kv_heads), width = (sizes.heads + 2 * sizes.kv_heads) * D;
  const bf16 *key = qkv + (size_t)(sizes.heads + kv_head) * D, *value = key + (size_t)sizes.kv_heads * D;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float to_log2 = sizes.scale * LOG2_E;

  load<D, TILE>(keys, qkv + head * D, width, tile.start, tile.end);
  wait_for_copies<0>();
  uint32_t query[D / 16][4];
#pragma unroll
  for (int step = 0; step < D / 16; step++) left<D>(query[step], keys, 16 * warp, step);
  __syncthreads();

  Seen seen[2];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    uint32_t row = tile.start + 16 * warp + lane / 4 + 8 * half;
    seen[half] = row < tile.end ? seen_of[row] : Seen{0, 0, 0, 0};
  }
  float mixed[D / 8][4], most[2] = {-INFINITY, -INFINITY}, sum[2] = {0.0f, 0.0f};
  clear(mixed);
  for (int range = 0; range < 2; range++) {
    const uint32_t end = range ? tile.seen.own_end : tile.seen.shared_end;
    for (uint32_t start = range ? tile.seen.own_start : tile.seen.shared_start; start < end; start += TILE) {
      load<D, TILE>(keys, key, width, start, end);
      load<D, TILE>(values, value, width, start, end);
      wait_for_copies<1>();
      float scores[TILE / 8][4];
      clear(scores);
#pragma unroll
      for (int step = 0; step < D / 16; step++) add_rows_by_rows<D, TILE>(scores, query[step], keys, step);
      float highest[2] = {most[0], most[1]};
#pragma unroll
      for (int block = 0; block < TILE / 8; block++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          uint32_t column = start + 8 * block + 2 * (lane % 4) + i % 2;
          bool is_seen = column < end && sees(seen[i / 2], column);
          scores[block][i] = is_seen ? scores[block][i] * to_log2 : -INFINITY;
          highest[i / 2] = fmaxf(highest[i / 2], scores[block][i]);
        }
      }
      float shift[2];
#pragma unroll
      for (int half = 0; half < 2; half++) {
        highest[half] = max_of_row(highest[half]);
        // A row that has seen nothing yet.
        shift[half] = highest[half] == -INFINITY ? 0.0f : highest[half];
        float kept = exp2f(most[half] - shift[half]);
        most[half] = highest[half];
        sum[half] *= kept;
#pragma unroll
        for (int block = 0; block < D / 8; block++) {
          mixed[block][2 * half] *= kept;
          mixed[block][2 * half + 1] *= kept;
        }
      }
#pragma unroll
      for (int block = 0; block < TILE / 8; block++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          scores[block][i] = exp2f(scores[block][i] - shift[i / 2]);
          sum[i / 2] += scores[block][i];
        }
      }
      wait_for_copies<0>();
#pragma unroll
      for (int step = 0; step < TILE / 16; step++) {
        uint32_t weights[4];
        as_left(weights, scores[2 * step], scores[2 * step + 1]);
        add_weighted_rows<D>(mixed, weights, values, step);
      }
      __syncthreads();
    }
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    uint32_t row = tile.start + 16 * warp + lane / 4 + 8 * half;
    float all = sum_of_row(sum[half]);
    if (row >= tile.end) continue;
    float share = 1.0f / all;
    if (lane % 4 == 0) log_sums[(size_t)head * sizes.rows + row] = most[half] + log2f(all);
    bf16 *to = out + ((size_t)row * sizes.heads + head) * D + 2 * (lane % 4);
#pragma unroll
    for (int block = 0; block < D / 8; block++)
      *reinterpret_cast<uint32_t *>(to + 8 * block) = pack(mixed[block][2 * half] * share, mixed[block][2 * half + 1] * share);
  }
}

// Of each row and head the sum of result * gradient, [heads, rows]: a warp each.
template <int D> static __device__ void dots(const bf16 *out, const bf16 *dout, float *dots, Sizes sizes) {
  uint32_t at = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (at >= sizes.rows * sizes.heads) return;
  float sum = 0.0f;
  for (int i = lane; i < D; i += 32) sum += __bfloat162float(out[(size_t)at * D + i]) * __bfloat162float(dout[(size_t)at * D + i]);
#pragma unroll
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
  if (lane == 0) dots[(size_t)(at % sizes.heads) * sizes.rows + at / sizes.heads] = sum;
}

// Gradients of queries, into their place in dqkv.
template <int D>
static __device__ void backward_queries(const bf16 *qkv, const bf16 *dout, const float *log_sums, const float *dots, bf16 *dqkv,
                                        const Seen *seen_of, const QueryTile *tiles, Sizes sizes) {
  SHARED_ROOM(room);
  bf16 *keys = room, *values = room + TILE * D;
  const QueryTile tile = tiles[blockIdx.x];
  const uint32_t head = blockIdx.y, kv_head = head / (sizes.heads / sizes.kv_heads), width = (sizes.heads + 2 * sizes.kv_heads) * D;
  const bf16 *key = qkv + (size_t)(sizes.heads + kv_head) * D, *value = key + (size_t)sizes.kv_heads * D;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float to_log2 = sizes.scale * LOG2_E;

  load<D, TILE>(keys, qkv + head * D, width, tile.start, tile.end);
  load<D, TILE>(values, dout + head * D, sizes.heads * D, tile.start, tile.end);
  wait_for_copies<0>();
  uint32_t query[D / 16][4], gradient[D / 16][4];
#pragma unroll
  for (int step = 0; step < D / 16; step++) {
    left<D>(query[step], keys, 16 * warp, step);
    left<D>(gradient[step], values, 16 * warp, step);
  }
  __syncthreads();

  Seen seen[2];
  float log_sum[2], dot[2];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    uint32_t row = tile.start + 16 * warp + lane / 4 + 8 * half;
    bool is_there = row < tile.end;
    seen[half] = is_there ? seen_of[row] : Seen{0, 0, 0, 0};
    log_sum[half] = is_there ? log_sums[(size_t)head * sizes.rows + row] : 0.0f;
    dot[half] = is_there ? dots[(size_t)head * sizes.rows + row] : 0.0f;
  }
  float dquery[D / 8][4];
  clear(dquery);
  for (int range = 0; range < 2; range++) {
    const uint32_t end = range ? tile.seen.own_end : tile.seen.shared_end;
    for (uint32_t start = range ? tile.seen.own_start : tile.seen.shared_start; start < end; start += TILE) {
      load<D, TILE>(keys, key, width, start, end);
      load<D, TILE>(values, value, width, start, end);
      wait_for_copies<0>();
      float scores[TILE / 8][4], dweights[TILE / 8][4];
      clear(scores);
      clear(dweights);
#pragma unroll
      for (int step = 0; step < D / 16; step++) {
        add_rows_by_rows<D, TILE>(scores, query[step], keys, step);
        add_rows_by_rows<D, TILE>(dweights, gradient[step], values, step);
      }
#pragma unroll
      for (int block = 0; block < TILE / 8; block++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          uint32_t column = start + 8 * block + 2 * (lane % 4) + i % 2;
          bool is_seen = column < end && sees(seen[i / 2], column);
          float weight = is_seen ? exp2f(scores[block][i] * to_log2 - log_sum[i / 2]) : 0.0f;
          scores[block][i] = weight * (dweights[block][i] - dot[i / 2]);
        }
      }
#pragma unroll
      for (int step = 0; step < TILE / 16; step++) {
        uint32_t dscores[4];
        as_left(dscores, scores[2 * step], scores[2 * step + 1]);
        add_weighted_rows<D>(dquery, dscores, keys, step);
      }
      __syncthreads();
    }
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    uint32_t row = tile.start + 16 * warp + lane / 4 + 8 * half;
    if (row >= tile.end) continue;
    bf16 *to = dqkv + (size_t)row * width + head * D + 2 * (lane % 4);
#pragma unroll
    for (int block = 0; block < D / 8; block++)
      *reinterpret_cast<uint32_t *>(to + 8 * block) = pack(dquery[block][2 * half] * sizes.scale, dquery[block][2 * half + 1] * sizes.scale);
  }
}

// Gradients of keys and values by the queries of one head, f32: [2, heads, rows, D]. Queries pass N rows at a time.
template <int D, int N>
static __device__ void backward_keys(const bf16 *qkv, const bf16 *dout, const float *log_sums, const float *dots, float *partial,
                                     const Seen *seen_of, const KeyTile *tiles, Sizes sizes) {
  SHARED_ROOM(room);
  bf16 *keys = room, *values = keys + TILE * D, *queries = values + TILE * D, *gradients = queries + N * D;
  __shared__ Seen seen[N];
  __shared__ float log_sum[N], dot[N];
  const KeyTile tile = tiles[blockIdx.x];
  const uint32_t head = blockIdx.y, kv_head = head / (sizes.heads / sizes.kv_heads), width = (sizes.heads + 2 * sizes.kv_heads) * D;
  const bf16 *key = qkv + (size_t)(sizes.heads + kv_head) * D, *value = key + (size_t)sizes.kv_heads * D;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float to_log2 = sizes.scale * LOG2_E;

  load<D, TILE>(keys, key, width, tile.start, tile.end);
  load<D, TILE>(values, value, width, tile.start, tile.end);
  float dkey[D / 8][4], dvalue[D / 8][4];
  clear(dkey);
  clear(dvalue);
  for (uint32_t start = tile.queries_start; start < tile.queries_end; start += N) {
    load<D, N>(queries, qkv + head * D, width, start, tile.queries_end);
    load<D, N>(gradients, dout + head * D, sizes.heads * D, start, tile.queries_end);
    for (int i = threadIdx.x; i < N; i += THREADS) {
      bool is_there = start + i < tile.queries_end;
      seen[i] = is_there ? seen_of[start + i] : Seen{0, 0, 0, 0};
      log_sum[i] = is_there ? log_sums[(size_t)head * sizes.rows + start + i] : 0.0f;
      dot[i] = is_there ? dots[(size_t)head * sizes.rows + start + i] : 0.0f;
    }
    wait_for_copies<0>();
    // Both transposed: keys are the rows.
    float scores[N / 8][4], dweights[N / 8][4];
    clear(scores);
    clear(dweights);
#pragma unroll
    for (int step = 0; step < D / 16; step++) {
      uint32_t factor[4];
      left<D>(factor, keys, 16 * warp, step);
      add_rows_by_rows<D, N>(scores, factor, queries, step);
      left<D>(factor, values, 16 * warp, step);
      add_rows_by_rows<D, N>(dweights, factor, gradients, step);
    }
#pragma unroll
    for (int block = 0; block < N / 8; block++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        uint32_t column = tile.start + 16 * warp + lane / 4 + 8 * (i / 2);
        int row = 8 * block + 2 * (lane % 4) + i % 2;
        bool is_seen = column < tile.end && sees(seen[row], column);
        float weight = is_seen ? exp2f(scores[block][i] * to_log2 - log_sum[row]) : 0.0f;
        scores[block][i] = weight;
        dweights[block][i] = weight * (dweights[block][i] - dot[row]);
      }
    }
#pragma unroll
    for (int step = 0; step < N / 16; step++) {
      uint32_t factor[4];
      as_left(factor, scores[2 * step], scores[2 * step + 1]);
      add_weighted_rows<D>(dvalue, factor, gradients, step);
      as_left(factor, dweights[2 * step], dweights[2 * step + 1]);
      add_weighted_rows<D>(dkey, factor, queries, step);
    }
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    uint32_t row = tile.start + 16 * warp + lane / 4 + 8 * half;
    if (row >= tile.end) continue;
    float *to = partial + ((size_t)head * sizes.rows + row) * D + 2 * (lane % 4);
    const size_t behind_keys = (size_t)sizes.heads * sizes.rows * D;
#pragma unroll
    for (int block = 0; block < D / 8; block++) {
      *reinterpret_cast<float2 *>(to + 8 * block) = make_float2(dkey[block][2 * half] * sizes.scale, dkey[block][2 * half + 1] * sizes.scale);
      *reinterpret_cast<float2 *>(to + behind_keys + 8 * block) = make_float2(dvalue[block][2 * half], dvalue[block][2 * half + 1]);
    }
  }
}

// Gradients of keys and values, summed over the query heads that share them, into their place in dqkv.
template <int D> static __device__ void sum_heads(const float *partial, bf16 *dqkv, Sizes sizes) {
  const uint32_t shared = sizes.heads / sizes.kv_heads, width = (sizes.heads + 2 * sizes.kv_heads) * D;
  const size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, row = at / (2 * sizes.kv_heads * D);
  if (row >= sizes.rows) return;
  const uint32_t column = at % (2 * sizes.kv_heads * D), side = column / (sizes.kv_heads * D), kv_head = column / D % sizes.kv_heads;
  const float *from = partial + (((size_t)side * sizes.heads + kv_head * shared) * sizes.rows + row) * D + column % D;
  float sum = 0.0f;
  for (uint32_t i = 0; i < shared; i++) sum += from[(size_t)i * sizes.rows * D];
  dqkv[row * width + sizes.heads * D + column] = __float2bfloat16(sum);
}

// Queries and keys rotated by their rows' angles, forth or (direction -1) back; values as they are. cos, sin: [rows, D / 2]. `to` may be `from`.
template <int D> static __device__ void rotate(const bf16 *from, bf16 *to, const float *cos, const float *sin, float direction, Sizes sizes) {
  const uint32_t all = sizes.heads + 2 * sizes.kv_heads;
  const size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, row = at / (all * (D / 2));
  if (row >= sizes.rows) return;
  const uint32_t head = at / (D / 2) % all, i = at % (D / 2);
  const size_t first = (row * all + head) * D + i, second = first + D / 2;
  if (head >= sizes.heads + sizes.kv_heads) {
    to[first] = from[first];
    to[second] = from[second];
    return;
  }
  float a = __bfloat162float(from[first]), b = __bfloat162float(from[second]);
  float c = cos[row * (D / 2) + i], s = sin[row * (D / 2) + i] * direction;
  to[first] = __float2bfloat16(a * c - b * s);
  to[second] = __float2bfloat16(b * c + a * s);
}

#define KERNELS(D, N)                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(THREADS) attention_forward_##D(const bf16 *qkv, bf16 *out, float *log_sums, const Seen *seen, \
                                                                              const QueryTile *tiles, Sizes sizes) {                        \
    forward<D>(qkv, out, log_sums, seen, tiles, sizes);                                                                                     \
  }                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS) attention_dots_##D(const bf16 *out, const bf16 *dout, float *to, Sizes sizes) {      \
    dots<D>(out, dout, to, sizes);                                                                                                          \
  }                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                                     \
      attention_backward_queries_##D(const bf16 *qkv, const bf16 *dout, const float *log_sums, const float *dots, bf16 *dqkv,               \
                                     const Seen *seen, const QueryTile *tiles, Sizes sizes) {                                               \
    backward_queries<D>(qkv, dout, log_sums, dots, dqkv, seen, tiles, sizes);                                                               \
  }                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                                     \
      attention_backward_keys_##D(const bf16 *qkv, const bf16 *dout, const float *log_sums, const float *dots, float *partial,              \
                                  const Seen *seen, const KeyTile *tiles, Sizes sizes) {                                                    \
    backward_keys<D, N>(qkv, dout, log_sums, dots, partial, seen, tiles, sizes);                                                            \
  }                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS) attention_sum_heads_##D(const float *partial, bf16 *dqkv, Sizes sizes) {             \
    sum_heads<D>(partial, dqkv, sizes);                                                                                                     \
  }                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS) rotate_heads_##D(const bf16 *from, bf16 *to, const float *cos, const float *sin,    \
                                                                         float direction, Sizes sizes) {                                    \
    rotate<D>(from, to, cos, sin, direction, sizes);                                                                                        \
  }

KERNELS(64, 64)
KERNELS(128, 32)
