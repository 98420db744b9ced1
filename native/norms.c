// Root mean square normalisation (Zhang and Sennrich 2019) and its gradient, row by row.
#include "team.h"
#include "vector.h"

static void run_rms_norm(Thread *t, const OpRmsNorm *op) {
  size_t width = op->width;
  const float *w = floats(t, op->w);
  Range r = share(t, op->rows, 1);
  for (size_t i = r.from; i < r.to; i++) {
    const float *x = floats(t, op->x) + i * width;
    float *y = floats(t, op->y) + i * width;
    vec squares = {0};
    for (size_t d = 0; d < width; d += LANES) {
      vec v = load_some(x + d, width - d);
      squares = multiply_add(v, v, squares);
    }
    float scale = 1 / __builtin_sqrtf(sum_lanes(squares) / (float)width + op->eps);
    if (op->scale) floats(t, op->scale)[i] = scale;
    vec factor = splat(scale);
    for (size_t d = 0; d < width; d += LANES)
      store_some(y + d, load_some(w + d, width - d) * (load_some(x + d, width - d) * factor), width - d);
  }
}

// With s = 1 / rms: dx = s w dy - x s^3 / n * sum(x w dy).
static void run_rms_norm_back(Thread *t, const OpRmsNormBack *op) {
  size_t width = op->width, rows = op->rows;
  const float *w = floats(t, op->w), *scale = floats(t, op->scale);
  if (op->dw) {
    // A thread has columns, over all rows: one order of sums.
    Range c = share(t, width, 16);
    float *dw = floats(t, op->dw);
    for (size_t i = 0; i < rows; i++) {
      const float *x = floats(t, op->x) + i * width, *dy = floats(t, op->dy) + i * width;
      vec factor = splat(scale[i]);
      for (size_t d = c.from; d < c.to; d += LANES) {
        size_t n = c.to - d;
        store_some(dw + d, multiply_add(load_some(dy + d, n), load_some(x + d, n) * factor, load_some(dw + d, n)), n);
      }
    }
    barrier(t); // dx may lie where dy does
  }
  Range r = share(t, rows, 1);
  for (size_t i = r.from; i < r.to; i++) {
    const float *x = floats(t, op->x) + i * width, *dy = floats(t, op->dy) + i * width;
    float *dx = floats(t, op->dx) + i * width;
    vec sum = {0};
    for (size_t d = 0; d < width; d += LANES) {
      size_t n = width - d;
      sum = multiply_add(load_some(dy + d, n) * load_some(w + d, n), load_some(x + d, n), sum);
    }
    float s = scale[i];
    vec factor = splat(s), pull = splat(sum_lanes(sum) * s * s * s / (float)width);
    for (size_t d = 0; d < width; d += LANES) {
      size_t n = width - d;
      vec back = load_some(dy + d, n) * load_some(w + d, n) * factor - load_some(x + d, n) * pull;
      store_some(dx + d, op->accumulate ? load_some(dx + d, n) + back : back, n);
    }
  }
}
