// A linear map of the model with everything that may hang on it: y = x W^T + b + (scale x A^T) B^T. Rows of one batch may belong to
// several adapters over the same base: the base's part is one product, each adapter's part one over its rows.
import type { PackedWeights } from './cpu-base.ts'
import type { CpuModel } from './cpu-model.ts'
import type { Program } from './program.ts'

/** Rows of a batch that one model computes. All models of a batch have the same base weights. */
export type Span = { readonly model: CpuModel; readonly start: number; readonly rows: number }

/** The largest rank of their adapters; 0 where there is none. */
export function rankOf(spans: readonly Span[]): number {
  return spans.reduce((most, { model }) => Math.max(most, model.spec.lora?.rank ?? 0), 0)
}

export type ProjectOptions = {
  /** Name of the map: `model.layers.0.mlp.up_proj`, `lm_head`. */
  name: string
  x: number
  y: number
  rows: number
  /** Room for the adapter's `[rows, lowWidth]`, and what the gradient needs of it. */
  low: number
  lowWidth: number
  /** Adds to y. */
  accumulate?: boolean | undefined
  /** Matrices to use instead of the model’s own. */
  packed?: PackedWeights | undefined
  /** The next product reads the same rows and writes elsewhere. */
  independent?: boolean | undefined
}

/** Projects the rows of all spans. */
export function project(program: Program, spans: readonly Span[], options: ProjectOptions): void {
  const { name, x, y, rows, low, lowWidth, accumulate = false, packed, independent = false } = options
  const [{ model } = { model: undefined }] = spans
  if (model === undefined) return
  const { outputs: n, inputs: k } = model.base.axes(name)
  const { at: b, type: bType } = model.weight(model.weightName(name))
  const bias = biasOf(model, name)
  const hasMore = bias !== undefined || spans.some((span) => span.model.adapter(name) !== undefined)
  const product = { c: y, a: x, m: rows, n, k, lda: k, ldc: n, bType, accumulate, alpha: 1 }
  const order = { independent: independent && !hasMore }
  const other = packed?.at(model.weightName(name))
  if (other === undefined) program.add('gemm', { ...product, b, ldb: k, transB: true }, order)
  else program.add('gemmPacked', { ...product, b: other }, order)
  if (bias !== undefined) program.add('addBias', { y, b: bias, rows, width: n })
  for (const span of spans) {
    lowRank(program, span, { name, x, low, lowWidth })
    const adapter = span.model.adapter(name)
    if (adapter === undefined) continue
    const { rank } = adapter
    const c = y + 4 * span.start * n
    const a = low + 4 * span.start * lowWidth
    const shape = { m: span.rows, n, k: rank, lda: lowWidth, ldb: rank, ldc: n }
    program.add('gemm', { c, a, b: adapter.b, ...shape, transB: true, accumulate: true, alpha: 1 })
  }
}

/** Only the first half of the adapter's part: low = scale x A^T. */
export function lowRank(
  program: Program,
  { model, start, rows }: Span,
  { name, x, low, lowWidth }: Pick<ProjectOptions, 'name' | 'x' | 'low' | 'lowWidth'>,
): void {
  const adapter = model.adapter(name)
  if (adapter === undefined) return
  const { inputs: k } = model.base.axes(name)
  const [c, a] = [low + 4 * start * lowWidth, x + 4 * start * k]
  const shape = { m: rows, n: adapter.rank, k, lda: k, ldb: k, ldc: lowWidth }
  program.add('gemm', { c, a, b: adapter.a, ...shape, transB: true, alpha: adapter.scale })
}

export type ProjectBackOptions = {
  name: string
  x: number
  dy: number
  rows: number
  /** What `project` left there. */
  low: number
  lowWidth: number
  /** Room for `[rows, lowWidth]`. */
  dLow: number
  /** Absent: the gradient by x is not needed. */
  dx?: number | undefined
  /** Adds to dx. */
  accumulate?: boolean | undefined
}

/** Where the gradient of a tensor is added up; undefined where it is not trained. */
export type GradientOf = (name: string) => number | undefined

/** dx from dy; adds to the gradients of what is trained. */
export function projectBack(
  program: Program,
  model: CpuModel,
  gradientOf: GradientOf,
  { name, x, dy, rows, low, lowWidth, dLow, dx, accumulate = false }: ProjectBackOptions,
): void {
  const { outputs, inputs } = model.base.axes(name)
  const { at: b, type: bType } = model.weight(model.weightName(name))
  if (dx !== undefined) {
    const shape = { m: rows, n: inputs, k: outputs, lda: outputs, ldb: inputs, ldc: inputs }
    program.add('gemm', { c: dx, a: dy, b, ...shape, bType, accumulate, alpha: 1 })
  }
  const dWeight = gradientOf(model.weightName(name))
  if (dWeight !== undefined) addOuter(program, { c: dWeight, a: dy, m: outputs, b: x, n: inputs, rows })
  const dBias = gradientOf(`${name}.bias`)
  if (dBias !== undefined) program.add('biasBack', { db: dBias, dy, rows, width: outputs })
  const adapter = model.adapter(name)
  if (adapter === undefined) return
  const { rank, nameB } = adapter
  const dB = gradientOf(nameB)
  if (dB !== undefined) addOuter(program, { c: dB, a: dy, m: outputs, b: low, n: rank, ldb: lowWidth, rows })
  const shape = { m: rows, n: rank, k: outputs, lda: outputs, ldb: rank, ldc: lowWidth }
  program.add('gemm', { c: dLow, a: dy, b: adapter.b, ...shape, alpha: 1 })
  lowRankBack(program, model, gradientOf, { name, x, rows, lowWidth, dLow, dx })
}

/** dA and dx (added to) from the gradient by low. */
export function lowRankBack(
  program: Program,
  model: CpuModel,
  gradientOf: GradientOf,
  { name, x, rows, lowWidth, dLow, dx }: Pick<ProjectBackOptions, 'name' | 'x' | 'rows' | 'lowWidth' | 'dLow' | 'dx'>,
): void {
  const adapter = model.adapter(name)
  if (adapter === undefined) return
  const { rank, scale: alpha, nameA, a: b } = adapter
  const { inputs } = model.base.axes(name)
  const dA = gradientOf(nameA)
  if (dA !== undefined) {
    addOuter(program, { c: dA, a: dLow, m: rank, lda: lowWidth, b: x, n: inputs, rows, alpha })
  }
  if (dx === undefined) return
  const shape = { m: rows, n: inputs, k: rank, lda: lowWidth, ldb: inputs, ldc: inputs }
  program.add('gemm', { c: dx, a: dLow, b, ...shape, accumulate: true, alpha })
}

type Outer = Record<'c' | 'a' | 'm' | 'b' | 'n' | 'rows', number> & { lda?: number; ldb?: number; alpha?: number }

// c[m, n] += alpha * sum over rows of a[row, m] b[row, n].
function addOuter(program: Program, { c, a, m, lda = m, b, n, ldb = n, rows, alpha = 1 }: Outer): void {
  program.add('gemm', { c, a, b, m, n, k: rows, lda, ldb, ldc: n, transA: true, accumulate: true, alpha })
}

function biasOf(model: CpuModel, name: string): number | undefined {
  return model.base.shapes.has(`${name}.bias`) ? model.weight(`${name}.bias`).at : undefined
}
