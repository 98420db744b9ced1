// The unembedding with what is wanted of it: log-probabilities of some tokens, and the gradient from theirs. Logits exist for
// some columns at a time, so a vocabulary of 150,000 needs no more memory than one of 2,000; where there is room for all of them, they
// stay for the gradient.
#include "gemm.h"

// Columns at once. The end of a row of the workspace holds the largest logit so far.
#define COLUMNS (HEAD_CHUNK - 16)
#define MOST (HEAD_CHUNK - 1)

_Static_assert(COLUMNS % MASS_BLOCK == 0 && MASS_BLOCK % LANES == 0, "blocks");

// The sum of exponentials of a row so far, and the largest; where `masses` are wanted, the sums of blocks as well. Returns how much
// what was summed before shrinks.
INLINE float add_exponentials(const float *x, size_t n, float *most, float *sum, float *masses) {
  vec top = splat(*most);
  size_t whole = n / LANES * LANES;
  for (size_t i = 0; i < whole; i += LANES) top = larger(top, load(x + i));
  float now = largest_lane(top);
  for (size_t i = whole; i < n; i++) now = x[i] > now ? x[i] : now;
  vec shift = splat(now), total = {0}, block = {0};
  for (size_t i = 0; i < whole; i += LANES) {
    vec e = exponential(load(x + i) - shift);
    total += e;
    if (!masses) continue;
    block = i % MASS_BLOCK ? block + e : e;
    if ((i + LANES) % MASS_BLOCK == 0 || i + LANES == whole) masses[i / MASS_BLOCK] = sum_lanes(block);
  }
  float rest = 0;
  for (size_t i = whole; i < n; i++) rest += exponential_of(x[i] - now);
  if (masses && whole < n) masses[whole / MASS_BLOCK] = (whole % MASS_BLOCK ? masses[whole / MASS_BLOCK] : 0) + rest;
  float shrink = *most == now ? 1 : exponential_of(*most - now);
  *sum = *sum * shrink + (sum_lanes(total) + rest);
  *most = now;
  return shrink;
}

// Shares of the blocks of a row: what was summed under a smaller largest logit shrinks with the rest.
static float row_masses(const float *x, size_t width, float *masses) {
  float most = -__builtin_inff(), sum = 0;
  for (size_t v = 0; v < width; v += COLUMNS) {
    float shrink = add_exponentials(x + v, min_size(COLUMNS, width - v), &most, &sum, masses + v / MASS_BLOCK);
    for (size_t b = 0; shrink != 1 && b < v / MASS_BLOCK; b++) masses[b] *= shrink;
  }
  for (size_t b = 0; b * MASS_BLOCK < width; b++) masses[b] *= 1 / sum;
  return most + logarithm(sum);
}

static void run_log_sum_exp(Thread *t, const OpLogSumExp *op) {
  Range r = share(t, op->rows, 1);
  for (size_t i = r.from; i < r.to; i++) {
    const float *x = floats(t, op->x) + i * op->ldx;
    if (op->masses) {
      size_t blocks = ((size_t)op->width + MASS_BLOCK - 1) / MASS_BLOCK;
      floats(t, op->lse)[i] = row_masses(x, op->width, floats(t, op->masses) + i * blocks);
      continue;
    }
    float most = -__builtin_inff(), sum = 0;
    for (size_t v = 0; v < (size_t)op->width; v += COLUMNS)
      add_exponentials(x + v, min_size(COLUMNS, (size_t)op->width - v), &most, &sum, 0);
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
  float *first = h.logits;
  for (size_t v = 0; v < vocab; v += COLUMNS) {
    size_t count = min_size(COLUMNS, vocab - v);
    if (op->whole && v > 0) h.logits += h.rows * HEAD_CHUNK;
    chunk_logits(t, &h, v, count);
    barrier(t);
    for (size_t i = r.from; i < r.to; i++) {
      float *x = h.logits + i * HEAD_CHUNK, *most = first + i * HEAD_CHUNK + MOST;
      if (v == 0) *most = -__builtin_inff();
      add_exponentials(x, count, most, &lse[i], 0);
      for (size_t k = i * targets; k < (i + 1) * targets; k++) {
        size_t at = (size_t)ids[k] - v;
        if (ids[k] >= 0 && (size_t)ids[k] >= v && at < count) logprobs[k] = x[at];
      }
    }
    barrier(t);
  }
  for (size_t i = r.from; i < r.to; i++) {
    lse[i] = first[i * HEAD_CHUNK + MOST] + logarithm(lse[i]);
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
    if (op->whole && v > 0) h.logits += h.rows * HEAD_CHUNK;
    if (!op->kept || !(op->whole || vocab <= COLUMNS)) {
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
