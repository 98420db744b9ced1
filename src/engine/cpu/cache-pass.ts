// Passes over pieces of texts whose earlier positions are in the cache: a whole prompt, a part of one, or the last token. Pieces of
// several adapters over one base go together. While samples are drawn, pass after pass has the same form: its program and its place
// are kept, and only tokens and tables are written anew.
import type { CachePool } from './cache-pool.ts'
import type { CpuBase, PackedWeights } from './cpu-base.ts'
import type { CpuModel } from './cpu-model.ts'
import { pageSize } from './ops.ts'
import { PassHead, type Piece, type Wanted } from './pass-head.ts'
import { type PassPlan, planPass } from './pass-plan.ts'
import { Program } from './program.ts'
import { rankOf, type Span } from './projection.ts'
import { aligned, placed } from './tensor-layout.ts'
import { transformerForward } from './transformer.ts'

/** Rows of logits that are held at once. */
const logitBytes = 64 * 2 ** 20

export class CachePasses {
  readonly #base: CpuBase
  readonly #pool: CachePool
  #kept: { readonly form: Form; readonly body: PassBody; readonly head: PassHead } | undefined

  constructor(base: CpuBase, pool: CachePool) {
    this.#base = base
    this.#pool = pool
  }

  /** Computes pieces, adds them to the cache, and reports the wanted rows. */
  run(given: readonly Piece[], packed?: PackedWeights | undefined): void {
    const pieces = byModel(given)
    const wanted = wantedRows(pieces)
    const form = this.#form(pieces, wanted, packed)
    if (this.#kept === undefined || !isSame(this.#kept.form, form)) this.#prepare(form, wanted)
    if (this.#kept === undefined) return
    const { body, head } = this.#kept
    body.write(pieces)
    head.write(wanted)
    this.#base.runtime.run(body.program)
    head.report(wanted)
    // More rows than can be held: the others follow, some at a time.
    for (let at = head.rows; at < wanted.length; at += head.rows) {
      const part = wanted.slice(at, at + head.rows)
      const program = new Program()
      const other = new PassHead(this.#base, program, { wanted: part, ...body.result, packed })
      try {
        other.write(part)
        this.#base.runtime.run(program)
        other.report(part)
      } finally {
        other.free()
      }
    }
  }

  free(): void {
    this.#kept?.head.free()
    this.#kept?.body.free()
    this.#kept = undefined
  }

  #prepare(form: Form, wanted: readonly Wanted[]): void {
    this.free()
    const body = new PassBody(this.#base, this.#pool, form)
    try {
      const { packed } = form
      const part = wanted.slice(0, mostWanted(this.#base))
      const head = new PassHead(this.#base, body.program, { wanted: part, ...body.result, packed })
      this.#kept = { form, body, head }
    } catch (error) {
      body.free()
      throw error
    }
  }

  #form(pieces: readonly Piece[], wanted: readonly Wanted[], packed: PackedWeights | undefined): Form {
    let [rows, positions, pages] = [0, 0, 1]
    for (const piece of pieces) {
      rows += piece.tokens.length
      positions = Math.max(positions, piece.start + piece.tokens.length)
      pages = Math.max(pages, piece.pages.length)
    }
    // A few more, so that the form stays while texts grow.
    const pagesPerText = 2 ** Math.ceil(Math.log2(pages))
    const spans = spansOf(pieces)
    const heads = wanted.slice(0, mostWanted(this.#base)).map(({ piece: { model, scale } }) => ({ model, scale }))
    return { rows, spans, heads, texts: pieces.length, pagesPerText, rope: this.#base.rope(positions), packed }
  }
}

/** What decides a program: passes of equal forms differ in their tables alone. */
type Form = {
  readonly rows: number
  readonly spans: readonly Span[]
  readonly heads: readonly { readonly model: CpuModel; readonly scale: number }[]
  readonly texts: number
  readonly pagesPerText: number
  readonly rope: ReturnType<CpuBase['rope']>
  readonly packed: PackedWeights | undefined
}

function isSame(a: Form, b: Form): boolean {
  return (
    a.rows === b.rows &&
    a.texts === b.texts &&
    a.pagesPerText === b.pagesPerText &&
    a.rope === b.rope &&
    a.packed === b.packed &&
    a.spans.length === b.spans.length &&
    a.spans.every(({ model, rows }, i) => model === b.spans[i]?.model && rows === b.spans[i]?.rows) &&
    a.heads.length === b.heads.length &&
    a.heads.every(({ model, scale }, i) => model === b.heads[i]?.model && scale === b.heads[i]?.scale)
  )
}

/** Everything up to the last norm, with the tables that say which rows belong where. */
class PassBody {
  readonly program = new Program()
  readonly #base: CpuBase
  readonly #block: number
  readonly #plan: PassPlan
  readonly #form: Form
  readonly #tables: Readonly<Record<'tokens' | 'positions' | 'sequences' | 'lengths' | 'slots' | 'pages', Int32Array>>

  constructor(base: CpuBase, pool: CachePool, form: Form) {
    const { runtime, shape } = base
    const { heads, kvHeads, headDim } = shape
    const { rows, spans, texts, pagesPerText, rope, packed } = form
    const rank = rankOf(spans)
    const size = { shape, rows, segments: 0, targets: 0, rank, mode: 'forward' } as const
    const sizes = [
      planPass(size, 0).end,
      ...[rows, rows, rows, texts * pagesPerText].map((count) => aligned(4 * count)),
    ]
    this.#base = base
    this.#form = form
    this.#block = runtime.alloc(sizes.reduce((sum, bytes) => sum + bytes, 0))
    this.#plan = planPass(size, this.#block)
    const { tokens, positions } = this.#plan
    const [, sequences = 0, lengths = 0, slots = 0, pages = 0] = placed(this.#block, sizes)
    const ofRows = (at: number) => runtime.i32(at, rows)
    this.#tables = {
      tokens: ofRows(tokens),
      positions: ofRows(positions),
      sequences: ofRows(sequences),
      lengths: ofRows(lengths),
      slots: ofRows(slots),
      pages: runtime.i32(pages, texts * pagesPerText),
    }
    // A text's only row is written where it is read; of several, all must be there before the first is read.
    const isSingle = rows === texts
    const context = {
      spans,
      rows,
      positions,
      rope,
      lowWidth: rank,
      packed,
      takesTurned: !isSingle,
      attend(program: Program, layer: number, { read, q, k, v }: PassPlan['layers'][number]) {
        const [kCache, vCache] = [pool.keys(layer), pool.values(layer)]
        if (!isSingle) program.add('cacheRows', { kCache, vCache, k, v, slots, rows, kvHeads, headDim })
        const written = isSingle ? { k, v, slots } : undefined
        const cache = { kCache, vCache, pages, sequences, lengths, ldPages: pagesPerText }
        const scale = 1 / Math.sqrt(headDim)
        program.add('cacheAttention', { out: read, q, ...cache, rows, ...written, heads, kvHeads, headDim, scale })
      },
    }
    transformerForward(this.program, context, this.#plan)
  }

  /** Where the pass leaves its rows, and how many there are. */
  get result(): { normed: number; rows: number } {
    return { normed: this.#plan.normed, rows: this.#form.rows }
  }

  write(pieces: readonly Piece[]): void {
    const { tokens, positions, sequences, lengths, slots, pages } = this.#tables
    let row = 0
    for (const [sequence, piece] of pieces.entries()) {
      pages.set(piece.pages, sequence * this.#form.pagesPerText)
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

  free(): void {
    this.#base.runtime.free(this.#block)
  }
}

function wantedRows(pieces: readonly Piece[]): Wanted[] {
  const wanted: Wanted[] = []
  let first = 0
  for (const piece of pieces) {
    for (let index = piece.from; index < piece.tokens.length; index++) wanted.push({ piece, index, row: first + index })
    first += piece.tokens.length
  }
  return wanted
}

function mostWanted({ shape }: CpuBase): number {
  return Math.max(1, Math.floor(logitBytes / (4 * shape.vocabSize)))
}

// Rows of one model side by side, otherwise in their order.
function byModel(pieces: readonly Piece[]): readonly Piece[] {
  const [first] = pieces
  if (pieces.every(({ model }) => model === first?.model)) return pieces
  const groups = new Map<CpuModel, Piece[]>()
  for (const piece of pieces) {
    const group = groups.get(piece.model)
    if (group === undefined) groups.set(piece.model, [piece])
    else group.push(piece)
  }
  return [...groups.values()].flat()
}

function spansOf(pieces: readonly Piece[]): Span[] {
  const spans: { model: CpuModel; start: number; rows: number }[] = []
  let start = 0
  for (const { model, tokens } of pieces) {
    const last = spans.at(-1)
    if (last?.model === model) last.rows += tokens.length
    else spans.push({ model, start, rows: tokens.length })
    start += tokens.length
  }
  return spans
}
