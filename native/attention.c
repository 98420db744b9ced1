// Causal attention in blocks of keys, with the softmax carried along (Dao et al. 2022). Blocks start at the first position of a text
// and have a fixed length, so the numbers of a row do not depend on how many rows are computed together, or where the keys lie.
#include "attention.h"

// Blocks of keys and values: rows of one text that lie one after the other, or in pages.
typedef struct {
  const float *k, *v;
  const int32_t *pages; // or none
  Shape shape;
} Memory;

INLINE const float *block_at(const Memory *m, const float *data, size_t ld, int block, int kv) {
  size_t row = m->pages ? (size_t)m->pages[block] * KEYS : (size_t)block * KEYS;
  return data + row * ld + (size_t)kv * m->shape.head_dim;
}

// Scores of one row against a block become weights exp(s - most), zeros from `visible` to `wide`; returns how much what was summed
// before shrinks.
static float soften(float *s, int visible, int wide, float scale, float *most, float *sum) {
  vec top = splat(*most), factor = splat(scale);
  const float nothing = -__builtin_inff();
  for (int j = max_int(visible, 0); j < wide; j++) s[j] = nothing;
  for (int j = 0; j < wide; j += LANES) {
    vec x = load(s + j) * factor;
    store(s + j, x);
    top = larger(top, x);
  }
  float now = largest_lane(top);
  if (now == nothing) now = 0; // nothing seen yet: weights below are all exp(-infinity)
  vec shift = splat(now), total = {0};
  for (int j = 0; j < wide; j += LANES) {
    vec e = exponential(load(s + j) - shift);
    store(s + j, e);
    total += e;
  }
  float shrink = exponential_of(*most - now);
  *sum = *sum * shrink + sum_lanes(total);
  *most = now;
  return shrink;
}

// `count` rows of the heads of one group; row i sees `first` + i keys. out and lse lie as [row, heads, ...].
typedef struct {
  const float *q;
  float *out, *lse;
  int count, first, kv;
} Queries;

static void attend(const Memory *m, Queries rows, float *scratch) {
  const Shape *shape = &m->shape;
  int dim = shape->head_dim, group = shape->heads / shape->kv_heads;
  size_t ldo = (size_t)shape->heads * dim;
  float *keys = scratch, *values = keys + KEYS * MAX_HEAD_DIM, *scores = values + KEYS * MAX_HEAD_DIM;
  float *most = scores + QUERIES * KEYS, *sums = most + MAX_GROUP * QUERIES;
  for (int i = 0; i < group * rows.count; i++) {
    most[i] = -__builtin_inff();
    sums[i] = 0;
  }
  int longest = rows.first + rows.count - 1;
  // A copy of the values pays for many rows only.
  int copies = rows.count > 2 || dim % TILE_COLS != 0;
  for (int start = 0, block = 0; start < longest; start += KEYS, block++) {
    int count = min_int(KEYS, longest - start);
    pack_right(keys, (Right){block_at(m, m->k, shape->ldk, block, rows.kv), 1, shape->ldk, 0}, count, dim);
    const float *v = block_at(m, m->v, shape->ldv, block, rows.kv);
    size_t panel = TILE_COLS, step = shape->ldv;
    if (copies) {
      pack_right(values, (Right){v, shape->ldv, 1, 0}, dim, count);
      v = values, panel = (size_t)count * TILE_COLS, step = TILE_COLS;
    }
    // The first rows may see nothing of this block, others a part: a tile of rows reads what its last row sees.
    int skip = max_int(0, start + 1 - rows.first);
    for (int g = 0; g < group; g++)
      for (int from = skip; from < rows.count; from += TILE_ROWS) {
        int head = rows.kv * group + g, high = min_int(TILE_ROWS, rows.count - from);
        int seen = min_int(count, rows.first + from + high - 1 - start), wide = (seen + LANES - 1) / LANES * LANES;
        const float *q = rows.q + (size_t)from * shape->ldq + (size_t)head * dim;
        float *out = rows.out + (size_t)from * ldo + (size_t)head * dim;
        multiply_panels(DIRECT, high, padded_cols(seen), dim, (Left){q, shape->ldq, 1}, keys, (size_t)dim * TILE_COLS, scores, KEYS, 0);
        for (int i = 0; i < high; i++) {
          int at = g * rows.count + from + i;
          int visible = min_int(rows.first + from + i - start, KEYS);
          float shrink = soften(scores + (size_t)i * KEYS, visible, wide, shape->scale, most + at, sums + at);
          if (start > 0 && shrink != 1)
            for (int d = 0; d < dim; d++) out[(size_t)i * ldo + d] *= shrink;
        }
        multiply_strided(DIRECT, high, dim, seen, (Left){scores, KEYS, 1}, v, panel, step, out, ldo, start > 0);
      }
  }
  for (int g = 0; g < group; g++)
    for (int i = 0; i < rows.count; i++) {
      int head = rows.kv * group + g, at = g * rows.count + i;
      float *out = rows.out + (size_t)i * ldo + (size_t)head * dim;
      float inverse = 1 / sums[at];
      for (int d = 0; d < dim; d++) out[d] *= inverse;
      if (rows.lse) rows.lse[(size_t)i * shape->heads + head] = most[at] + logarithm(sums[at]);
    }
}

static void run_attention(Thread *t, const OpAttention *op) {
  Shape shape = {op->heads, op->kvHeads, op->headDim, op->scale, op->ldq, op->ldk, op->ldv};
  const int32_t *starts = ints(t, op->starts);
  size_t ldo = (size_t)op->heads * op->headDim;
  int task = next_task(t), number = 0;
  for (int s = 0; s < op->segments; s++) {
    int length = starts[s + 1] - starts[s];
    size_t row = starts[s];
    Memory memory = {floats(t, op->k) + row * op->ldk, floats(t, op->v) + row * op->ldv, 0, shape};
    // The last rows first: they have most to do.
    for (int tile = (length - 1 + QUERIES) / QUERIES - 1; tile >= 0; tile--)
      for (int kv = 0; kv < op->kvHeads; kv++, number++) {
        if (number != task) continue;
        int from = tile * QUERIES;
        size_t at = row + from;
        Queries rows = {floats(t, op->q) + at * op->ldq, floats(t, op->out) + at * ldo, floats(t, op->lse) + at * op->heads,
                        min_int(QUERIES, length - from), from + 1, kv};
        attend(&memory, rows, (float *)t->scratch);
        task = next_task(t);
      }
  }
}

static void run_cache_attention(Thread *t, const OpCacheAttention *op) {
  size_t ldk = (size_t)op->kvHeads * op->headDim, ldo = (size_t)op->heads * op->headDim;
  Shape shape = {op->heads, op->kvHeads, op->headDim, op->scale, ldo, ldk, ldk};
  const int32_t *sequences = ints(t, op->sequences), *lengths = ints(t, op->lengths);
  int task = next_task(t), number = 0;
  for (int from = 0, to; from < op->rows; from = to) {
    to = from + 1;
    while (to < op->rows && to - from < QUERIES && sequences[to] == sequences[from] && lengths[to] == lengths[to - 1] + 1) to++;
    for (int kv = 0; kv < op->kvHeads; kv++, number++) {
      if (number != task) continue;
      Memory memory = {floats(t, op->kCache), floats(t, op->vCache),
                       ints(t, op->pages) + (size_t)sequences[from] * op->ldPages, shape};
      Queries rows = {floats(t, op->q) + from * ldo, floats(t, op->out) + from * ldo, 0, to - from, lengths[from], kv};
      attend(&memory, rows, (float *)t->scratch);
      task = next_task(t);
    }
  }
}
