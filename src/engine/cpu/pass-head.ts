// The end of a pass: logits of the rows that somebody wants to hear of, and what is needed to draw a token from each.
import type { Wanted } from './cache-pass.ts'
import type { CpuBase } from './cpu-base.ts'
import type { LogitRow } from './logit-row.ts'
import { massBlock } from './ops.ts'
import type { PackedWeights } from './packed-weights.ts'
import { project, rankOf, type Span } from './projection.ts'
import type { Program } from './runtime/program.ts'
import { aligned, placed } from './tensor-layout.ts'

export type PassHeadOptions = {
  /** Rows of the same models and scales are what it is good for. */
  wanted: readonly Wanted[]
  /** Where the pass leaves its rows. */
  normed: number
  /** How many there are. */
  rows: number
  packed: PackedWeights | undefined
}

export class PassHead {
  readonly rows: number
  readonly #base: CpuBase
  readonly #block: number | undefined
  readonly #ids: Int32Array
  readonly #normalizers: Float32Array
  readonly #told: readonly (LogitRow & { normalizer: number })[]

  /** Appends to the program of the pass. */
  constructor(base: CpuBase, program: Program, { wanted, normed, rows: all, packed }: PassHeadOptions) {
    const { runtime, shape } = base
    const { hiddenSize: width, vocabSize: vocab } = shape
    const rows = wanted.length
    const spans = spansOf(wanted)
    const rank = rankOf(spans)
    const blocks = Math.ceil(vocab / massBlock)
    const sizes = [rows, rows * width, rows * rank, rows * vocab, rows, rows * blocks].map((count) =>
      aligned(4 * count),
    )
    this.#base = base
    this.rows = rows
    this.#block = rows === 0 ? undefined : runtime.alloc(sizes.reduce((sum, bytes) => sum + bytes, 0))
    const [ids = 0, x = 0, low = 0, logits = 0, lse = 0, mass = 0] = placed(this.#block ?? 0, sizes)
    this.#ids = runtime.i32(ids, rows)
    this.#normalizers = runtime.f32(lse, rows)
    this.#told = wanted.map((_, i) => ({
      logits: runtime.f32(logits + 4 * i * vocab, vocab),
      masses: runtime.f32(mass + 4 * i * blocks, blocks),
      normalizer: Number.NaN,
    }))
    if (rows === 0) return
    // All rows, in their order, are taken from where they lie.
    const gathers = rows < all
    if (gathers) program.add('gatherRows', { y: x, table: normed, ids, rows, width })
    const from = gathers ? x : normed
    project(program, spans, { name: 'lm_head', x: from, y: logits, rows, low, lowWidth: rank, packed })
    for (const { start, count, scale } of scalesOf(wanted)) {
      if (scale !== 1) program.add('scale', { y: logits + 4 * start * vocab, n: count * vocab, alpha: scale })
    }
    program.add('logSumExp', { lse, masses: mass, x: logits, rows, width: vocab, ldx: vocab })
  }

  write(wanted: readonly Wanted[]): void {
    for (let i = 0; i < this.rows; i++) this.#ids[i] = wanted[i]?.row ?? 0
  }

  /** Tells whoever wants to hear, after the program has run. */
  tell(wanted: readonly Wanted[]): void {
    for (const [i, row] of this.#told.entries()) {
      row.normalizer = this.#normalizers[i] ?? Number.NaN
      const { piece, index } = wanted[i] ?? {}
      piece?.hear(index ?? 0, row)
    }
  }

  free(): void {
    if (this.#block !== undefined) this.#base.runtime.free(this.#block)
  }
}

function spansOf(wanted: readonly Wanted[]): Span[] {
  const spans: { model: Span['model']; start: number; rows: number }[] = []
  for (const [start, { piece }] of wanted.entries()) {
    const last = spans.at(-1)
    if (last?.model === piece.model) last.rows++
    else spans.push({ model: piece.model, start, rows: 1 })
  }
  return spans
}

function scalesOf(wanted: readonly Wanted[]): { start: number; count: number; scale: number }[] {
  const runs: { start: number; count: number; scale: number }[] = []
  for (const [start, { piece }] of wanted.entries()) {
    const last = runs.at(-1)
    if (last?.scale === piece.scale) last.count++
    else runs.push({ start, count: 1, scale: piece.scale })
  }
  return runs
}
