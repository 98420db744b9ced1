// Looks at a whole program before any of it runs: every operation is known, and all that it reads and writes lies in the arena, also
// what it reaches through numbers of rows and pages. So no program can make a kernel leave its memory.
#include "attention.h"
#include "ops.h"
#include "team.h"

// Counts are doubles: products of sizes cannot overflow, and are exact as far as memory reaches.
INLINE double grid(double rows, double stride, double width) { return rows > 0 && width > 0 ? (rows - 1) * stride + width : 0; }
INLINE double halves(double count, int is_half) { return is_half ? (double)(uint64_t)((count + 1) / 2) : count; }

// Whether `count` words from a place on are in the arena; none are everywhere.
INLINE int holds(const Team *t, uint32_t word, double count) {
  return count == 0 || (word >= t->first && count > 0 && (double)word + count <= (double)t->end);
}
INLINE int holds_optional(const Team *t, uint32_t word, double count) { return word == 0 || holds(t, word, count); }

INLINE const int32_t *numbers(const Team *t, uint32_t word) { return (const int32_t *)(t->arena + (size_t)word * 4); }

// Rows that numbers reach, or -1 where they cannot be read. Negative ones are left out by all that use them.
static double rows_reached(const Team *t, uint32_t ids, int count) {
  if (!holds(t, ids, count)) return -1;
  int64_t most = -1;
  for (int i = 0; i < count; i++) most = numbers(t, ids)[i] > most ? numbers(t, ids)[i] : most;
  return (double)(most + 1);
}

static int is_unsupported(int heads, int kv_heads, int dim) {
  return dim < 1 || dim > MAX_HEAD_DIM || kv_heads < 1 || heads % kv_heads != 0 || heads / kv_heads > MAX_GROUP;
}

// The rows of segments, or -1 where their starts do not ascend.
static double segment_rows(const Team *t, uint32_t starts, int segments) {
  if (!holds(t, starts, (double)segments + 1)) return -1;
  const int32_t *at = numbers(t, starts);
  if (at[0] < 0) return -1;
  for (int s = 0; s < segments; s++)
    if (at[s + 1] < at[s]) return -1;
  return at[segments];
}

static int check_gemm(const Team *t, const OpGemm *op) {
  double m = op->m, n = op->n, k = op->k;
  double a = op->transA ? grid(k, op->lda, m) : grid(m, op->lda, k), b = op->transB ? grid(n, op->ldb, k) : grid(k, op->ldb, n);
  return holds(t, op->c, grid(m, op->ldc, n)) && holds(t, op->a, a) && holds(t, op->b, halves(b, op->bType));
}

static int check_pack(const Team *t, const OpPack *op) {
  double n = op->n, k = op->k, b = op->transB ? grid(n, op->ldb, k) : grid(k, op->ldb, n);
  return holds(t, op->dst, halves((double)padded_cols(op->n) * k, op->bType)) && holds(t, op->b, halves(b, op->bType));
}

static int check_gemm_packed(const Team *t, const OpGemmPacked *op) {
  double m = op->m, k = op->k;
  return holds(t, op->c, grid(m, op->ldc, op->n)) && holds(t, op->a, grid(m, op->lda, k)) &&
         holds(t, op->b, halves((double)padded_cols(op->n) * k, op->bType));
}

static int check_rms_norm(const Team *t, const OpRmsNorm *op) {
  double rows = op->rows, width = op->width;
  return holds(t, op->y, rows * width) && holds(t, op->x, rows * width) && holds(t, op->w, rows > 0 ? width : 0) &&
         holds_optional(t, op->scale, rows);
}

static int check_rms_norm_back(const Team *t, const OpRmsNormBack *op) {
  double rows = op->rows, width = op->width, all = rows * width;
  return holds(t, op->dx, all) && holds_optional(t, op->dw, width) && holds(t, op->dy, all) && holds(t, op->x, all) &&
         holds(t, op->w, width) && holds(t, op->scale, rows);
}

static int check_rope(const Team *t, const OpRope *op) {
  double positions = rows_reached(t, op->positions, op->rows), table = positions * (op->headDim / 2);
  for (int i = 0; positions > 0 && i < op->rows; i++)
    if (numbers(t, op->positions)[i] < 0) return 0;
  return positions >= 0 && holds(t, op->x, grid(op->rows, op->ldx, (double)op->heads * op->headDim)) &&
         holds(t, op->cos, table) && holds(t, op->sin, table);
}

static int check_attention(const Team *t, const OpAttention *op) {
  double rows = segment_rows(t, op->starts, op->segments), wide = (double)op->heads * op->headDim;
  double narrow = (double)op->kvHeads * op->headDim;
  return rows >= 0 && holds(t, op->q, grid(rows, op->ldq, wide)) && holds(t, op->k, grid(rows, op->ldk, narrow)) &&
         holds(t, op->v, grid(rows, op->ldv, narrow)) && holds(t, op->out, rows * wide) && holds(t, op->lse, rows * op->heads);
}

static int check_attention_back(const Team *t, const OpAttentionBack *op) {
  double rows = segment_rows(t, op->starts, op->segments), wide = (double)op->heads * op->headDim;
  double narrow = (double)op->kvHeads * op->headDim;
  return rows >= 0 && holds(t, op->q, grid(rows, op->ldq, wide)) && holds(t, op->k, grid(rows, op->ldk, narrow)) &&
         holds(t, op->v, grid(rows, op->ldv, narrow)) && holds(t, op->out, rows * wide) && holds(t, op->dOut, rows * wide) &&
         holds(t, op->dq, rows * wide) && holds(t, op->dk, rows * narrow) && holds(t, op->dv, rows * narrow) &&
         holds(t, op->lse, rows * op->heads) && holds(t, op->work, rows * op->heads);
}

static int check_cache_rows(const Team *t, const OpCacheRows *op) {
  double width = (double)op->kvHeads * op->headDim, reached = rows_reached(t, op->slots, op->rows);
  double cache = (double)(uint64_t)((reached + KEYS - 1) / KEYS) * KEYS * width;
  return reached >= 0 && holds(t, op->k, op->rows * width) && holds(t, op->v, op->rows * width) &&
         holds(t, op->kCache, cache) && holds(t, op->vCache, cache);
}

static int check_cache_attention(const Team *t, const OpCacheAttention *op) {
  double wide = (double)op->rows * op->heads * op->headDim, page = (double)KEYS * op->kvHeads * op->headDim;
  if (!holds(t, op->q, wide) || !holds(t, op->out, wide)) return 0;
  if (!holds(t, op->sequences, op->rows) || !holds(t, op->lengths, op->rows)) return 0;
  OpCacheRows own = {op->kCache, op->vCache, op->k, op->v, op->slots, op->rows, op->kvHeads, op->headDim};
  if (op->slots && !check_cache_rows(t, &own)) return 0;
  for (int i = 0; i < op->rows; i++) {
    int sequence = numbers(t, op->sequences)[i], length = numbers(t, op->lengths)[i];
    if (length < 1 || sequence < 0) return 0;
    int count = (length - 1) / KEYS + 1;
    double first = (double)op->pages + (double)sequence * op->ldPages;
    if (count > op->ldPages || first + count > (double)t->end || op->pages < t->first) return 0;
    const int32_t *pages = numbers(t, (uint32_t)first);
    for (int p = 0; p < count; p++) {
      double to = ((double)pages[p] + 1) * page;
      if (pages[p] < 0 || !holds(t, op->kCache, to) || !holds(t, op->vCache, to)) return 0;
    }
  }
  return 1;
}

static int check_swiglu(const Team *t, const OpSwiglu *op) {
  return holds(t, op->y, op->n) && holds(t, op->gate, op->n) && holds(t, op->up, op->n);
}

static int check_swiglu_back(const Team *t, const OpSwigluBack *op) {
  double n = op->n;
  return holds(t, op->dGate, n) && holds(t, op->dUp, n) && holds(t, op->dy, n) && holds(t, op->gate, n) && holds(t, op->up, n);
}

static int check_add_bias(const Team *t, const OpAddBias *op) {
  return holds(t, op->y, (double)op->rows * op->width) && holds(t, op->b, op->rows > 0 ? op->width : 0);
}

static int check_bias_back(const Team *t, const OpBiasBack *op) {
  return holds(t, op->dy, (double)op->rows * op->width) && holds(t, op->db, op->rows > 0 ? op->width : 0);
}

static int check_gather_rows(const Team *t, const OpGatherRows *op) {
  double width = op->width, reached = rows_reached(t, op->ids, op->rows);
  return reached >= 0 && holds(t, op->y, op->rows * width) && holds(t, op->table, halves(reached * width, op->type));
}

static int check_scatter_add_rows(const Team *t, const OpScatterAddRows *op) {
  double width = op->width, reached = rows_reached(t, op->ids, op->rows);
  return reached >= 0 && holds(t, op->x, op->rows * width) && holds(t, op->y, reached * width);
}

INLINE double head_work(double rows, double vocab, int is_whole) {
  return rows * HEAD_CHUNK * (is_whole ? (double)(uint64_t)((vocab + COLUMNS - 1) / COLUMNS) : 1);
}

static int check_head(const Team *t, const OpHead *op) {
  double rows = op->rows, width = op->width, vocab = op->vocab, rank = op->rank, targets = op->targets;
  return holds(t, op->logprobs, rows * targets) && holds(t, op->ids, rows * targets) && holds(t, op->lse, rows) &&
         holds(t, op->x, rows * width) && holds(t, op->w, halves(vocab * width, op->wType)) && holds(t, op->x2, rows * rank) &&
         holds(t, op->w2, vocab * rank) && holds(t, op->work, head_work(rows, vocab, op->whole));
}

static int check_head_back(const Team *t, const OpHeadBack *op) {
  double rows = op->rows, width = op->width, vocab = op->vocab, rank = op->rank, targets = op->targets;
  return holds(t, op->g, rows * targets) && holds(t, op->ids, rows * targets) && holds(t, op->lse, rows) &&
         holds(t, op->x, rows * width) && holds(t, op->w, halves(vocab * width, op->wType)) && holds(t, op->x2, rows * rank) &&
         holds(t, op->w2, vocab * rank) && holds(t, op->work, head_work(rows, vocab, op->whole)) && holds(t, op->dx, rows * width) &&
         holds_optional(t, op->dx2, rows * rank) && holds_optional(t, op->dw, vocab * width) &&
         holds_optional(t, op->dw2, vocab * rank);
}

static int check_log_sum_exp(const Team *t, const OpLogSumExp *op) {
  double blocks = (double)(((int64_t)op->width + MASS_BLOCK - 1) / MASS_BLOCK);
  return holds(t, op->x, grid(op->rows, op->ldx, op->width)) && holds(t, op->lse, op->rows) &&
         holds_optional(t, op->masses, op->rows * blocks);
}

static int check_add(const Team *t, const OpAdd *op) { return holds(t, op->y, op->n) && holds(t, op->x, op->n); }
static int check_scale(const Team *t, const OpScale *op) { return holds(t, op->y, op->n); }
static int check_fill(const Team *t, const OpFill *op) { return holds(t, op->y, op->n); }

static int check_copy_rows(const Team *t, const OpCopyRows *op) {
  return holds(t, op->y, grid(op->rows, op->ldy, op->width)) && holds(t, op->x, grid(op->rows, op->ldx, op->width));
}

static int check_convert(const Team *t, const OpConvert *op) {
  return holds(t, op->y, halves(op->n, op->yType)) && holds(t, op->x, halves(op->n, op->xType));
}

static int check_sum_squares(const Team *t, const OpSumSquares *op) {
  return op->sum % 2 == 0 && holds(t, op->sum, 2) && holds(t, op->x, op->n);
}

static int check_adamw(const Team *t, const OpAdamw *op) {
  return holds(t, op->p, op->n) && holds(t, op->g, op->n) && holds(t, op->m, op->n) && holds(t, op->v, op->n);
}

static int check_trap(const Team *t, const OpTrap *op) {
  (void)t;
  return op->thread >= 0;
}

#define CHECK(number, type, check) \
  case number: { \
    const type *op = (const type *)(program + at + 1); \
    if (words - at - 1 < (int32_t)(sizeof(type) / 4)) return TRUNCATED | number << 8; \
    if (!check(team, op)) return OUTSIDE | number << 8; \
    at += 1 + (int32_t)(sizeof(type) / 4); \
    break; \
  }

#define CHECK_HEADS(number, type, check) \
  case number: { \
    const type *op = (const type *)(program + at + 1); \
    if (words - at - 1 < (int32_t)(sizeof(type) / 4)) return TRUNCATED | number << 8; \
    if (is_unsupported(op->heads, op->kvHeads, op->headDim)) return UNSUPPORTED | number << 8; \
    if (!check(team, op)) return OUTSIDE | number << 8; \
    at += 1 + (int32_t)(sizeof(type) / 4); \
    break; \
  }

// FINE, or what is wrong with the opcode of the first operation that is, eight bits higher.
static int check_program(const Team *team, const int32_t *program, int32_t words) {
  for (int32_t at = 0; at < words;) {
    int32_t code = program[at] & 0xffff;
    switch (code) {
      CHECK(OP_GEMM, OpGemm, check_gemm)
      CHECK(OP_PACK, OpPack, check_pack)
      CHECK(OP_GEMM_PACKED, OpGemmPacked, check_gemm_packed)
      CHECK(OP_RMS_NORM, OpRmsNorm, check_rms_norm)
      CHECK(OP_RMS_NORM_BACK, OpRmsNormBack, check_rms_norm_back)
      CHECK(OP_ROPE, OpRope, check_rope)
      CHECK_HEADS(OP_ATTENTION, OpAttention, check_attention)
      CHECK_HEADS(OP_ATTENTION_BACK, OpAttentionBack, check_attention_back)
      CHECK_HEADS(OP_CACHE_ATTENTION, OpCacheAttention, check_cache_attention)
      CHECK(OP_SWIGLU, OpSwiglu, check_swiglu)
      CHECK(OP_SWIGLU_BACK, OpSwigluBack, check_swiglu_back)
      CHECK(OP_ADD_BIAS, OpAddBias, check_add_bias)
      CHECK(OP_BIAS_BACK, OpBiasBack, check_bias_back)
      CHECK(OP_GATHER_ROWS, OpGatherRows, check_gather_rows)
      CHECK(OP_CACHE_ROWS, OpCacheRows, check_cache_rows)
      CHECK(OP_SCATTER_ADD_ROWS, OpScatterAddRows, check_scatter_add_rows)
      CHECK(OP_HEAD, OpHead, check_head)
      CHECK(OP_HEAD_BACK, OpHeadBack, check_head_back)
      CHECK(OP_LOG_SUM_EXP, OpLogSumExp, check_log_sum_exp)
      CHECK(OP_ADD, OpAdd, check_add)
      CHECK(OP_SCALE, OpScale, check_scale)
      CHECK(OP_FILL, OpFill, check_fill)
      CHECK(OP_COPY_ROWS, OpCopyRows, check_copy_rows)
      CHECK(OP_CONVERT, OpConvert, check_convert)
      CHECK(OP_SUM_SQUARES, OpSumSquares, check_sum_squares)
      CHECK(OP_ADAMW, OpAdamw, check_adamw)
      CHECK(OP_TRAP, OpTrap, check_trap)
      default: return UNKNOWN_OPERATION | code << 8;
    }
  }
  return FINE;
}
