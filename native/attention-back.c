// Gradients of causal attention. Weights are computed again from the kept log-sum-exp. A task has all sums of its outputs, so each has
// one order, however the work is cut.
#include "attention.h"

typedef struct {
  const float *q, *k, *v, *d_out, *lse, *mean;
  float *dq, *dk, *dv;
  Shape shape;
  int length, kv;
  int keys_from, keys_to, rows_from, rows_to; // what it reads, starts at multiples of KEYS
  int wants_q, wants_kv;
} BackTask;

// From scores and dOut v: weights p = exp(scale s - lse) and dScores = scale p (dp - mean of dp), row by row; both are zeros from
// `visible` on. Scores are there up to `wide`.
static void weigh(float *scores, float *dp, int visible, int wide, float scale, float lse, float mean) {
  vec factor = splat(scale), shift = splat(lse), middle = splat(mean);
  for (int j = 0; j < wide; j += LANES) store(scores + j, exponential(load(scores + j) * factor - shift));
  for (int j = visible; j < KEYS; j++) scores[j] = 0;
  for (int j = 0; j < wide; j += LANES) store(dp + j, load(scores + j) * (load(dp + j) - middle) * factor);
  for (int j = wide; j < KEYS; j++) dp[j] = 0;
}

static void attend_back(BackTask task, float *scratch) {
  const Shape *shape = &task.shape;
  int dim = shape->head_dim, group = shape->heads / shape->kv_heads;
  size_t wide = padded_cols(dim), ldo = (size_t)shape->heads * dim, ldd = (size_t)shape->kv_heads * dim;
  size_t kv = (size_t)task.kv * dim;
  float *keys_t = scratch, *values_t = keys_t + KEYS * wide, *keys = values_t + KEYS * wide;
  float *q_rows = keys + KEYS * wide, *d_out_rows = q_rows + QUERIES * wide;
  float *scores = d_out_rows + QUERIES * wide, *dp = scores + QUERIES * KEYS;
  for (int start = task.keys_from; start < task.keys_to; start += KEYS) {
    int count = min_int(KEYS, task.length - start);
    const float *k = task.k + start * shape->ldk + kv, *v = task.v + start * shape->ldv + kv;
    float *dk = task.dk + start * ldd + kv, *dv = task.dv + start * ldd + kv;
    pack_right(keys_t, (Right){k, 1, shape->ldk, 0}, count, dim);
    pack_right(values_t, (Right){v, 1, shape->ldv, 0}, count, dim);
    pack_right(keys, (Right){k, shape->ldk, 1, 0}, dim, count);
    int adds = 0;
    for (int from = max_int(start, task.rows_from); from < task.rows_to; from += QUERIES) {
      int rows = min_int(QUERIES, task.rows_to - from);
      for (int g = 0; g < group; g++, adds = 1) {
        size_t head = (size_t)task.kv * group + g;
        const float *q = task.q + from * shape->ldq + head * dim, *d_out = task.d_out + from * ldo + head * dim;
        size_t panel = (size_t)dim * TILE_COLS, tall = (size_t)rows * TILE_COLS;
        // A tile of rows reads what its last row sees.
        for (int i = 0; i < rows; i += TILE_ROWS) {
          int high = min_int(TILE_ROWS, rows - i), seen = min_int(count, from + i + high - start);
          float *s = scores + i * KEYS, *d = dp + i * KEYS;
          Left query = {q + i * shape->ldq, shape->ldq, 1}, gradient = {d_out + i * ldo, ldo, 1};
          multiply_panels(DIRECT, high, padded_cols(seen), dim, query, keys_t, panel, s, KEYS, 0);
          multiply_panels(DIRECT, high, padded_cols(seen), dim, gradient, values_t, panel, d, KEYS, 0);
          for (int x = 0; x < high; x++) {
            size_t at = (size_t)(from + i + x) * shape->heads + head;
            weigh(s + x * KEYS, d + x * KEYS, min_int(from + i + x + 1 - start, KEYS), (seen + LANES - 1) / LANES * LANES,
                  shape->scale, task.lse[at], task.mean[at]);
          }
          if (!task.wants_q) continue;
          multiply_panels(DIRECT, high, dim, seen, (Left){d, KEYS, 1}, keys, (size_t)count * TILE_COLS,
                          task.dq + (from + i) * ldo + head * dim, ldo, start > 0);
        }
        if (!task.wants_kv) continue;
        pack_right(q_rows, (Right){q, shape->ldq, 1, 0}, dim, rows);
        pack_right(d_out_rows, (Right){d_out, ldo, 1, 0}, dim, rows);
        // A tile of keys starts at the first row that sees it.
        for (int j = 0; j < count; j += TILE_ROWS) {
          int high = min_int(TILE_ROWS, count - j), first = max_int(0, start + j - from), deep = rows - first;
          size_t skip = (size_t)first * TILE_COLS, at = (size_t)first * KEYS + j;
          multiply_panels(DIRECT, high, dim, deep, (Left){scores + at, 1, KEYS}, d_out_rows + skip, tall, dv + j * ldd, ldd, adds);
          multiply_panels(DIRECT, high, dim, deep, (Left){dp + at, 1, KEYS}, q_rows + skip, tall, dk + j * ldd, ldd, adds);
        }
      }
    }
  }
}

static void run_attention_back(Thread *t, const OpAttentionBack *op) {
  Shape shape = {op->heads, op->kvHeads, op->headDim, op->scale, op->ldq, op->ldk, op->ldv};
  const int32_t *starts = ints(t, op->starts);
  size_t dim = op->headDim, ldo = (size_t)op->heads * dim, ldd = (size_t)op->kvHeads * dim;
  const float *out = floats(t, op->out), *d_out = floats(t, op->dOut);
  float *mean = floats(t, op->work);
  // The mean of dp under the weights is dOut out.
  size_t first = (size_t)starts[0] * op->heads;
  Range r = share(t, (size_t)starts[op->segments] * op->heads - first, 16);
  for (size_t i = first + r.from; i < first + r.to; i++) {
    vec sum = {0};
    for (size_t d = 0; d < dim; d += LANES)
      sum = multiply_add(load_some(d_out + i * dim + d, dim - d), load_some(out + i * dim + d, dim - d), sum);
    mean[i] = sum_lanes(sum);
  }
  barrier(t);
  // A text and a head of its keys at a time, where that keeps all threads busy; else dk, dv by blocks of keys and dq by blocks of
  // rows, which computes the weights twice.
  int is_fine = op->segments * op->kvHeads < 2 * t->count && t->count > 1;
  int task = next_task(t), number = 0;
  for (int s = 0; s < op->segments; s++) {
    size_t row = starts[s];
    int length = starts[s + 1] - starts[s], blocks = (length + KEYS - 1) / KEYS, tiles = (length + QUERIES - 1) / QUERIES;
    for (int kv = 0; kv < op->kvHeads; kv++)
      for (int part = 0; part < (is_fine ? blocks + tiles : 1); part++, number++) {
        if (number != task) continue;
        BackTask each = {floats(t, op->q) + row * op->ldq, floats(t, op->k) + row * op->ldk, floats(t, op->v) + row * op->ldv,
                         d_out + row * ldo, floats(t, op->lse) + row * op->heads, mean + row * op->heads,
                         floats(t, op->dq) + row * ldo, floats(t, op->dk) + row * ldd, floats(t, op->dv) + row * ldd, shape,
                         length, kv, 0, length, 0, length, 1, 1};
        if (is_fine && part < blocks) {
          each.wants_q = 0;
          each.keys_from = part * KEYS;
          each.keys_to = min_int(length, (part + 1) * KEYS);
        } else if (is_fine) {
          each.wants_kv = 0;
          each.rows_from = (part - blocks) * QUERIES;
          each.rows_to = min_int(length, each.rows_from + QUERIES);
          each.keys_to = each.rows_to;
        }
        attend_back(each, (float *)t->scratch);
        task = next_task(t);
      }
  }
}
