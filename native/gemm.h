// Products of matrices: tiles of sums held in registers, over copies of the operands that lie as the tiles read them.
#ifndef EVSYS_GEMM_H
#define EVSYS_GEMM_H
#include "team.h"
#include "vector.h"

#define TILE_COLS (2 * LANES)
// A block of `a` stays in the second cache, a panel of `b` in the first.
#define BLOCK_DEPTH 256
#define BLOCK_ROWS (TILE_ROWS * 16)
#define BLOCK_COLS 1024
// Up to so many columns, rows of `a` are read as they lie: a copy would not be used often enough.
#define DIRECT_COLS 256
#define DIRECT_DEPTH 64
#define SCRATCH_A (BLOCK_ROWS * BLOCK_DEPTH + 16) // whole vectors are written, also at the end
#define SCRATCH_B (BLOCK_COLS * BLOCK_DEPTH)
#define SCRATCH_FLOATS (SCRATCH_A + SCRATCH_B)

// Element (i, k) lies at data[i * row + k * col].
typedef struct { const float *data; size_t row, col; } Left;
// Element (k, j) lies at [k * row + j * col]; halves are bf16.
typedef struct { const void *data; size_t row, col; int is_half; } Right;

INLINE size_t padded_cols(size_t n) { return (n + TILE_COLS - 1) / TILE_COLS * TILE_COLS; }
INLINE const void *right_at(Right b, size_t k, size_t j) {
  return (const char *)b.data + (k * b.row + j * b.col) * (b.is_half ? 2 : 4);
}
#endif
