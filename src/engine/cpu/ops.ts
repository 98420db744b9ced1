// The operations of the kernels: name, number, arguments, and what each computes. native/ops.h is generated from this table.
//
// Conventions. A tensor is a byte offset into the arena, a multiple of 4. Everything is f32 unless its argument has a separate type,
// or the text says i32 or f64. Matrices lie row by row; `[m, n]` without a stride is dense, with one (`lda`, in elements) rows may
// lie further apart. Rows and sizes may be 0: then nothing happens. Operands must not overlap unless the text allows it.
//
// Order of sums. An element of a product is one chain of multiply-adds from k = 0 upwards, that starts at the old value when it
// accumulates. Tiles, threads and neighbours do not change it: a row has the same bits alone, in any batch and on any number of
// threads. `sumSquares` alone depends on the number of threads, in the last bits of an f64.

/** How an argument is written: `tensor` is required, `optional` may be left out, `flag` is 0 or 1, `type` is that of a tensor. */
export type ArgKind = 'tensor' | 'optional' | 'int' | 'float' | 'flag' | 'type'

/** Element types of weights. */
export type ElementType = 'f32' | 'bf16'

/** Keys of one block of attention, and positions of one page of a cache. */
export const pageSize = 64

/** Length of a row in a workspace of the head: 2048 logits at once, and room for what is known of the row. */
export const headChunk = 2064

/** Tokens whose share of the whole is known before they are read one by one. */
export const massBlock = 32

// Kinds of arguments, short: the table is read as one.
const [T, O, I, F, B, Y] = ['tensor', 'optional', 'int', 'float', 'flag', 'type'] as const
const qkv = { q: T, k: T, v: T } as const
const heads = { heads: I, kvHeads: I, headDim: I } as const
const strides = { ldq: I, ldk: I, ldv: I } as const
const head = { rows: I, targets: I, width: I, vocab: I, rank: I, wType: Y } as const

export const ops = {
  /**
   * c[m, n] = (accumulate ? c : 0) + op(a) op(b), where op(a)[m, k] is `a` [m, k], or its transpose when `a` is [k, m] (transA), and
   * op(b)[k, n] is `b` [k, n], or its transpose when `b` is [n, k] (transB: a weight [out, in] applied to rows).
   * `alpha` multiplies each element of `a` before use: c + sum((alpha a) b).
   */
  gemm: {
    code: 1,
    args: {
      c: T,
      a: T,
      b: T,
      m: I,
      n: I,
      k: I,
      lda: I,
      ldb: I,
      ldc: I,
      transA: B,
      transB: B,
      bType: Y,
      accumulate: B,
      alpha: F,
    },
  },
  /** dst = `b` as `gemmPacked` reads it, same element type; `packedBytes(n, k, bType)` long. Shapes and flags as in `gemm`. */
  pack: {
    code: 2,
    args: { dst: T, b: T, n: I, k: I, ldb: I, transB: B, bType: Y },
  },
  /** As `gemm` with `b` packed before: bit for bit the same result. For weights that are used many times with few rows. */
  gemmPacked: {
    code: 3,
    args: { c: T, a: T, b: T, m: I, n: I, k: I, lda: I, ldc: I, bType: Y, accumulate: B, alpha: F },
  },
  /**
   * y[r, i] = w[i] x[r, i] s[r], s = 1 / sqrt(mean(x^2) + eps), kept in `scale` [rows] for the gradient (optional).
   * Per head: rows = tokens * heads, width = headDim. y may be x when no gradient is wanted.
   */
  rmsNorm: {
    code: 4,
    args: { y: T, scale: O, x: T, w: T, rows: I, width: I, eps: F },
  },
  /**
   * dx = (accumulate ? dx : 0) + the gradient by x; dw += the gradient by w (optional, always added). `scale` is what `rmsNorm`
   * kept. dx may be dy.
   */
  rmsNormBack: {
    code: 5,
    args: { dx: T, dw: O, dy: T, x: T, w: T, scale: T, rows: I, width: I, accumulate: B },
  },
  /**
   * Rotates x [rows, heads, headDim] (row stride ldx) in place: pairs (i, i + headDim / 2) by row positions[r] (i32 [rows]) of the
   * tables `cos`, `sin` [positions, headDim / 2]. `inverse` turns by the negative angle: the gradient.
   */
  rope: {
    code: 6,
    args: { x: T, positions: T, cos: T, sin: T, rows: I, heads: I, headDim: I, ldx: I, inverse: B },
  },
  /**
   * Causal attention inside segments: segment s is rows starts[s] to starts[s + 1] (i32 [segments + 1], ascending). Query head h of
   * q [rows, heads, headDim] reads head floor(h / (heads / kvHeads)) of k, v [rows, kvHeads, headDim]. scores = scale q k.
   * out is dense [rows, heads, headDim]; `lse` [rows, heads], the logarithm of the sum of exponentials, is for the gradient.
   */
  attention: {
    code: 7,
    args: { out: T, lse: T, ...qkv, starts: T, segments: I, ...heads, ...strides, scale: F },
  },
  /** dq, dk, dv (dense, overwritten) from dOut, and from out and lse of the forward. `work` is [rows, heads]. */
  attentionBack: {
    code: 8,
    args: {
      dq: T,
      dk: T,
      dv: T,
      dOut: T,
      out: T,
      lse: T,
      ...qkv,
      work: T,
      starts: T,
      segments: I,
      ...heads,
      ...strides,
      scale: F,
    },
  },
  /**
   * Attention over a cache in pages: bit for bit what `attention` gives for the same texts. Row r of q [rows, heads, headDim] (dense)
   * sees the first lengths[r] positions (i32 [rows], at least 1) of sequence sequences[r] (i32 [rows]). Position j of sequence s is
   * at j % pageSize of page pages[s * ldPages + floor(j / pageSize)] (i32) of kCache, [page, kvHeads, headDim, pageSize], and vCache,
   * [page, kvHeads, pageSize, headDim]. Neighbouring rows of one sequence are computed together. Own keys must be in the cache before
   * (`cacheRows`), or k, v and slots are given as there: where each sequence has one row, they are written on the way.
   */
  cacheAttention: {
    code: 9,
    args: {
      out: T,
      q: T,
      kCache: T,
      vCache: T,
      pages: T,
      sequences: T,
      lengths: T,
      k: O,
      v: O,
      slots: O,
      rows: I,
      ...heads,
      ldPages: I,
      scale: F,
    },
  },
  /** y = silu(gate) * up over n elements; y may be gate or up. */
  swiglu: { code: 10, args: { y: T, gate: T, up: T, n: I } },
  /** dGate, dUp from dy; dGate may be gate, dUp may be up, either may be dy. */
  swigluBack: {
    code: 11,
    args: { dGate: T, dUp: T, dy: T, gate: T, up: T, n: I },
  },
  /** y[r] += b for every row of y [rows, width]. */
  addBias: { code: 12, args: { y: T, b: T, rows: I, width: I } },
  /** db[width] += the sum of the rows of dy [rows, width], first to last. */
  biasBack: { code: 13, args: { db: T, dy: T, rows: I, width: I } },
  /** y[r] = table[ids[r]] for ids i32 [rows]; a row of zeros where the id is negative. The table has `type`, y is f32. */
  gatherRows: {
    code: 14,
    args: { y: T, table: T, ids: T, rows: I, width: I, type: Y },
  },
  /**
   * Writes rows of k and v [rows, kvHeads, headDim] (dense) into the cache of `cacheAttention`, at slots[r] (i32 [rows]): page times
   * pageSize, plus the place in the page. Negative slots are left out, no slot may occur twice. Threads share rows as in `rope`, so a
   * `rope` of the same number of rows before it may be independent.
   */
  cacheRows: {
    code: 15,
    args: { kCache: T, vCache: T, k: T, v: T, slots: T, rows: I, kvHeads: I, headDim: I },
  },
  /** y[ids[r]] += x[r], first row to last; negative ids are left out, others may repeat. */
  scatterAddRows: { code: 16, args: { y: T, x: T, ids: T, rows: I, width: I } },
  /**
   * logits[r, v] = x[r] w[v] + x2[r] w2[v] without keeping them: `logprobs` [rows, targets] of the token ids `ids` (i32 [rows, targets];
   * negative: logprob 0), and `lse` [rows]. x [rows, width], w [vocab, width] of `wType`; x2 [rows, rank], w2 [vocab, rank] f32 with
   * the adapter's factor in x2 already, left out when rank is 0. `work` is [rows, headChunk]; `whole` says that it has room for all
   * logits, `headWork` floats.
   */
  head: {
    code: 17,
    args: { logprobs: T, lse: T, x: T, w: T, x2: O, w2: O, ids: T, work: T, ...head, whole: B },
  },
  /**
   * From g [rows, targets] = dL / dlogprob and `lse` of `head`: dx, dx2 overwritten (dx2 optional), dw, dw2 added to (optional).
   * dlogits[r, v] = sum over targets of g (1[v = id] - p[r, v]). `kept` says that `work` is as `head` left it, for the same operands
   * and `whole`: logits that fit into it need not be computed again.
   */
  headBack: {
    code: 18,
    args: {
      dx: T,
      dx2: O,
      dw: O,
      dw2: O,
      g: T,
      lse: T,
      x: T,
      w: T,
      x2: O,
      w2: O,
      ids: T,
      work: T,
      ...head,
      kept: B,
      whole: B,
    },
  },
  /**
   * lse[r] of x [rows, width] with row stride ldx: bit for bit the `lse` of `head` for the same logits. `masses` (optional)
   * [rows, ceil(width / massBlock)] are the shares of blocks of columns in the sum of exponentials.
   */
  logSumExp: {
    code: 19,
    args: { lse: T, masses: O, x: T, rows: I, width: I, ldx: I },
  },
  /** y += alpha x. */
  add: { code: 20, args: { y: T, x: T, n: I, alpha: F } },
  /** y *= alpha. */
  scale: { code: 21, args: { y: T, n: I, alpha: F } },
  /** y = value. */
  fill: { code: 22, args: { y: T, n: I, value: F } },
  /** y [rows, width] = x, with row strides. */
  copyRows: { code: 23, args: { y: T, x: T, rows: I, width: I, ldy: I, ldx: I } },
  /** y = x in another element type; to bf16 rounds to nearest, ties to even. y may be x only when the types are equal. */
  convert: { code: 24, args: { y: T, x: T, n: I, yType: Y, xType: Y } },
  /** sum (one f64, 8-aligned) = (accumulate ? sum : 0) + the sum of x^2, added up in f64. */
  sumSquares: { code: 25, args: { sum: T, x: T, n: I, accumulate: B } },
  /**
   * AdamW over n elements, with g' = gradScale g: m = beta1 m + rest1 g'; v = beta2 v + rest2 g'^2;
   * p = p - (decay p + rate m / (secondScale sqrt(v) + eps)). The caller computes in f64: rest = 1 - beta, rate = lr / (1 - beta1^t),
   * secondScale = 1 / sqrt(1 - beta2^t), decay = lr weightDecay.
   */
  adamw: {
    code: 26,
    args: {
      p: T,
      g: T,
      m: T,
      v: T,
      n: I,
      gradScale: F,
      beta1: F,
      rest1: F,
      beta2: F,
      rest2: F,
      rate: F,
      secondScale: F,
      eps: F,
      decay: F,
    },
  },
  /** Loses the thread `thread % threads` in a kernel, as a defect would: its program fails, the next one runs. For tests. */
  trap: { code: 27, args: { thread: I } },
} as const satisfies Record<string, { code: number; args: Record<string, ArgKind> }>

export type OpName = keyof typeof ops

type Value<K extends ArgKind> = K extends 'flag' ? boolean : K extends 'type' ? ElementType : number
type ArgsOf<A extends Record<string, ArgKind>> = {
  [N in keyof A as A[N] extends 'optional' | 'flag' | 'type' ? never : N]: Value<A[N]>
} & {
  [N in keyof A as A[N] extends 'optional' ? N : never]?: number | undefined
} & {
  /** `false` and `'f32'` unless given. */
  [N in keyof A as A[N] extends 'flag' | 'type' ? N : never]?: Value<A[N]>
}

/** The arguments of an operation, by name. */
export type OpArgs<N extends OpName> = ArgsOf<(typeof ops)[N]['args']>

/** Floats of a workspace of the head: for some logits of each row at a time, or for the whole of them. */
export function headWork(rows: number, vocab: number, whole: boolean): number {
  return rows * headChunk * (whole ? Math.ceil(vocab / (headChunk - 16)) : 1)
}

/** Size of a packed matrix, the same for every runtime: panels are filled up to a multiple of 32 columns. */
export function packedBytes(n: number, k: number, type: ElementType): number {
  return Math.ceil(n / 32) * 32 * k * (type === 'bf16' ? 2 : 4)
}
