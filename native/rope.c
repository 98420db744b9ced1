// Rotary position embedding (Su et al. 2021) from tables of cosines and sines; pairs are (i, i + half).
#include "team.h"
#include "vector.h"

static void run_rope(Thread *t, const OpRope *op) {
  size_t half = (size_t)op->headDim / 2;
  const int32_t *positions = ints(t, op->positions);
  vec direction = splat(op->inverse ? -1.0f : 1.0f);
  Range r = share(t, op->rows, 1);
  for (size_t i = r.from; i < r.to; i++) {
    const float *cosines = floats(t, op->cos) + (size_t)positions[i] * half;
    const float *sines = floats(t, op->sin) + (size_t)positions[i] * half;
    for (int head = 0; head < op->heads; head++) {
      float *a = floats(t, op->x) + i * op->ldx + (size_t)head * op->headDim, *b = a + half;
      for (size_t d = 0; d < half; d += LANES) {
        size_t n = half - d;
        vec c = load_some(cosines + d, n), s = load_some(sines + d, n) * direction;
        vec x = load_some(a + d, n), y = load_some(b + d, n);
        store_some(a + d, x * c - y * s, n);
        store_some(b + d, y * c + x * s, n);
      }
    }
  }
}
