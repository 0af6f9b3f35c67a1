// Holds the kernels of `attention.cu` to attention in double precision, on a processor: `scripts/emulate-kernels` compiles and runs it.

#define EMULATED
#include "../attention.cu"

#include <algorithm>
#include <cstdio>

// Of one prompt, and of each of its responses.
struct Lengths {
  unsigned prompt;
  std::vector<unsigned> responses;
};

// As `src/ops/candle/spans.rs` makes them.
struct Tables {
  std::vector<Seen> seen;
  std::vector<QueryTile> queries;
  std::vector<KeyTile> keys;
  std::vector<unsigned> positions;

  explicit Tables(const std::vector<Lengths> &groups) {
    for (const Lengths &group : groups) add(group);
  }

  void add(const Lengths &group) {
    const unsigned first = seen.size(), prompt_end = first + group.prompt;
    for (unsigned row = first; row < prompt_end; row++) seen.push_back({first, row + 1, 0, 0});
    for (unsigned length : group.responses) {
      const unsigned start = seen.size();
      for (unsigned row = start; row < start + length; row++) seen.push_back({first, prompt_end, start, row + 1});
    }
    const unsigned end = seen.size();
    for (unsigned row = first; row < end; row++)
      positions.push_back(seen[row].own_end ? group.prompt + row - seen[row].own_start : row - first);
    for (unsigned start = first; start < end; start += TILE) {
      QueryTile tile{start, std::min(start + TILE, end), {first, 0, ~0u, 0}};
      KeyTile keys_tile{start, tile.end, start, start};
      for (unsigned row = start; row < end; row++) {
        const bool sees_any = start < seen[row].shared_end || (start < seen[row].own_end && seen[row].own_start < tile.end);
        if (sees_any) keys_tile.queries_end = row + 1;
        if (row >= tile.end) continue;
        tile.seen.shared_end = std::max(tile.seen.shared_end, seen[row].shared_end);
        if (!seen[row].own_end) continue;
        tile.seen.own_start = std::min(tile.seen.own_start, seen[row].own_start);
        tile.seen.own_end = std::max(tile.seen.own_end, seen[row].own_end);
      }
      queries.push_back(tile);
      keys.push_back(keys_tile);
    }
  }
};

// The same numbers on every machine.
static float noise() {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (float)(state >> 40) / (1 << 23) - 1.0f;
}

// Memory that a kernel has to fill: before that it holds no numbers. Aligned as a card's is.
template <class T> static T *room(size_t count) {
  const size_t bytes = (count * sizeof(T) + 255) / 256 * 256;
  void *found = aligned_alloc(256, bytes);
  memset(found, 0xff, bytes);
  return static_cast<T *>(found);
}

static double distance(const std::vector<double> &found, const std::vector<double> &wanted) {
  double apart = 0.0, size = 0.0;
  for (size_t i = 0; i < found.size(); i++) {
    apart += (found[i] - wanted[i]) * (found[i] - wanted[i]);
    size += wanted[i] * wanted[i];
  }
  return std::sqrt(apart / size);
}

// Rotates heads as doubles: direction 1 forth, -1 back.
template <int D> static void rotate_wide(std::vector<double> &x, const Sizes &sizes, const float *cos, const float *sin, double direction) {
  const unsigned all = sizes.heads + 2 * sizes.kv_heads;
  for (unsigned row = 0; row < sizes.rows; row++) {
    for (unsigned head = 0; head < sizes.heads + sizes.kv_heads; head++) {
      for (int i = 0; i < D / 2; i++) {
        double &a = x[(row * all + head) * D + i], &b = x[(row * all + head) * D + i + D / 2];
        const double c = cos[row * (D / 2) + i], s = direction * sin[row * (D / 2) + i], turned = a * c - b * s;
        b = b * c + a * s;
        a = turned;
      }
    }
  }
}

template <int D>
static bool test(const char *name, const std::vector<Lengths> &groups, unsigned heads, unsigned kv_heads) {
  const Tables tables(groups);
  const unsigned rows = tables.seen.size(), all = heads + 2 * kv_heads, width = all * D, shared = heads / kv_heads;
  const Sizes sizes{rows, heads, kv_heads, 1.0f / std::sqrt((float)D)};
  bf16 *qkv = room<bf16>(rows * width), *dout = room<bf16>(rows * heads * D);
  for (unsigned i = 0; i < rows * width; i++) qkv[i] = __float2bfloat16(1.5f * noise());
  for (unsigned i = 0; i < rows * heads * D; i++) dout[i] = __float2bfloat16(noise());
  float *cos = room<float>(rows * D / 2), *sin = room<float>(rows * D / 2);
  for (unsigned row = 0; row < rows; row++) {
    for (int i = 0; i < D / 2; i++) {
      const double angle = tables.positions[row] * std::pow(1e4, -2.0 * i / D);
      cos[row * D / 2 + i] = std::cos(angle);
      sin[row * D / 2 + i] = std::sin(angle);
    }
  }

  // As `src/ops/candle/fused_attention.rs` launches them.
  bf16 *rotated = room<bf16>(rows * width), *out = room<bf16>(rows * heads * D), *drotated = room<bf16>(rows * width), *dqkv = room<bf16>(rows * width);
  float *log_sums = room<float>(rows * heads), *dot = room<float>(rows * heads), *partial = room<float>(2 * rows * heads * D);
  const auto blocks = [](unsigned count) { return (count + THREADS - 1) / THREADS; };
  const size_t tile = TILE * D * sizeof(bf16), queries = (D == 64 ? 64 : 32) * D * sizeof(bf16);
#define LAUNCH(x, y, bytes, kernel, ...)             \
  launch(x, y, bytes, [&] {                          \
    if constexpr (D == 64) kernel##_64(__VA_ARGS__); \
    else kernel##_128(__VA_ARGS__);                  \
  })
  LAUNCH(blocks(rows * width / 2), 1, 0, rotate_heads, qkv, rotated, cos, sin, 1.0f, sizes);
  LAUNCH(tables.queries.size(), heads, 2 * tile, attention_forward, rotated, out, log_sums, tables.seen.data(), tables.queries.data(), sizes);
  LAUNCH(blocks(32 * rows * heads), 1, 0, attention_dots, out, dout, dot, sizes);
  LAUNCH(tables.queries.size(), heads, 2 * tile, attention_backward_queries, rotated, dout, log_sums, dot, drotated, tables.seen.data(), tables.queries.data(), sizes);
  LAUNCH(tables.keys.size(), heads, 2 * (tile + queries), attention_backward_keys, rotated, dout, log_sums, dot, partial, tables.seen.data(), tables.keys.data(), sizes);
  LAUNCH(blocks(2 * rows * kv_heads * D), 1, 0, attention_sum_heads, partial, drotated, sizes);
  LAUNCH(blocks(rows * width / 2), 1, 0, rotate_heads, drotated, dqkv, cos, sin, -1.0f, sizes);

  std::vector<double> x(rows * width), dx(rows * width, 0.0), y(rows * heads * D, 0.0);
  for (unsigned i = 0; i < rows * width; i++) x[i] = __bfloat162float(qkv[i]);
  rotate_wide<D>(x, sizes, cos, sin, 1.0);
  for (unsigned row = 0; row < rows; row++) {
    for (unsigned head = 0; head < heads; head++) {
      const auto at = [&](unsigned row, unsigned head) { return (row * all + head) * D; };
      const unsigned key = heads + head / shared, value = key + kv_heads, mixed = (row * heads + head) * D;
      std::vector<unsigned> columns;
      for (unsigned column = 0; column < rows; column++)
        if (sees(tables.seen[row], column)) columns.push_back(column);
      std::vector<double> weights;
      double sum = 0.0, dot = 0.0;
      for (unsigned column : columns) {
        double score = 0.0;
        for (int i = 0; i < D; i++) score += x[at(row, head) + i] * x[at(column, key) + i];
        weights.push_back(std::exp(score * sizes.scale));
        sum += weights.back();
      }
      for (size_t j = 0; j < columns.size(); j++) {
        weights[j] /= sum;
        for (int i = 0; i < D; i++) y[mixed + i] += weights[j] * x[at(columns[j], value) + i];
      }
      for (int i = 0; i < D; i++) dot += y[mixed + i] * __bfloat162float(dout[mixed + i]);
      for (size_t j = 0; j < columns.size(); j++) {
        double dweight = 0.0;
        for (int i = 0; i < D; i++) {
          const double dy = __bfloat162float(dout[mixed + i]);
          dweight += dy * x[at(columns[j], value) + i];
          dx[at(columns[j], value) + i] += weights[j] * dy;
        }
        const double dscore = weights[j] * (dweight - dot) * sizes.scale;
        for (int i = 0; i < D; i++) {
          dx[at(row, head) + i] += dscore * x[at(columns[j], key) + i];
          dx[at(columns[j], key) + i] += dscore * x[at(row, head) + i];
        }
      }
    }
  }
  rotate_wide<D>(dx, sizes, cos, sin, -1.0);

  // Result, and gradients of queries, keys and values.
  std::vector<double> found[4], wanted[4];
  for (unsigned i = 0; i < rows * heads * D; i++) {
    found[0].push_back(__bfloat162float(out[i]));
    wanted[0].push_back(y[i]);
  }
  for (unsigned i = 0; i < rows * width; i++) {
    const unsigned head = i % width / D, side = head < heads ? 1 : head < heads + kv_heads ? 2 : 3;
    found[side].push_back(__bfloat162float(dqkv[i]));
    wanted[side].push_back(dx[i]);
  }
  bool is_right = true;
  printf("%s, %u heads of %d, %u of keys, %u rows: apart by", name, heads, D, kv_heads, rows);
  for (int i = 0; i < 4; i++) {
    const double apart = distance(found[i], wanted[i]);
    // A number of bfloat16 is off by 0.0017 at the mean, and the softmax's weights are rounded to it.
    is_right &= apart < 0.006;
    printf(" %.4f", apart);
  }
  printf("%s\n", is_right ? "" : " WRONG");
  for (void *memory : {(void *)qkv, (void *)dout, (void *)cos, (void *)sin, (void *)rotated, (void *)out, (void *)drotated, (void *)dqkv, (void *)log_sums, (void *)dot, (void *)partial}) free(memory);
  return is_right;
}

int main() {
  const std::vector<Lengths> groups{{1, {1}}, {70, {37, 1, 66}}, {64, {64}}};
  const bool is_right = test<64>("grouped queries", groups, 4, 2) & test<64>("as many keys", {{65, {1, 1}}}, 1, 1) &
                        test<128>("grouped queries", groups, 2, 1) & test<128>("several of keys", {{3, {}}, {129, {2}}}, 2, 2);
  return is_right ? 0 : 1;
}
