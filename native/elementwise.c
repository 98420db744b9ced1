// Operations on n elements that stand for themselves.
#include "team.h"
#include "vector.h"

static void run_add(Thread *t, const OpAdd *op) {
  float *y = floats(t, op->y);
  const float *x = floats(t, op->x);
  vec alpha = splat(op->alpha);
  Range r = share(t, op->n, 16);
  for (size_t i = r.from; i < r.to; i += LANES) {
    size_t n = r.to - i;
    store_some(y + i, multiply_add(alpha, load_some(x + i, n), load_some(y + i, n)), n);
  }
}

static void run_scale(Thread *t, const OpScale *op) {
  float *y = floats(t, op->y);
  Range r = share(t, op->n, 16);
  for (size_t i = r.from; i < r.to; i++) y[i] *= op->alpha;
}

static void run_fill(Thread *t, const OpFill *op) {
  float *y = floats(t, op->y);
  Range r = share(t, op->n, 16);
  for (size_t i = r.from; i < r.to; i++) y[i] = op->value;
}

static void run_convert(Thread *t, const OpConvert *op) {
  const float *x = floats(t, op->x);
  float *y = floats(t, op->y);
  const uint16_t *half = (const uint16_t *)x;
  uint16_t *to_half = (uint16_t *)y;
  Range r = share(t, op->n, 32);
  if (op->xType && op->yType)
    for (size_t i = r.from; i < r.to; i++) to_half[i] = half[i];
  else if (op->xType)
    for (size_t i = r.from; i < r.to; i++) y[i] = float_of_bf16(half[i]);
  else if (op->yType)
    for (size_t i = r.from; i < r.to; i++) to_half[i] = bf16_of_float(x[i]);
  else
    for (size_t i = r.from; i < r.to; i++) y[i] = x[i];
}

static void run_sum_squares(Thread *t, const OpSumSquares *op) {
  const float *x = floats(t, op->x);
  double sums[16] = {0};
  Range r = share(t, op->n, 16);
  size_t i = r.from;
  for (; i + 16 <= r.to; i += 16)
    for (int k = 0; k < 16; k++) sums[k] += (double)x[i + k] * (double)x[i + k];
  for (; i < r.to; i++) sums[i % 16] += (double)x[i] * (double)x[i];
  double own = 0;
  for (int k = 0; k < 16; k++) own += sums[k];
  t->team->partial[t->index] = own;
  barrier(t);
  if (t->index != 0) return;
  double *sum = (double *)floats(t, op->sum), total = op->accumulate ? *sum : 0;
  for (int k = 0; k < t->count; k++) total += t->team->partial[k];
  *sum = total;
}
