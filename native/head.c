// The unembedding with what is wanted of it: log-probabilities of some tokens, and the gradient from theirs. Logits exist for
// some columns at a time, so a vocabulary of 150,000 needs no more memory than one of 2,000.
#include "gemm.h"

// Columns at once. The end of a row of the workspace holds the largest logit so far.
#define COLUMNS (HEAD_CHUNK - 16)
#define MOST (HEAD_CHUNK - 1)

// The sum of exponentials of a row so far, and the largest.
INLINE void add_exponentials(const float *x, size_t n, float *most, float *sum) {
  vec top = splat(*most);
  size_t whole = n / LANES * LANES;
  for (size_t i = 0; i < whole; i += LANES) top = larger(top, load(x + i));
  float now = largest_lane(top);
  for (size_t i = whole; i < n; i++) now = x[i] > now ? x[i] : now;
  vec shift = splat(now), total = {0};
  for (size_t i = 0; i < whole; i += LANES) total += exponential(load(x + i) - shift);
  float rest = 0;
  for (size_t i = whole; i < n; i++) rest += exponential_of(x[i] - now);
  float shrink = *most == now ? 1 : exponential_of(*most - now);
  *sum = *sum * shrink + (sum_lanes(total) + rest);
  *most = now;
}

static void run_log_sum_exp(Thread *t, const OpLogSumExp *op) {
  Range r = share(t, op->rows, 1);
  for (size_t i = r.from; i < r.to; i++) {
    const float *x = floats(t, op->x) + i * op->ldx;
    float most = -__builtin_inff(), sum = 0;
    for (size_t v = 0; v < (size_t)op->width; v += COLUMNS)
      add_exponentials(x + v, min_size(COLUMNS, (size_t)op->width - v), &most, &sum);
    floats(t, op->lse)[i] = most + logarithm(sum);
  }
}

typedef struct {
  const float *x, *x2, *w2;
  const void *w;
  float *logits;
  size_t rows, width, rank;
  int is_half;
} Head;

// logits[rows, count] of the tokens from `first` on; dense in rows of HEAD_CHUNK.
static void chunk_logits(Thread *t, const Head *h, size_t first, size_t count) {
  Right w = {(const char *)h->w + first * h->width * (h->is_half ? 2 : 4), 1, h->width, h->is_half};
  multiply_together(t, h->rows, count, h->width, 1, (Left){h->x, h->width, 1}, w, 0, h->logits, HEAD_CHUNK, 0);
  if (h->rank == 0) return;
  Right w2 = {h->w2 + first * h->rank, 1, h->rank, 0}; // same split, so each thread adds to its own logits
  multiply_together(t, h->rows, count, h->rank, 1, (Left){h->x2, h->rank, 1}, w2, 0, h->logits, HEAD_CHUNK, 1);
}

static void run_head(Thread *t, const OpHead *op) {
  Head h = {floats(t, op->x), floats(t, op->x2), floats(t, op->w2), floats(t, op->w), floats(t, op->work),
            op->rows, op->width, op->rank, op->wType};
  size_t targets = op->targets, vocab = op->vocab;
  const int32_t *ids = ints(t, op->ids);
  float *logprobs = floats(t, op->logprobs), *lse = floats(t, op->lse);
  Range r = share(t, h.rows, 1);
  for (size_t i = r.from; i < r.to; i++) lse[i] = 0; // the sum, until the end
  for (size_t v = 0; v < vocab; v += COLUMNS) {
    size_t count = min_size(COLUMNS, vocab - v);
    chunk_logits(t, &h, v, count);
    barrier(t);
    for (size_t i = r.from; i < r.to; i++) {
      float *x = h.logits + i * HEAD_CHUNK;
      if (v == 0) x[MOST] = -__builtin_inff();
      add_exponentials(x, count, &x[MOST], &lse[i]);
      for (size_t k = i * targets; k < (i + 1) * targets; k++) {
        size_t at = (size_t)ids[k] - v;
        if (ids[k] >= 0 && (size_t)ids[k] >= v && at < count) logprobs[k] = x[at];
      }
    }
    barrier(t);
  }
  for (size_t i = r.from; i < r.to; i++) {
    lse[i] = h.logits[i * HEAD_CHUNK + MOST] + logarithm(lse[i]);
    for (size_t k = i * targets; k < (i + 1) * targets; k++) logprobs[k] = ids[k] < 0 ? 0 : logprobs[k] - lse[i];
  }
}

// Logits become their gradients: sum over targets of g (1[v = id] - p).
static void logits_back(float *x, size_t first, size_t count, float lse, const int32_t *ids, const float *g, size_t targets) {
  float total = 0;
  for (size_t k = 0; k < targets; k++) total += ids[k] < 0 ? 0 : g[k];
  vec factor = splat(-total), shift = splat(lse);
  for (size_t j = 0; j < count; j += LANES) {
    size_t n = count - j;
    store_some(x + j, total == 0 ? splat(0.0f) : factor * exponential(load_some(x + j, n) - shift), n);
  }
  for (size_t k = 0; k < targets; k++)
    if (ids[k] >= 0 && (size_t)ids[k] >= first && (size_t)ids[k] - first < count) x[(size_t)ids[k] - first] += g[k];
}

static void run_head_back(Thread *t, const OpHeadBack *op) {
  Head h = {floats(t, op->x), floats(t, op->x2), floats(t, op->w2), floats(t, op->w), floats(t, op->work),
            op->rows, op->width, op->rank, op->wType};
  size_t targets = op->targets, vocab = op->vocab, size = h.is_half ? 2 : 4;
  const float *lse = floats(t, op->lse), *g = floats(t, op->g);
  Range r = share(t, h.rows, 1);
  for (size_t v = 0; v < vocab; v += COLUMNS) {
    size_t count = min_size(COLUMNS, vocab - v);
    int is_there = op->kept && vocab <= COLUMNS;
    if (!is_there) {
      chunk_logits(t, &h, v, count);
      barrier(t);
    }
    for (size_t i = r.from; i < r.to; i++)
      logits_back(h.logits + i * HEAD_CHUNK, v, count, lse[i], ints(t, op->ids) + i * targets, g + i * targets, targets);
    barrier(t);
    Left rows = {h.logits, HEAD_CHUNK, 1}, columns = {h.logits, 1, HEAD_CHUNK};
    Right w = {(const char *)h.w + v * h.width * size, h.width, 1, h.is_half}, w2 = {h.w2 + v * h.rank, h.rank, 1, 0};
    Right x = {h.x, h.width, 1, 0}, x2 = {h.x2, h.rank, 1, 0};
    multiply_together(t, h.rows, h.width, count, 1, rows, w, 0, floats(t, op->dx), h.width, v > 0);
    if (op->dx2) multiply_together(t, h.rows, h.rank, count, 1, rows, w2, 0, floats(t, op->dx2), h.rank, v > 0);
    if (op->dw)
      multiply_together(t, count, h.width, h.rows, 1, columns, x, 0, floats(t, op->dw) + v * h.width, h.width, 1);
    if (op->dw2) multiply_together(t, count, h.rank, h.rows, 1, columns, x2, 0, floats(t, op->dw2) + v * h.rank, h.rank, 1);
    barrier(t);
  }
}
