// One pass over pieces of texts whose earlier positions are in the cache: a whole prompt, a part of one, or the last token. Pieces of
// several adapters over one base go together.
import type { BlockContext } from './block.ts'
import type { CachePool } from './cache-pool.ts'
import type { CpuBase } from './cpu-base.ts'
import type { CpuModel } from './cpu-model.ts'
import { pageSize } from './ops.ts'
import type { PackedWeights } from './packed-weights.ts'
import { planPass } from './pass-plan.ts'
import { project, type Span } from './projection.ts'
import { Program } from './runtime/program.ts'
import { aligned } from './tensor-layout.ts'
import { transformerForward } from './transformer.ts'

export type Piece = {
  readonly model: CpuModel
  readonly tokens: ArrayLike<number>
  /** Position of the first token. */
  readonly start: number
  /** Pages of the text, for all positions up to the piece's last. */
  readonly pages: readonly number[]
  /** Hears the log-probabilities of what follows each token from index `from` on. */
  readonly from: number
  readonly hear: (index: number, logprobs_V: Float64Array) => void
}

/** Rows of logits that are held at once. */
const logitBytes = 64 * 2 ** 20

/** Computes pieces, adds them to the cache, and tells what was asked for. */
export function runCachePass(
  base: CpuBase,
  pool: CachePool,
  given: readonly Piece[],
  packed?: PackedWeights | undefined,
): void {
  const { runtime, shape } = base
  const pieces = byModel(given)
  const rows = count(pieces)
  const rank = Math.max(...pieces.map(({ model }) => model.spec.lora?.rank ?? 0))
  const pagesPerText = Math.max(...pieces.map(({ pages }) => pages.length))
  const size = { shape, rows, segments: 0, targets: 0, rank, mode: 'forward' } as const
  const tables = { rows: aligned(4 * rows), pages: aligned(4 * pieces.length * pagesPerText) }
  const passBytes = planPass(size, 0).end
  const block = runtime.alloc(passBytes + 3 * tables.rows + tables.pages)
  try {
    const plan = planPass(size, block)
    const sequences = block + passBytes
    const lengths = sequences + tables.rows
    const slots = lengths + tables.rows
    const pages = slots + tables.rows
    writeTables(base, pieces, { tokens: plan.tokens, positions: plan.positions, sequences, lengths, slots, pages })
    const { heads, kvHeads, headDim } = shape
    const width = kvHeads * headDim
    const rope = base.rope(Math.max(...pieces.map(({ start, tokens }) => start + tokens.length)))
    const context: BlockContext = {
      ...{ spans: spansOf(pieces), rows, positions: plan.positions, rope, lowWidth: rank, packed },
      attend(program, layer, { read, q, k, v }) {
        const [kCache, vCache] = [pool.keys(layer), pool.values(layer)]
        program.add('scatterRows', { y: kCache, x: k, ids: slots, rows, width }, { independent: true })
        program.add('scatterRows', { y: vCache, x: v, ids: slots, rows, width })
        program.add('cacheAttention', {
          ...{ out: read, q, kCache, vCache, pages, sequences, lengths, rows },
          ...{ heads, kvHeads, headDim, ldPages: pagesPerText, scale: 1 / Math.sqrt(headDim) },
        })
      },
    }
    const program = new Program()
    transformerForward(program, context, plan)
    runtime.run(program)
    tell(base, pieces, { normed: plan.normed, lowWidth: rank, packed })
  } finally {
    runtime.free(block)
  }
}

type Tables = Record<'tokens' | 'positions' | 'sequences' | 'lengths' | 'slots' | 'pages', number>

function writeTables({ runtime }: CpuBase, pieces: readonly Piece[], at: Tables): void {
  const rows = count(pieces)
  const view = (place: number) => runtime.i32(place, rows)
  const [tokens, positions, sequences] = [view(at.tokens), view(at.positions), view(at.sequences)]
  const [lengths, slots] = [view(at.lengths), view(at.slots)]
  const pagesPerText = Math.max(...pieces.map(({ pages }) => pages.length))
  let row = 0
  for (const [sequence, piece] of pieces.entries()) {
    runtime.i32(at.pages + 4 * sequence * pagesPerText, piece.pages.length).set(piece.pages)
    for (let t = 0; t < piece.tokens.length; t++, row++) {
      const position = piece.start + t
      tokens[row] = piece.tokens[t] ?? 0
      positions[row] = position
      sequences[row] = sequence
      lengths[row] = position + 1
      slots[row] = (piece.pages[Math.floor(position / pageSize)] ?? 0) * pageSize + (position % pageSize)
    }
  }
}

type Wanted = { readonly piece: Piece; readonly index: number; readonly row: number }

// Logits of the rows that somebody wants to hear of, some at a time.
function tell(
  base: CpuBase,
  pieces: readonly Piece[],
  { normed, lowWidth, packed }: { normed: number; lowWidth: number; packed: PackedWeights | undefined },
): void {
  const { runtime, shape } = base
  const { hiddenSize: width, vocabSize: vocab } = shape
  let first = 0
  const wanted = pieces.flatMap((piece): Wanted[] => {
    const start = first
    first += piece.tokens.length
    return Array.from({ length: piece.tokens.length - piece.from }, (_, i) => {
      const index = piece.from + i
      return { piece, index, row: start + index }
    })
  })
  const most = Math.max(1, Math.floor(logitBytes / (4 * vocab)))
  for (let at = 0; at < wanted.length; at += most) {
    const part = wanted.slice(at, at + most)
    const rows = part.length
    const sizes = [1, width, lowWidth, vocab, 1].map((each) => aligned(4 * rows * each))
    const block = runtime.alloc(sizes.reduce((sum, bytes) => sum + bytes, 0))
    try {
      const [ids = 0, x = 0, low = 0, logits = 0, lse = 0] = placed(block, sizes)
      runtime.i32(ids, rows).set(part.map(({ row }) => row))
      const program = new Program().add('gatherRows', { y: x, table: normed, ids, rows, width })
      const spans = spansOf(part.map(({ piece }) => ({ model: piece.model, tokens: [0] })))
      project(program, spans, { name: 'lm_head', x, y: logits, rows, low, lowWidth, packed })
      runtime.run(program.add('logSumExp', { lse, x: logits, rows, width: vocab, ldx: vocab }))
      const normalizers = runtime.f32(lse, rows)
      for (const [i, { piece, index }] of part.entries()) {
        const normalizer = normalizers[i] ?? Number.NaN
        const row = runtime.f32(logits + 4 * i * vocab, vocab)
        const row_V = new Float64Array(vocab)
        // Rounded as the kernels round it: these are the log-probabilities that training sees.
        for (let v = 0; v < vocab; v++) row_V[v] = Math.fround((row[v] ?? Number.NaN) - normalizer)
        piece.hear(index, row_V)
      }
    } finally {
      runtime.free(block)
    }
  }
}

function placed(start: number, sizes: readonly number[]): number[] {
  let at = start
  return sizes.map((bytes) => {
    at += bytes
    return at - bytes
  })
}

// Rows of one model side by side, otherwise in their order.
function byModel(pieces: readonly Piece[]): Piece[] {
  const groups = new Map<CpuModel, Piece[]>()
  for (const piece of pieces) {
    const group = groups.get(piece.model)
    if (group === undefined) groups.set(piece.model, [piece])
    else group.push(piece)
  }
  return [...groups.values()].flat()
}

function spansOf(pieces: readonly Pick<Piece, 'model' | 'tokens'>[]): Span[] {
  const spans: Span[] = []
  let start = 0
  for (const { model, tokens } of pieces) {
    const last = spans.at(-1)
    if (last?.model === model) spans[spans.length - 1] = { ...last, rows: last.rows + tokens.length }
    else spans.push({ model, start, rows: tokens.length })
    start += tokens.length
  }
  return spans
}

function count(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { tokens }) => sum + tokens.length, 0)
}
