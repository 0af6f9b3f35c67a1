// The functions of `warp.cuh` on a processor, where the threads of a block take turns: what they do together is done by the definitions of the
// PTX ISA (ldmatrix; mma.m16n8k16), so that a kernel can be tested without a card. What a kernel fails to wait for is wrong here, too: a warp runs
// on until it comes to a barrier of the block, in both orders of warps, and a copy is made when it is waited for, and no number before.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>

#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(threads)
#define __shared__ static
#define THREADS 128
#define WARPS (THREADS / 32)
#define SHARED_ROOM(name) bf16 *name = reinterpret_cast<bf16 *>(shared_room)

struct bf16 {
  uint16_t bits;
};

static inline float __bfloat162float(bf16 x) {
  uint32_t bits = (uint32_t)x.bits << 16;
  float wide;
  memcpy(&wide, &bits, 4);
  return wide;
}

static inline bf16 __float2bfloat16(float wide) {
  uint32_t bits;
  memcpy(&bits, &wide, 4);
  if (std::isnan(wide)) return {0x7fff};
  return {(uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

struct float2 {
  float x, y;
};

static inline float2 make_float2(float x, float y) { return {x, y}; }

struct Index {
  unsigned x, y;
};

static Index blockIdx, indices[THREADS];
// The thread whose turn it is.
static int current;
#define threadIdx indices[current]

alignas(128) static char shared_room[128 << 10];
static size_t shared_end;

// Turns

static ucontext_t scheduler, threads[THREADS];
static std::vector<char> stacks[THREADS];
static bool has_ended[THREADS];
static std::function<void()> kernel;

struct Copy {
  uint32_t to;
  const bf16 *from;
  uint32_t bytes;
};

// Of each thread the groups of copies that it has not waited for; the last is not complete.
static std::vector<std::vector<Copy>> under_way[THREADS];
static bool is_at_barrier[THREADS];

struct Barrier {
  int of, arrived = 0;
  long passed = 0;

  // Returns when all have arrived.
  void wait() {
    const long before = passed;
    if (++arrived == of) {
      arrived = 0;
      passed++;
    }
    while (passed == before) swapcontext(&threads[current], &scheduler);
  }
};

static Barrier of_block{THREADS}, of_warps[WARPS] = {{32}, {32}, {32}, {32}};

static void __syncthreads() {
  is_at_barrier[current] = true;
  of_block.wait();
  is_at_barrier[current] = false;
}

static void run_thread() {
  kernel();
  has_ended[current] = true;
  swapcontext(&threads[current], &scheduler);
}

// Gives each thread of a warp turns, until it has ended or is at the block's barrier; whether any had one.
static bool run_warp(int warp) {
  bool had_turn = false;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (current = 32 * warp; current < 32 * warp + 32; current++) {
      if (has_ended[current]) continue;
      had_turn = true;
      swapcontext(&scheduler, &threads[current]);
      goes_on |= !has_ended[current] && !is_at_barrier[current];
    }
  }
  return had_turn;
}

// Every block of a grid, one after the other, with so many bytes of shared memory, which begin as no numbers.
static void launch(unsigned x, unsigned y, size_t shared_bytes, std::function<void()> body) {
  kernel = body;
  shared_end = shared_bytes;
  for (blockIdx.y = 0; blockIdx.y < y; blockIdx.y++) {
    for (blockIdx.x = 0; blockIdx.x < x; blockIdx.x++) {
      memset(shared_room, 0xff, sizeof shared_room);
      for (int i = 0; i < THREADS; i++) {
        indices[i] = {(unsigned)i, 0};
        under_way[i].assign(1, {});
        has_ended[i] = false;
        stacks[i].resize(128 << 10);
        getcontext(&threads[i]);
        threads[i].uc_stack.ss_sp = stacks[i].data();
        threads[i].uc_stack.ss_size = stacks[i].size();
        makecontext(&threads[i], run_thread, 0);
      }
      bool is_running = true;
      for (int turn = 0; is_running; turn++) {
        is_running = false;
        for (int i = 0; i < WARPS; i++) is_running |= run_warp(turn / 4 % 2 ? WARPS - 1 - i : i);
      }
    }
  }
}

// Together

// All lanes have written before any reads, and have read before any writes again.
template <class Write, class Read> static inline void together(Write write, Read read) {
  const int warp = current / 32, lane = current % 32;
  write(warp, lane);
  of_warps[warp].wait();
  read(warp, lane);
  of_warps[warp].wait();
}

static inline float __shfl_xor_sync(unsigned, float x, int by) {
  static float values[WARPS][32];
  float found;
  together([&](int warp, int lane) { values[warp][lane] = x; }, [&](int warp, int lane) { found = values[warp][lane ^ by]; });
  return found;
}

template <int D> static inline uint32_t address(const bf16 *tile, int row, int chunk) {
  const uint32_t found = (uint32_t)(reinterpret_cast<const char *>(tile) - shared_room) + row * D * 2 + ((chunk ^ (row & 7)) << 4);
  if (found + 16 > shared_end) abort();
  return found;
}

static inline void copy_later(uint32_t to, const bf16 *from, uint32_t bytes) {
  if (to % 16 || reinterpret_cast<uintptr_t>(from) % 16) abort();
  memset(shared_room + to, 0xff, 16);
  under_way[current].back().push_back({to, from, bytes});
}

static inline void end_of_copies() { under_way[current].emplace_back(); }

template <int LEFT> static inline void wait_for_copies() {
  auto &groups = under_way[current];
  for (; groups.size() > LEFT + 1; groups.erase(groups.begin())) {
    for (const Copy &copy : groups.front()) {
      memset(shared_room + copy.to, 0, 16);
      memcpy(shared_room + copy.to, copy.from, copy.bytes);
    }
  }
  __syncthreads();
}

static inline uint32_t both(const void *low, const void *high) {
  uint16_t parts[2];
  memcpy(parts, low, 2);
  memcpy(parts + 1, high, 2);
  return parts[0] | (uint32_t)parts[1] << 16;
}

static uint32_t addresses[WARPS][32];

static inline void load_matrices(uint32_t (&to)[4], uint32_t from) {
  together([&](int warp, int lane) { addresses[warp][lane] = from; },
           [&](int warp, int lane) {
             for (int i = 0; i < 4; i++) {
               const char *row = shared_room + addresses[warp][8 * i + lane / 4] + 4 * (lane % 4);
               to[i] = both(row, row + 2);
             }
           });
}

static inline void load_transposed(uint32_t (&to)[4], uint32_t from) {
  together([&](int warp, int lane) { addresses[warp][lane] = from; },
           [&](int warp, int lane) {
             for (int i = 0; i < 4; i++) {
               const uint32_t *rows = addresses[warp] + 8 * i + 2 * (lane % 4);
               to[i] = both(shared_room + rows[0] + 2 * (lane / 4), shared_room + rows[1] + 2 * (lane / 4));
             }
           });
}

static inline float part(uint32_t pair, int at) { return __bfloat162float({(uint16_t)(pair >> 16 * at)}); }

static inline void multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  static uint32_t as[WARPS][32][4], bs[WARPS][32][2];
  together(
      [&](int warp, int lane) {
        memcpy(as[warp][lane], a, sizeof a);
        bs[warp][lane][0] = b0;
        bs[warp][lane][1] = b1;
      },
      [&](int warp, int lane) {
        for (int i = 0; i < 4; i++) {
          const int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
          for (int k = 0; k < 16; k++) {
            const int holder = k % 8 / 2, half = k / 8;
            sum[i] += part(as[warp][4 * (row % 8) + holder][2 * half + row / 8], k % 2) * part(bs[warp][4 * column + holder][half], k % 2);
          }
        }
      });
}

static inline uint32_t pack(float low, float high) {
  const bf16 parts[] = {__float2bfloat16(low), __float2bfloat16(high)};
  return both(parts, parts + 1);
}
