// What attention and its gradient share.
#ifndef EVSYS_ATTENTION_H
#define EVSYS_ATTENTION_H
#include "gemm.h"

#define KEYS PAGE_SIZE
// Query rows of one head that share a copy of a block of keys.
#define QUERIES 128
#define MAX_HEAD_DIM 512
#define MAX_GROUP 128

typedef struct {
  int heads, kv_heads, head_dim;
  float scale;
  size_t ldq, ldk, ldv;
} Shape;

// The larger of the two users, the gradient: three blocks of keys, two of queries, two of scores.
_Static_assert(3 * KEYS * MAX_HEAD_DIM + 2 * QUERIES * MAX_HEAD_DIM + 2 * QUERIES * KEYS <= SCRATCH_FLOATS, "scratch");
#endif
