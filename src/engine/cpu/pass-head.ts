// The end of a pass: logits of the wanted rows, and what is needed to draw a token from each.
import type { SampleReq } from '../../contracts/index.ts'
import { checkLogprobs } from '../sampling/check-request.ts'
import { type Candidate, sampleToken } from '../sampling/next-token.ts'
import type { CpuBase, PackedWeights } from './cpu-base.ts'
import type { CpuModel } from './cpu-model.ts'
import { massBlock } from './ops.ts'
import type { Program } from './program.ts'
import { project, rankOf, type Span } from './projection.ts'
import { aligned, placed } from './tensor-layout.ts'

export type Piece = {
  readonly model: CpuModel
  readonly tokens: ArrayLike<number>
  /** Position of the first token. */
  readonly start: number
  /** Pages of the text, for all positions up to the piece's last. */
  readonly pages: readonly number[]
  /** Gets what follows each token from index `from` on, with logits multiplied by `scale`. */
  readonly from: number
  readonly scale: number
  readonly onRow: (index: number, row: LogitRow) => void
}

/** A row of a pass whose logits are wanted. */
export type Wanted = { readonly piece: Piece; readonly index: number; readonly row: number }

type PassHeadOptions = {
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
  readonly #reported: readonly (LogitRow & { normalizer: number })[]

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
    this.#reported = wanted.map((_, i) => ({
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

  /** Hands each wanted row to its piece, after the program has run. */
  report(wanted: readonly Wanted[]): void {
    for (const [i, row] of this.#reported.entries()) {
      row.normalizer = this.#normalizers[i] ?? Number.NaN
      const { piece, index } = wanted[i] ?? {}
      piece?.onRow(index ?? 0, row)
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

// What the model says of one next token, as it lies in the arena, and a token drawn from it.
/** Valid until the next pass. */
export type LogitRow = {
  readonly logits: Float32Array
  /** Logarithm of the sum of their exponentials. */
  readonly normalizer: number
  /** Probability of each block of tokens. */
  readonly masses: Float32Array
}

/** All log-probabilities. Rounded as the kernels round them: these are the ones that training sees. */
export function logprobsOf({ logits, normalizer }: LogitRow): Float64Array {
  const logprobs_V = new Float64Array(logits.length)
  for (let v = 0; v < logits.length; v++) logprobs_V[v] = logprobOf(logits, v, normalizer)
  return logprobs_V
}

type Shaping = Pick<SampleReq, 'temperature' | 'topK' | 'topP'>

/** What logits are multiplied by before a token is drawn from them; undefined where that is not all there is to do. */
export function shapingScale({ temperature, topK, topP }: Shaping): number | undefined {
  if (temperature === 0) return 1
  return (topK !== undefined && topK > 0) || (topP !== undefined && topP < 1) ? undefined : 1 / temperature
}

/** Draws a token with a number from [0, 1). The row was scaled before, where scaling is all of the shaping. */
export function drawFromRow(row: LogitRow, request: Shaping, uniform: number): Candidate {
  if (Number.isNaN(row.normalizer)) checkLogprobs(logprobsOf(row))
  if (request.temperature === 0) return likeliest(row)
  if (shapingScale(request) === undefined) return sampleToken(logprobsOf(row), request, uniform)
  const { logits, normalizer, masses } = row
  let [sum, token] = [0, 0]
  for (let block = 0; block < masses.length; block++) {
    const next = sum + (masses[block] ?? 0)
    if (uniform < next) break
    sum = next
    token += massBlock
  }
  for (; token < logits.length; token++) {
    const logprob = logprobOf(logits, token, normalizer)
    sum += Math.exp(logprob)
    if (uniform < sum) return { token, logprob }
  }
  const last = logits.length - 1 // rounding left a sliver above it
  return { token: last, logprob: logprobOf(logits, last, normalizer) }
}

function likeliest({ logits, normalizer }: LogitRow): Candidate {
  let token = 0
  for (let v = 1; v < logits.length; v++) if ((logits[v] ?? 0) > (logits[token] ?? 0)) token = v
  return { token, logprob: logprobOf(logits, token, normalizer) }
}

function logprobOf(logits: Float32Array, token: number, normalizer: number): number {
  return Math.fround((logits[token] ?? Number.NaN) - normalizer)
}
