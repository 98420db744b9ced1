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

// A row's keys and values of one head, into their page.
INLINE void write_row(float *k_cache, float *v_cache, const float *k, const float *v, int slot, int kv_heads, int kv, size_t dim) {
  size_t page = slot / KEYS, at = slot % KEYS, block = (page * kv_heads + kv) * KEYS * dim;
  float *keys = k_cache + block + at, *values = v_cache + block + at * dim;
  for (size_t d = 0; d < dim; d++) {
    keys[d * KEYS] = k[d];
    values[d] = v[d];
  }
}

// Rows belong to threads as those of `rope` do.
static void run_cache_rows(Thread *t, const OpCacheRows *op) {
  size_t dim = op->headDim, width = op->kvHeads * dim;
  const int32_t *slots = ints(t, op->slots);
  Range r = share(t, op->rows, 1);
  for (size_t i = r.from; i < r.to; i++)
    for (int kv = 0; slots[i] >= 0 && kv < op->kvHeads; kv++)
      write_row(floats(t, op->kCache), floats(t, op->vCache), floats(t, op->k) + i * width + kv * dim,
                floats(t, op->v) + i * width + kv * dim, slots[i], op->kvHeads, kv, dim);
}

// Asks for the keys of a page, at most `count` of them.
INLINE void fetch_keys(const float *keys, int count, size_t dim) {
  for (size_t d = 0; d < dim; d++)
    for (int at = 0; at < min_int(count, KEYS); at += 16) FETCH(keys + d * KEYS + at);
}

// One row of one head over pages, bit for bit as `attend`. A block is read once, from far away: its values are asked for before its
// keys are read, the next keys before its values are; in the end those at `next`, which is the first page of what comes after.
static void attend_row(const Memory *m, const Queries *row, const float *next, int next_length, float *scores) {
  size_t dim = m->shape.head_dim;
  const float *q = row->q + row->kv * dim;
  float *out = row->out + row->kv * dim, most = -__builtin_inff(), sum = 0;
  for (int start = 0, block = 0; start < row->first; start += KEYS, block++) {
    int left = row->first - start, count = min_int(KEYS, left);
    const float *k = block_at(m, m->k, 0, block, row->kv), *v = block_at(m, m->v, 0, block, row->kv);
    for (size_t at = 0; at < count * dim; at += 16) FETCH(v + at);
    multiply_row(padded_cols(count), dim, q, k, KEYS, scores, 0);
    float shrink = soften(scores, count, (count + LANES - 1) / LANES * LANES, m->shape.scale, &most, &sum);
    if (start > 0 && shrink != 1)
      for (size_t d = 0; d < dim; d++) out[d] *= shrink;
    if (left > KEYS) fetch_keys(block_at(m, m->k, 0, block + 1, row->kv), left - KEYS, dim);
    else fetch_keys(next, next_length, dim);
    multiply_row(dim, count, scores, v, dim, out, start > 0);
  }
  float inverse = 1 / sum;
  for (size_t d = 0; d < dim; d++) out[d] *= inverse;
}

// Neighbouring rows of one text: the end of those that start with row `from`.
static int group_end(const int32_t *sequences, const int32_t *lengths, int from, int rows) {
  int to = from + 1;
  while (to < rows && to - from < QUERIES && sequences[to] == sequences[from] && lengths[to] == lengths[to - 1] + 1) to++;
  return to;
}

// What one thread has to do: rows of one text, in one head.
typedef struct {
  Memory memory;
  Queries rows;
  int from;
} Piece;

// How far a thread is: the rows and the head to look at next, and keys that all rows and the rows before read.
typedef struct {
  int from, kv;
  double all, before;
} Walk;

// The next piece of a thread; 0 at the end. Each thread has the same texts again and again, as long as the batch is the same, so that
// their keys stay in the cache of its processor; the parts are even in the keys that are read.
static int next_piece(Thread *t, const OpCacheAttention *op, Walk *walk, Piece *piece) {
  size_t ldo = (size_t)op->heads * op->headDim;
  const int32_t *sequences = ints(t, op->sequences), *lengths = ints(t, op->lengths);
  for (int from = walk->from, to; from < op->rows; walk->from = from = to, walk->kv = 0) {
    to = group_end(sequences, lengths, from, op->rows);
    double work = 0;
    for (int i = from; i < to; i++) work += lengths[i];
    while (walk->kv < op->kvHeads) {
      int kv = walk->kv++;
      if ((int)((walk->before + work * (kv + 0.5) / op->kvHeads) * t->count / walk->all) != t->index) continue;
      piece->memory = (Memory){floats(t, op->kCache), floats(t, op->vCache),
                               ints(t, op->pages) + (size_t)sequences[from] * op->ldPages,
                               {op->heads, op->kvHeads, op->headDim, op->scale, ldo, 0, 0}};
      piece->rows = (Queries){floats(t, op->q) + from * ldo, floats(t, op->out) + from * ldo, 0, to - from, lengths[from], kv};
      piece->from = from;
      return 1;
    }
    walk->before += work;
  }
  return 0;
}

static void write_piece(Thread *t, const OpCacheAttention *op, const Piece *piece) {
  size_t dim = op->headDim, width = op->kvHeads * dim;
  int kv = piece->rows.kv;
  for (int i = piece->from; op->slots && i < piece->from + piece->rows.count; i++) {
    int slot = ints(t, op->slots)[i];
    if (slot < 0) continue;
    write_row(floats(t, op->kCache), floats(t, op->vCache), floats(t, op->k) + i * width + kv * dim,
              floats(t, op->v) + i * width + kv * dim, slot, op->kvHeads, kv, dim);
  }
}

// Rows are written all at once: one by one, between the others' products, they would hold these up.
static void run_cache_attention(Thread *t, const OpCacheAttention *op) {
  int is_plain = op->heads == op->kvHeads && op->headDim % TILE_COLS == 0;
  Walk walk = {0};
  for (int i = 0; i < op->rows; i++) walk.all += ints(t, op->lengths)[i];
  Piece piece = {0}, next = {0};
  for (Walk writing = walk; op->slots && next_piece(t, op, &writing, &piece);) write_piece(t, op, &piece);
  int is_there = next_piece(t, op, &walk, &piece);
  while (is_there) {
    is_there = next_piece(t, op, &walk, &next);
    const float *keys = is_there ? block_at(&next.memory, next.memory.k, 0, 0, next.rows.kv) : 0;
    if (piece.rows.count > 1 || !is_plain) attend(&piece.memory, piece.rows, (float *)t->scratch);
    else attend_row(&piece.memory, &piece.rows, keys, is_there ? next.rows.first : 0, (float *)t->scratch);
    piece = next;
  }
}
