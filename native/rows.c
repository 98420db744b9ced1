// Rows by number, and what is added to every row. Sums over rows are split by columns: one thread, one order.
#include "team.h"
#include "vector.h"

static void run_add_bias(Thread *t, const OpAddBias *op) {
  size_t width = op->width;
  const float *b = floats(t, op->b);
  Range r = share(t, op->rows, 1);
  for (size_t i = r.from; i < r.to; i++) {
    float *y = floats(t, op->y) + i * width;
    for (size_t d = 0; d < width; d++) y[d] += b[d];
  }
}

static void run_bias_back(Thread *t, const OpBiasBack *op) {
  size_t width = op->width;
  float *db = floats(t, op->db);
  Range c = share(t, width, 16);
  for (size_t i = 0; i < (size_t)op->rows; i++) {
    const float *dy = floats(t, op->dy) + i * width;
    for (size_t d = c.from; d < c.to; d++) db[d] += dy[d];
  }
}

static void run_gather_rows(Thread *t, const OpGatherRows *op) {
  size_t width = op->width;
  const int32_t *ids = ints(t, op->ids);
  const float *table = floats(t, op->table);
  Range r = share(t, op->rows, 1);
  for (size_t i = r.from; i < r.to; i++) {
    float *y = floats(t, op->y) + i * width;
    size_t from = ids[i] < 0 ? 0 : (size_t)ids[i] * width;
    if (ids[i] < 0)
      for (size_t d = 0; d < width; d++) y[d] = 0;
    else if (op->type)
      for (size_t d = 0; d < width; d++) y[d] = float_of_bf16(((const uint16_t *)table)[from + d]);
    else
      for (size_t d = 0; d < width; d++) y[d] = table[from + d];
  }
}

static void run_scatter_add_rows(Thread *t, const OpScatterAddRows *op) {
  size_t width = op->width;
  const int32_t *ids = ints(t, op->ids);
  Range c = share(t, width, 16);
  for (size_t i = 0; i < (size_t)op->rows; i++) {
    if (ids[i] < 0) continue;
    const float *x = floats(t, op->x) + i * width;
    float *y = floats(t, op->y) + (size_t)ids[i] * width;
    for (size_t d = c.from; d < c.to; d++) y[d] += x[d];
  }
}

static void run_copy_rows(Thread *t, const OpCopyRows *op) {
  Range r = share(t, op->rows, 1);
  for (size_t i = r.from; i < r.to; i++) {
    const float *x = floats(t, op->x) + i * op->ldx;
    float *y = floats(t, op->y) + i * op->ldy;
    for (size_t d = 0; d < (size_t)op->width; d++) y[d] = x[d];
  }
}
