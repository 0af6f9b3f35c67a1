// What 32 threads do together: copies to shared memory, and products of small matrices. The one file with assembly; `emulated/warp.h` has the
// same functions for a processor.
//
// Fragments are those of `mma.m16n8k16` (PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type"): of a tile's rows, lane l holds
// those of l / 4 and l / 4 + 8, and of its columns 2 * (l % 4) and the next, and the same 8 further on.

#pragma once

#include <cuda_bf16.h>
#include <stdint.h>

typedef __nv_bfloat16 bf16;

#define THREADS 128
#define SHARED_ROOM(name) extern __shared__ __align__(128) bf16 name[]

// A tile in shared memory is rows of D numbers, whose chunks of 16 bytes are permuted so that no eight lanes meet in a bank.
template <int D> static __device__ __forceinline__ uint32_t address(const bf16 *tile, int row, int chunk) {
  return (uint32_t)__cvta_generic_to_shared(tile) + row * D * 2 + ((chunk ^ (row & 7)) << 4);
}

// Begins to copy so many of 16 bytes, and zeros for the rest.
static __device__ __forceinline__ void copy_later(uint32_t to, const bf16 *from, uint32_t bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most `LEFT` of this thread's groups of copies are under way, and for all threads.
template <int LEFT> static __device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
  __syncthreads();
}

// Four matrices of 8 rows of 16 bytes, whose addresses the lanes name in turn.
static __device__ __forceinline__ void load_matrices(uint32_t (&to)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}

static __device__ __forceinline__ void load_transposed(uint32_t (&to)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}

// sum [16, 8] += a [16, 16] * b [16, 8]
static __device__ __forceinline__ void multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ uint32_t pack(float low, float high) {
  __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<uint32_t *>(&pair);
}
