// AdamW (Loshchilov and Hutter 2019). What depends on the step alone is computed by the caller, in double precision.
#include "team.h"

static void run_adamw(Thread *t, const OpAdamw *op) {
  float *p = floats(t, op->p), *m = floats(t, op->m), *v = floats(t, op->v);
  const float *g = floats(t, op->g);
  Range r = share(t, op->n, 16);
  for (size_t i = r.from; i < r.to; i++) {
    float gradient = op->gradScale * g[i];
    float first = op->beta1 * m[i] + op->rest1 * gradient;
    float second = op->beta2 * v[i] + op->rest2 * gradient * gradient;
    m[i] = first;
    v[i] = second;
    // One difference at the end: 1 - lr decay has no room in a float beside 1.
    p[i] -= op->decay * p[i] + op->rate * first / (op->secondScale * __builtin_sqrtf(second) + op->eps);
  }
}
