// Generated from src/engine/cpu/ops.ts by scripts/build-kernels.ts. Tensors are offsets into the arena, in words of 4 bytes.
#ifndef EVSYS_OPS_H
#define EVSYS_OPS_H
#include <stdint.h>

#define PAGE_SIZE 64
#define HEAD_CHUNK 2064
#define MASS_BLOCK 32

enum {
  OP_GEMM = 1,
  OP_PACK = 2,
  OP_GEMM_PACKED = 3,
  OP_RMS_NORM = 4,
  OP_RMS_NORM_BACK = 5,
  OP_ROPE = 6,
  OP_ATTENTION = 7,
  OP_ATTENTION_BACK = 8,
  OP_CACHE_ATTENTION = 9,
  OP_SWIGLU = 10,
  OP_SWIGLU_BACK = 11,
  OP_ADD_BIAS = 12,
  OP_BIAS_BACK = 13,
  OP_GATHER_ROWS = 14,
  OP_CACHE_ROWS = 15,
  OP_SCATTER_ADD_ROWS = 16,
  OP_HEAD = 17,
  OP_HEAD_BACK = 18,
  OP_LOG_SUM_EXP = 19,
  OP_ADD = 20,
  OP_SCALE = 21,
  OP_FILL = 22,
  OP_COPY_ROWS = 23,
  OP_CONVERT = 24,
  OP_SUM_SQUARES = 25,
  OP_ADAMW = 26,
  OP_TRAP = 27,
};

typedef struct {
  uint32_t c;
  uint32_t a;
  uint32_t b;
  int32_t m;
  int32_t n;
  int32_t k;
  int32_t lda;
  int32_t ldb;
  int32_t ldc;
  int32_t transA;
  int32_t transB;
  int32_t bType;
  int32_t accumulate;
  float alpha;
} OpGemm;

typedef struct {
  uint32_t dst;
  uint32_t b;
  int32_t n;
  int32_t k;
  int32_t ldb;
  int32_t transB;
  int32_t bType;
} OpPack;

typedef struct {
  uint32_t c;
  uint32_t a;
  uint32_t b;
  int32_t m;
  int32_t n;
  int32_t k;
  int32_t lda;
  int32_t ldc;
  int32_t bType;
  int32_t accumulate;
  float alpha;
} OpGemmPacked;

typedef struct {
  uint32_t y;
  uint32_t scale;
  uint32_t x;
  uint32_t w;
  int32_t rows;
  int32_t width;
  float eps;
} OpRmsNorm;

typedef struct {
  uint32_t dx;
  uint32_t dw;
  uint32_t dy;
  uint32_t x;
  uint32_t w;
  uint32_t scale;
  int32_t rows;
  int32_t width;
  int32_t accumulate;
} OpRmsNormBack;

typedef struct {
  uint32_t x;
  uint32_t positions;
  uint32_t cos;
  uint32_t sin;
  int32_t rows;
  int32_t heads;
  int32_t headDim;
  int32_t ldx;
  int32_t inverse;
} OpRope;

typedef struct {
  uint32_t out;
  uint32_t lse;
  uint32_t q;
  uint32_t k;
  uint32_t v;
  uint32_t starts;
  int32_t segments;
  int32_t heads;
  int32_t kvHeads;
  int32_t headDim;
  int32_t ldq;
  int32_t ldk;
  int32_t ldv;
  float scale;
} OpAttention;

typedef struct {
  uint32_t dq;
  uint32_t dk;
  uint32_t dv;
  uint32_t dOut;
  uint32_t out;
  uint32_t lse;
  uint32_t q;
  uint32_t k;
  uint32_t v;
  uint32_t work;
  uint32_t starts;
  int32_t segments;
  int32_t heads;
  int32_t kvHeads;
  int32_t headDim;
  int32_t ldq;
  int32_t ldk;
  int32_t ldv;
  float scale;
} OpAttentionBack;

typedef struct {
  uint32_t out;
  uint32_t q;
  uint32_t kCache;
  uint32_t vCache;
  uint32_t pages;
  uint32_t sequences;
  uint32_t lengths;
  uint32_t k;
  uint32_t v;
  uint32_t slots;
  int32_t rows;
  int32_t heads;
  int32_t kvHeads;
  int32_t headDim;
  int32_t ldPages;
  float scale;
} OpCacheAttention;

typedef struct {
  uint32_t y;
  uint32_t gate;
  uint32_t up;
  int32_t n;
} OpSwiglu;

typedef struct {
  uint32_t dGate;
  uint32_t dUp;
  uint32_t dy;
  uint32_t gate;
  uint32_t up;
  int32_t n;
} OpSwigluBack;

typedef struct {
  uint32_t y;
  uint32_t b;
  int32_t rows;
  int32_t width;
} OpAddBias;

typedef struct {
  uint32_t db;
  uint32_t dy;
  int32_t rows;
  int32_t width;
} OpBiasBack;

typedef struct {
  uint32_t y;
  uint32_t table;
  uint32_t ids;
  int32_t rows;
  int32_t width;
  int32_t type;
} OpGatherRows;

typedef struct {
  uint32_t kCache;
  uint32_t vCache;
  uint32_t k;
  uint32_t v;
  uint32_t slots;
  int32_t rows;
  int32_t kvHeads;
  int32_t headDim;
} OpCacheRows;

typedef struct {
  uint32_t y;
  uint32_t x;
  uint32_t ids;
  int32_t rows;
  int32_t width;
} OpScatterAddRows;

typedef struct {
  uint32_t logprobs;
  uint32_t lse;
  uint32_t x;
  uint32_t w;
  uint32_t x2;
  uint32_t w2;
  uint32_t ids;
  uint32_t work;
  int32_t rows;
  int32_t targets;
  int32_t width;
  int32_t vocab;
  int32_t rank;
  int32_t wType;
  int32_t whole;
} OpHead;

typedef struct {
  uint32_t dx;
  uint32_t dx2;
  uint32_t dw;
  uint32_t dw2;
  uint32_t g;
  uint32_t lse;
  uint32_t x;
  uint32_t w;
  uint32_t x2;
  uint32_t w2;
  uint32_t ids;
  uint32_t work;
  int32_t rows;
  int32_t targets;
  int32_t width;
  int32_t vocab;
  int32_t rank;
  int32_t wType;
  int32_t kept;
  int32_t whole;
} OpHeadBack;

typedef struct {
  uint32_t lse;
  uint32_t masses;
  uint32_t x;
  int32_t rows;
  int32_t width;
  int32_t ldx;
} OpLogSumExp;

typedef struct {
  uint32_t y;
  uint32_t x;
  int32_t n;
  float alpha;
} OpAdd;

typedef struct {
  uint32_t y;
  int32_t n;
  float alpha;
} OpScale;

typedef struct {
  uint32_t y;
  int32_t n;
  float value;
} OpFill;

typedef struct {
  uint32_t y;
  uint32_t x;
  int32_t rows;
  int32_t width;
  int32_t ldy;
  int32_t ldx;
} OpCopyRows;

typedef struct {
  uint32_t y;
  uint32_t x;
  int32_t n;
  int32_t yType;
  int32_t xType;
} OpConvert;

typedef struct {
  uint32_t sum;
  uint32_t x;
  int32_t n;
  int32_t accumulate;
} OpSumSquares;

typedef struct {
  uint32_t p;
  uint32_t g;
  uint32_t m;
  uint32_t v;
  int32_t n;
  float gradScale;
  float beta1;
  float rest1;
  float beta2;
  float rest2;
  float rate;
  float secondScale;
  float eps;
  float decay;
} OpAdamw;

typedef struct {
  int32_t thread;
} OpTrap;
#endif
