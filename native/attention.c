// Causal attention in blocks of keys, with the softmax carried along (Dao et al. 2022). Blocks start at the first position of a text
// and have a fixed length, so the numbers of a row do not depend on how many rows are computed together, or where the keys lie.
#include "attention.h"

// Blocks of keys and values: rows of one text that lie one after the other; or pages, where each head has its keys as columns and its
// values as rows, so that both are read as they lie.
typedef struct {
  const float *k, *v;
  const int32_t *pages; // or none
  Shape shape;
} Memory;

// How the products read a block: panels of columns, and the distance of rows in a panel.
typedef struct {
  const float *data;
  size_t panel, step;
} Block;

INLINE const float *block_at(const Memory *m, const float *data, size_t ld, int block, int kv) {
  size_t dim = m->shape.head_dim;
  if (m->pages) return data + ((size_t)m->pages[block] * m->shape.kv_heads + kv) * KEYS * dim;
  return data + (size_t)block * KEYS * ld + kv * dim;
}

INLINE Block keys_at(const Memory *m, int block, int kv, int count, float *copy) {
  size_t dim = m->shape.head_dim, ld = m->shape.ldk;
  const float *k = block_at(m, m->k, ld, block, kv);
  if (m->pages) return (Block){k, TILE_COLS, KEYS};
  pack_right(copy, (Right){k, 1, ld, 0}, count, dim);
  return (Block){copy, dim * TILE_COLS, TILE_COLS};
}

// A copy of values that lie apart pays for many rows only.
INLINE Block values_at(const Memory *m, int block, int kv, int count, int rows, float *copy) {
  size_t dim = m->shape.head_dim, step = m->pages ? dim : m->shape.ldv;
  const float *v = block_at(m, m->v, m->shape.ldv, block, kv);
  if (dim % TILE_COLS == 0 && (m->pages || rows <= 2)) {
    for (size_t at = 0; rows == 1 && at < count * step; at += 16) FETCH(v + at);
    return (Block){v, TILE_COLS, step};
  }
  pack_right(copy, (Right){v, step, 1, 0}, dim, count);
  return (Block){copy, (size_t)count * TILE_COLS, TILE_COLS};
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

// The heads of a group are the rows of one product where there is a single query, as in drawing samples; else each has its own.
static void attend(const Memory *m, Queries rows, float *scratch) {
  const Shape *shape = &m->shape;
  int dim = shape->head_dim, group = shape->heads / shape->kv_heads, is_single = rows.count == 1;
  int passes = is_single ? 1 : group, lines = is_single ? group : rows.count;
  size_t ldo = (size_t)shape->heads * dim, q_step = is_single ? (size_t)dim : shape->ldq, out_step = is_single ? (size_t)dim : ldo;
  float *copy = scratch, *values = copy + KEYS * MAX_HEAD_DIM, *scores = values + KEYS * MAX_HEAD_DIM;
  float *most = scores + QUERIES * KEYS, *sums = most + MAX_GROUP * QUERIES;
  for (int i = 0; i < group * rows.count; i++) {
    most[i] = -__builtin_inff();
    sums[i] = 0;
  }
  int longest = rows.first + rows.count - 1;
  for (int start = 0, block = 0; start < longest; start += KEYS, block++) {
    int count = min_int(KEYS, longest - start);
    Block v = values_at(m, block, rows.kv, count, rows.count, values), k = keys_at(m, block, rows.kv, count, copy);
    // The first rows may see nothing of this block, others a part: a tile of rows reads what its last row sees.
    int skip = is_single ? 0 : max_int(0, start + 1 - rows.first);
    for (int g = 0; g < passes; g++)
      for (int from = skip, high; from < lines; from += high) {
        high = (int)tile_height((size_t)(lines - from));
        int head = rows.kv * group + g, first = rows.first + (is_single ? 0 : from), last = is_single ? first : first + high - 1;
        int seen = min_int(count, last - start), wide = (seen + LANES - 1) / LANES * LANES;
        const float *q = rows.q + (size_t)head * dim + from * q_step;
        float *out = rows.out + (size_t)head * dim + from * out_step;
        multiply_strided(DIRECT, high, padded_cols(seen), dim, (Left){q, q_step, 1}, k.data, k.panel, k.step, scores, KEYS, 0);
        for (int i = 0; i < high; i++) {
          int at = g * rows.count + from + i, visible = min_int((is_single ? first : first + i) - start, KEYS);
          float shrink = soften(scores + (size_t)i * KEYS, visible, wide, shape->scale, most + at, sums + at);
          if (start > 0 && shrink != 1)
            for (int d = 0; d < dim; d++) out[i * out_step + d] *= shrink;
        }
        multiply_strided(DIRECT, high, dim, seen, (Left){scores, KEYS, 1}, v.data, v.panel, v.step, out, out_step, start > 0);
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

// Rows belong to threads as those of `rope` do.
static void run_cache_rows(Thread *t, const OpCacheRows *op) {
  size_t dim = op->headDim, width = op->kvHeads * dim;
  const int32_t *slots = ints(t, op->slots);
  Range r = share(t, op->rows, 1);
  for (size_t i = r.from; i < r.to; i++) {
    if (slots[i] < 0) continue;
    size_t page = slots[i] / KEYS, at = slots[i] % KEYS;
    for (int head = 0; head < op->kvHeads; head++) {
      const float *k = floats(t, op->k) + i * width + head * dim, *v = floats(t, op->v) + i * width + head * dim;
      size_t block = (page * op->kvHeads + head) * KEYS * dim;
      float *keys = floats(t, op->kCache) + block + at, *values = floats(t, op->vCache) + block + at * dim;
      for (size_t d = 0; d < dim; d++) {
        keys[d * KEYS] = k[d];
        values[d] = v[d];
      }
    }
  }
}

static void run_cache_attention(Thread *t, const OpCacheAttention *op) {
  size_t ldo = (size_t)op->heads * op->headDim;
  Shape shape = {op->heads, op->kvHeads, op->headDim, op->scale, ldo, 0, 0};
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
