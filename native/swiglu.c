// The gate of the feed-forward part (Shazeer 2020): silu(gate) * up, silu(x) = x sigmoid(x).
#include "team.h"
#include "vector.h"

INLINE vec sigmoid(vec x) { return splat(1.0f) / (splat(1.0f) + exponential(-x)); }

static void run_swiglu(Thread *t, const OpSwiglu *op) {
  const float *gate = floats(t, op->gate), *up = floats(t, op->up);
  float *y = floats(t, op->y);
  Range r = share(t, op->n, 16);
  for (size_t i = r.from; i < r.to; i += LANES) {
    size_t n = r.to - i;
    vec x = load_some(gate + i, n);
    store_some(y + i, x * sigmoid(x) * load_some(up + i, n), n);
  }
}

static void run_swiglu_back(Thread *t, const OpSwigluBack *op) {
  const float *gate = floats(t, op->gate), *up = floats(t, op->up), *dy = floats(t, op->dy);
  float *d_gate = floats(t, op->dGate), *d_up = floats(t, op->dUp);
  Range r = share(t, op->n, 16);
  for (size_t i = r.from; i < r.to; i += LANES) {
    size_t n = r.to - i;
    vec x = load_some(gate + i, n), u = load_some(up + i, n), d = load_some(dy + i, n), s = sigmoid(x);
    store_some(d_gate + i, d * u * s * (splat(1.0f) + x * (splat(1.0f) - s)), n);
    store_some(d_up + i, d * x * s, n);
  }
}
