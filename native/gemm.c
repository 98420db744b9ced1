// c[m, n] = c + a b. Every element is one chain of multiply-adds, k upwards: blocks of k go through memory in between, which changes
// nothing. So no element depends on tiles, threads or neighbours.
#include "gemm.h"

// One tile of `rows` x TILE_COLS sums over `depth`, of `rows` known to the compiler. What is summed next is
// fetched on the way, from `next` on, `pace` bytes at a step.
INLINE void sum_tile(const int rows, const int is_half, int depth, const float *a, size_t row, size_t col, const void *b,
                     size_t step, float *c, size_t ldc, int adds, const char *next, size_t pace) {
  vec sums[TILE_ROWS][2];
  const float *floats = b;
  const uint16_t *halves = b;
  UNROLLED for (int i = 0; i < rows; i++) {
    sums[i][0] = adds ? load(c + i * ldc) : (vec){0};
    sums[i][1] = adds ? load(c + i * ldc + LANES) : (vec){0};
  }
  NOT_UNROLLED for (int k = 0; k < depth; k++, a += col, floats += step, halves += step) {
    vec b0 = is_half ? load_bf16(halves) : load(floats), b1 = is_half ? load_bf16(halves + LANES) : load(floats + LANES);
    FETCH(next + k * pace);
    UNROLLED for (int i = 0; i < rows; i++) {
      vec x = splat(a[i * row]);
      sums[i][0] = multiply_add(x, b0, sums[i][0]);
      sums[i][1] = multiply_add(x, b1, sums[i][1]);
    }
  }
  UNROLLED for (int i = 0; i < rows; i++) {
    store(c + i * ldc, sums[i][0]);
    store(c + i * ldc + LANES, sums[i][1]);
  }
}

// Functions of their own, by rows: V8 keeps the sums in registers in small functions only. `packed` is over an `a` copied for tiles,
// where neighbours in a column lie side by side; `direct` and `half` over an `a` as it lies.
typedef void Tile(int depth, const float *a, size_t row, size_t col, const void *b, size_t step, float *c, size_t ldc, int adds,
                  const char *next, size_t pace);

#define TILES(rows) \
  NOINLINE void packed_##rows(int depth, const float *a, size_t row, size_t col, const void *b, size_t step, float *c, size_t ldc, \
                              int adds, const char *next, size_t pace) { \
    (void)row, (void)col, (void)step; \
    sum_tile(rows, 0, depth, a, 1, TILE_ROWS, b, TILE_COLS, c, ldc, adds, next, pace); \
  } \
  NOINLINE void direct_##rows(int depth, const float *a, size_t row, size_t col, const void *b, size_t step, float *c, size_t ldc, \
                              int adds, const char *next, size_t pace) { \
    if (col == 1) sum_tile(rows, 0, depth, a, row, 1, b, step, c, ldc, adds, next, pace); \
    else sum_tile(rows, 0, depth, a, row, col, b, step, c, ldc, adds, next, pace); \
  } \
  NOINLINE void half_##rows(int depth, const float *a, size_t row, size_t col, const void *b, size_t step, float *c, size_t ldc, \
                            int adds, const char *next, size_t pace) { \
    (void)step; \
    sum_tile(rows, 1, depth, a, row, col, b, TILE_COLS, c, ldc, adds, next, pace); \
  }

#if TILE_ROWS == 4
#define EACH_ROWS(of) of(1) of(2) of(3) of(4)
#elif TILE_ROWS == 6
#define EACH_ROWS(of) of(1) of(2) of(3) of(4) of(5) of(6)
#elif TILE_ROWS == 8
#define EACH_ROWS(of) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8)
#else
#define EACH_ROWS(of) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8) of(9) of(10) of(11) of(12)
#endif

EACH_ROWS(TILES)
#define PACKED_NAME(rows) packed_##rows,
#define DIRECT_NAME(rows) direct_##rows,
#define HALF_NAME(rows) half_##rows,
static Tile *const tiles[3][TILE_ROWS] = {{EACH_ROWS(PACKED_NAME)}, {EACH_ROWS(DIRECT_NAME)}, {EACH_ROWS(HALF_NAME)}};

typedef enum { PACKED, DIRECT, HALF } TileKind; // numbers of rows in `tiles`

// One or two rows over several panels at once: one tile of them would wait for its own sums at each step.
INLINE void sum_panels(const int rows, const int panels, const int is_half, int depth, Left a, const void *b, size_t panel,
                       size_t step, float *c, size_t ldc, int adds) {
  vec sums[2][8];
  UNROLLED for (int i = 0; i < rows; i++)
    UNROLLED for (int j = 0; j < 2 * panels; j++) sums[i][j] = adds ? load(c + i * ldc + j * LANES) : (vec){0};
  for (int k = 0; k < depth; k++) {
    UNROLLED for (int j = 0; j < 2 * panels; j++) {
      size_t at = j / 2 * panel + k * step + j % 2 * LANES;
      vec x = is_half ? load_bf16((const uint16_t *)b + at) : load((const float *)b + at);
      UNROLLED for (int i = 0; i < rows; i++) sums[i][j] = multiply_add(splat(a.data[i * a.row + k * a.col]), x, sums[i][j]);
    }
  }
  UNROLLED for (int i = 0; i < rows; i++)
    UNROLLED for (int j = 0; j < 2 * panels; j++) store(c + i * ldc + j * LANES, sums[i][j]);
}

// Does as many columns as come in groups of panels, and returns how many.
static size_t multiply_few(int is_half, size_t rows, size_t cols, size_t depth, Left a, const void *b, size_t panel, size_t step,
                           float *c, size_t ldc, int adds) {
  size_t group = (rows == 1 ? 4 : 2) * TILE_COLS, j = 0;
  for (; j + group <= cols; j += group) {
    const void *from = (const char *)b + j / TILE_COLS * panel * (is_half ? 2 : 4);
    if (rows == 1 && is_half) sum_panels(1, 4, 1, (int)depth, a, from, panel, step, c + j, ldc, adds);
    else if (rows == 1) sum_panels(1, 4, 0, (int)depth, a, from, panel, step, c + j, ldc, adds);
    else if (is_half) sum_panels(2, 2, 1, (int)depth, a, from, panel, step, c + j, ldc, adds);
    else sum_panels(2, 2, 0, (int)depth, a, from, panel, step, c + j, ldc, adds);
  }
  return j;
}

// One row over columns in whole panels that lie side by side.
static void multiply_row(size_t cols, size_t depth, const float *a, const float *b, size_t step, float *c, int adds) {
  Left row = {a, 0, 1};
  for (size_t j = 0; j < cols; j += 4 * TILE_COLS) {
    size_t panels = (cols - j) / TILE_COLS;
    if (panels >= 4) sum_panels(1, 4, 0, (int)depth, row, b + j, TILE_COLS, step, c + j, 0, adds);
    else if (panels == 3) sum_panels(1, 3, 0, (int)depth, row, b + j, TILE_COLS, step, c + j, 0, adds);
    else if (panels == 2) sum_panels(1, 2, 0, (int)depth, row, b + j, TILE_COLS, step, c + j, 0, adds);
    else sum_panels(1, 1, 0, (int)depth, row, b + j, TILE_COLS, step, c + j, 0, adds);
  }
}

// A tile at the right edge has its sums beside the matrix; its first `cols` columns count.
static void sum_at(TileKind kind, int rows, int cols, int depth, Left a, const void *b, size_t step, float *c, size_t ldc,
                   int adds, const char *next, size_t pace) {
  float edge[TILE_ROWS * TILE_COLS];
  float *to = c;
  size_t stride = ldc;
  if (cols < TILE_COLS) {
    to = edge;
    stride = TILE_COLS;
    for (int i = 0; adds && i < rows; i++)
      for (int j = 0; j < TILE_COLS; j++) edge[i * TILE_COLS + j] = j < cols ? c[i * ldc + j] : 0;
  }
  tiles[kind][rows - 1](depth, a.data, a.row, a.col, b, step, to, stride, adds, next, pace);
  if (cols < TILE_COLS)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) c[i * ldc + j] = edge[i * TILE_COLS + j];
}

INLINE vec load_as(const void *from, size_t at, const int is_half) {
  return is_half ? load_bf16((const uint16_t *)from + at) : load((const float *)from + at);
}
INLINE float element(const void *from, size_t at, const int is_half) {
  return is_half ? float_of_bf16(((const uint16_t *)from)[at]) : ((const float *)from)[at];
}

// One panel of `count` columns that lie one after the other, by squares.
INLINE void pack_columns(float *to, const void *from, size_t col, size_t count, size_t depth, const int is_half) {
  size_t whole = depth / LANES * LANES;
  for (size_t x = 0; x < TILE_COLS; x += LANES)
    for (size_t k = 0; k < whole; k += LANES) {
      vec square[LANES];
      UNROLLED for (size_t i = 0; i < LANES; i++)
        square[i] = x + i < count ? load_as(from, (x + i) * col + k, is_half) : (vec){0};
      transpose(square);
      UNROLLED for (size_t i = 0; i < LANES; i++) store(to + (k + i) * TILE_COLS + x, square[i]);
    }
  for (size_t k = whole; k < depth; k++)
    for (size_t x = 0; x < TILE_COLS; x++) to[k * TILE_COLS + x] = x < count ? element(from, x * col + k, is_half) : 0;
}

INLINE void pack_panel(float *to, const void *from, size_t row, size_t col, size_t count, size_t depth, const int is_half) {
  if (count == TILE_COLS && col == 1) {
    for (size_t k = 0; k < depth; k++) {
      store(to + k * TILE_COLS, load_as(from, k * row, is_half));
      store(to + k * TILE_COLS + LANES, load_as(from, k * row + LANES, is_half));
    }
  } else if (row == 1) {
    pack_columns(to, from, col, count, depth, is_half);
  } else {
    for (size_t k = 0; k < depth; k++)
      for (size_t x = 0; x < TILE_COLS; x++) to[k * TILE_COLS + x] = x < count ? element(from, k * row + x * col, is_half) : 0;
  }
}

// Panels of TILE_COLS columns, each [depth, TILE_COLS], filled up with zeros.
static void pack_right(float *to, Right b, size_t cols, size_t depth) {
  for (size_t j = 0; j < cols; j += TILE_COLS, to += depth * TILE_COLS) {
    size_t count = min_size(cols - j, TILE_COLS);
    if (b.is_half) pack_panel(to, right_at(b, 0, j), b.row, b.col, count, depth, 1);
    else pack_panel(to, right_at(b, 0, j), b.row, b.col, count, depth, 0);
  }
}

// Rows of the next tile: what is left behind the last whole ones is split evenly, since low tiles wait for their own sums.
INLINE size_t tile_height(size_t left) {
  return left <= TILE_ROWS ? left : left < 2 * TILE_ROWS ? (left + 1) / 2 : TILE_ROWS;
}

// Rows that lie one after the other, by squares. What is written beyond a column is overwritten by the next.
#if TILE_ROWS <= LANES
INLINE size_t pack_left_squares(float *to, const float *from, size_t row, size_t count, size_t depth, float alpha) {
  size_t whole = depth / LANES * LANES;
  for (size_t k = 0; k < whole; k += LANES) {
    vec square[LANES];
    UNROLLED for (size_t i = 0; i < LANES; i++)
      square[i] = i < TILE_ROWS && i < count ? splat(alpha) * load(from + i * row + k) : (vec){0};
    transpose(square);
    UNROLLED for (size_t i = 0; i < LANES; i++) store(to + (k + i) * TILE_ROWS, square[i]);
  }
  return whole;
}
#else
INLINE size_t pack_left_squares(float *to, const float *from, size_t row, size_t count, size_t depth, float alpha) {
  (void)to, (void)from, (void)row, (void)count, (void)depth, (void)alpha;
  return 0;
}
#endif

static void pack_left(float *to, Left a, size_t rows, size_t depth, float alpha) {
  for (size_t i = 0, count; i < rows; i += count, to += depth * TILE_ROWS) {
    count = tile_height(rows - i);
    const float *from = a.data + i * a.row;
    if (a.col == 1) {
      size_t done = pack_left_squares(to, from, a.row, count, depth, alpha);
      for (size_t x = 0; x < count; x++)
        for (size_t k = done; k < depth; k++) to[k * TILE_ROWS + x] = alpha * from[x * a.row + k];
    } else if (a.row == 1 && TILE_ROWS <= LANES && i + LANES <= rows) {
      for (size_t k = 0; k < depth; k++) store(to + k * TILE_ROWS, splat(alpha) * load(from + k * a.col));
    } else {
      for (size_t k = 0; k < depth; k++)
        for (size_t x = 0; x < count; x++) to[k * TILE_ROWS + x] = alpha * from[x * a.row + k * a.col];
    }
  }
}

// A product over panels with `a` as it lies. `panel` is the distance of panels, `step` that of their rows, in elements.
static void multiply_strided(TileKind kind, size_t rows, size_t cols, size_t depth, Left a, const void *b, size_t panel,
                             size_t step, float *c, size_t ldc, int adds) {
  size_t size = kind == HALF ? 2 : 4;
  size_t done = kind != PACKED && rows <= 2 ? multiply_few(kind == HALF, rows, cols, depth, a, b, panel, step, c, ldc, adds) : 0;
  size_t pace = step * size / ((rows + TILE_ROWS - 1) / TILE_ROWS);
  for (size_t j = done; j < cols; j += TILE_COLS) {
    const char *from = (const char *)b + j / TILE_COLS * panel * size;
    const char *next = from + (j + TILE_COLS < cols ? panel * size : 0); // each tile fetches its part of the next panel
    const float *packed = a.data;
    for (size_t i = 0, high; i < rows; i += high, packed += depth * TILE_ROWS) {
      high = tile_height(rows - i);
      Left tile = {kind == PACKED ? packed : a.data + i * a.row, a.row, a.col};
      sum_at(kind, (int)high, (int)min_size(cols - j, TILE_COLS), (int)depth, tile, from, step, c + i * ldc + j, ldc, adds, next,
             pace);
      next += depth * pace;
    }
  }
}

static void multiply_panels(TileKind kind, size_t rows, size_t cols, size_t depth, Left a, const void *b, size_t panel,
                            float *c, size_t ldc, int adds) {
  multiply_strided(kind, rows, cols, depth, a, b, panel, TILE_COLS, c, ldc, adds);
}

static void clear_rows(float *c, size_t ldc, size_t rows, size_t cols) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) c[i * ldc + j] = 0;
}

// Few rows against `b` as it lies, in rows: no copy pays. Columns beyond the last full tile are copied.
static void multiply_rows(size_t rows, size_t cols, size_t depth, Left a, Right b, float *c, size_t ldc, int adds, float *scratch) {
  size_t whole = cols / TILE_COLS * TILE_COLS;
  for (size_t j = 0; j < whole; j += TILE_COLS)
    for (size_t i = 0, high; i < rows; i += high) {
      high = tile_height(rows - i);
      sum_at(DIRECT, (int)high, TILE_COLS, (int)depth, (Left){a.data + i * a.row, a.row, a.col}, right_at(b, 0, j), b.row,
             c + i * ldc + j, ldc, adds, right_at(b, 0, j), 0);
    }
  if (whole == cols) return;
  for (size_t k = 0; k < depth; k += BLOCK_DEPTH) {
    size_t deep = min_size(depth - k, BLOCK_DEPTH);
    pack_right(scratch, (Right){right_at(b, k, whole), b.row, b.col, 0}, cols - whole, deep);
    multiply_panels(DIRECT, rows, cols - whole, deep, (Left){a.data + k * a.col, a.row, a.col}, scratch, 0, c + whole, ldc,
                    adds || k > 0);
  }
}

// By one thread. `packed` tells that b.data are panels over the whole depth, made by `pack`.
static void multiply(size_t rows, size_t cols, size_t depth, float alpha, Left a, Right b, int packed, float *c, size_t ldc,
                     int adds, float *scratch) {
  if (rows == 0 || cols == 0) return;
  if (depth == 0) {
    if (!adds) clear_rows(c, ldc, rows, cols);
    return;
  }
  float *scratch_b = scratch + SCRATCH_A;
  int is_plain = alpha == 1;
  if (packed && is_plain && rows <= 2 * TILE_ROWS) {
    multiply_panels(b.is_half ? HALF : DIRECT, rows, cols, depth, a, b.data, depth * TILE_COLS, c, ldc, adds);
    return;
  }
  if (!packed && is_plain && rows <= 2 * TILE_ROWS && b.col == 1 && !b.is_half) {
    multiply_rows(rows, cols, depth, a, b, c, ldc, adds, scratch_b);
    return;
  }
  int is_direct = is_plain && (cols <= 2 * TILE_COLS || (a.col == 1 && cols <= DIRECT_COLS && depth >= DIRECT_DEPTH));
  for (size_t k = 0; k < depth; k += BLOCK_DEPTH) {
    size_t deep = min_size(depth - k, BLOCK_DEPTH);
    int goes_on = adds || k > 0;
    for (size_t j = 0; j < cols; j += BLOCK_COLS) {
      size_t wide = min_size(cols - j, BLOCK_COLS);
      const float *panels = scratch_b;
      size_t panel = deep * TILE_COLS;
      if (packed && !b.is_half) {
        panels = (const float *)b.data + j * depth + k * TILE_COLS;
        panel = depth * TILE_COLS;
      } else if (packed) {
        for (size_t x = 0; x < wide; x += TILE_COLS) {
          const uint16_t *from = (const uint16_t *)b.data + (j + x) * depth + k * TILE_COLS;
          for (size_t i = 0; i < panel; i++) scratch_b[x * deep + i] = float_of_bf16(from[i]);
        }
      } else {
        pack_right(scratch_b, (Right){right_at(b, k, j), b.row, b.col, b.is_half}, wide, deep);
      }
      for (size_t i = 0; i < rows; i += BLOCK_ROWS) {
        size_t high = min_size(rows - i, BLOCK_ROWS);
        Left part = {a.data + i * a.row + k * a.col, a.row, a.col};
        if (!is_direct) {
          pack_left(scratch, part, high, deep, alpha);
          part = (Left){scratch, 1, TILE_ROWS};
        }
        multiply_panels(is_direct ? DIRECT : PACKED, high, wide, deep, part, panels, panel, c + i * ldc + j, ldc, goes_on);
      }
    }
  }
}

// How many parts the rows are split into, and with them the columns: each thread copies its part of both operands, so the parts
// should be small on both sides.
static int row_parts(int threads, size_t rows, size_t cols) {
  int best = 1;
  size_t least = (size_t)-1;
  for (int parts = 1; parts <= threads; parts++) {
    if (threads % parts != 0) continue;
    size_t high = (rows + parts - 1) / parts, wide = (cols + threads / parts - 1) / (threads / parts);
    size_t whole_high = (high + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
    size_t cost = whole_high * padded_cols(wide) + 8 * (whole_high + padded_cols(wide)); // of the slowest thread
    if (cost > least) continue;
    least = cost;
    best = parts;
  }
  return best;
}

// By all threads. The caller waits at a barrier before the result is read.
static void multiply_together(Thread *thread, size_t rows, size_t cols, size_t depth, float alpha, Left a, Right b, int packed,
                              float *c, size_t ldc, int adds) {
  int parts = row_parts(thread->count, rows, cols), across = thread->count / parts;
  Thread by_rows = {.index = thread->index / across, .count = parts}, by_cols = {.index = thread->index % across, .count = across};
  Range i = share(&by_rows, rows, TILE_ROWS), j = share(&by_cols, cols, TILE_COLS);
  if (i.from == i.to || j.from == j.to) return;
  const void *from = packed ? (const char *)b.data + j.from * depth * (b.is_half ? 2 : 4) : right_at(b, 0, j.from);
  multiply(i.to - i.from, j.to - j.from, depth, alpha, (Left){a.data + i.from * a.row, a.row, a.col},
           (Right){from, b.row, b.col, b.is_half}, packed, c + i.from * ldc + j.from, ldc, adds, (float *)thread->scratch);
}

static void run_gemm(Thread *t, const OpGemm *op) {
  size_t lda = op->lda, ldb = op->ldb;
  Left a = {floats(t, op->a), op->transA ? 1 : lda, op->transA ? lda : 1};
  Right b = {floats(t, op->b), op->transB ? 1 : ldb, op->transB ? ldb : 1, op->bType};
  multiply_together(t, op->m, op->n, op->k, op->alpha, a, b, 0, floats(t, op->c), op->ldc, op->accumulate);
}

static void run_gemm_packed(Thread *t, const OpGemmPacked *op) {
  Left a = {floats(t, op->a), op->lda, 1};
  Right b = {floats(t, op->b), 0, 0, op->bType};
  multiply_together(t, op->m, op->n, op->k, op->alpha, a, b, 1, floats(t, op->c), op->ldc, op->accumulate);
}

static void run_pack(Thread *t, const OpPack *op) {
  size_t n = op->n, depth = op->k, ldb = op->ldb;
  Right b = {floats(t, op->b), op->transB ? 1 : ldb, op->transB ? ldb : 1, op->bType};
  Range r = share(t, n, TILE_COLS);
  if (!op->bType) {
    if (r.from < r.to) pack_right(floats(t, op->dst) + r.from * depth, (Right){right_at(b, 0, r.from), b.row, b.col, 0}, r.to - r.from, depth);
    return;
  }
  const uint16_t *from = b.data;
  uint16_t *to = (uint16_t *)floats(t, op->dst) + r.from * depth;
  for (size_t j = r.from; j < r.to; j += TILE_COLS, to += depth * TILE_COLS)
    for (size_t k = 0; k < depth; k++)
      for (size_t x = 0; x < TILE_COLS; x++)
        to[k * TILE_COLS + x] = j + x < n ? from[k * b.row + (j + x) * b.col] : 0;
}
