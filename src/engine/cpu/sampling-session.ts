// Requests for samples of models over the same weights, answered together: every pass holds the next token of each sample that is
// being drawn and a part of the prompts that are being read. A sample that ends makes room for the next at once.
import type { Sample } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { refused } from '../refused.ts'
import { CachePasses, type Piece } from './cache-pass.ts'
import { CachePool, pagesFor } from './cache-pool.ts'
import type { CpuBase } from './cpu-base.ts'
import type { LogitRow } from './logit-row.ts'
import { pageSize } from './ops.ts'
import { type PackedWeights, packedSize } from './packed-weights.ts'
import { Program } from './runtime/program.ts'
import type { SampleJob, Sequence } from './sample-job.ts'

export type Asker = {
  readonly signal: AbortSignal
  resolve(samples: readonly Sample[]): void
  reject(error: unknown): void
}

type Entry = { readonly job: SampleJob; readonly asker: Asker }

/** Samples that are drawn at once: beyond it a pass is bound by arithmetic, and more rows gain nothing. */
const mostSequences = 64
/** Tokens of prompts in one pass. */
const mostPromptRows = 512
/** So many passes are run with the weights as they are. */
const passesBeforePacking = 4
/** Samples of one token each that are drawn between two turns. */
const mostAtOnce = 4096

export class SamplingSession {
  readonly #base: CpuBase
  readonly #pool: CachePool
  readonly #cachePasses: CachePasses
  #waiting: Entry[] = []
  #open: Entry[] = []
  #passes = 0
  #lastPacked: PackedWeights | undefined

  constructor(base: CpuBase, { cacheBytes }: { cacheBytes: number }) {
    this.#base = base
    this.#pool = new CachePool(base, { bytes: cacheBytes, texts: mostSequences })
    this.#cachePasses = new CachePasses(base, this.#pool)
  }

  /** Refuses a request that would not find room if it were alone. */
  add(job: SampleJob, asker: Asker): void {
    const { length } = job.request.prompt
    const needed = pagesFor(length) + job.pagesPerSample
    if (needed > this.#pool.pages) {
      throw refused(
        `the prompt has ${length} tokens and a sample up to ${job.limit}: the cache holds ${this.#pool.pages * pageSize}`,
        'ask for fewer tokens.',
      )
    }
    this.#waiting.push({ job, asker })
  }

  /** Tells everybody of an error that is nobody’s own. */
  fail(error: unknown): void {
    for (const entry of [...this.#waiting, ...this.#open]) this.#end(entry, () => entry.asker.reject(error))
  }

  get hasWork(): boolean {
    return this.#waiting.length + this.#open.length > 0
  }

  free(): void {
    this.#cachePasses.free()
    this.#pool.free()
  }

  /** One pass. */
  step(): void {
    for (const entry of [...this.#waiting, ...this.#open]) {
      if (entry.asker.signal.aborted) this.#end(entry, () => entry.asker.reject(entry.asker.signal.reason))
    }
    this.#admit()
    this.#startSamples()
    const pieces = [...this.#samplePieces(), ...this.#promptPieces()]
    if (pieces.length > 0) this.#cachePasses.run(pieces, this.#packed(pieces))
    for (const entry of [...this.#open]) {
      const { samples } = entry.job
      if (samples !== undefined) this.#end(entry, () => entry.asker.resolve(samples))
    }
  }

  // A copy of all matrices pays off when it is used again and again, and only where there is room for it.
  #packed(pieces: readonly Piece[]): PackedWeights | undefined {
    const [{ model } = { model: undefined }] = pieces
    if (model === undefined || ++this.#passes < passesBeforePacking) return undefined
    if (this.#passes > passesBeforePacking) return this.#lastPacked
    const bytes = packedSize(this.#base, (name) => model.weight(name))
    if (bytes > this.#base.runtime.capacityBytes / 4) return undefined
    try {
      this.#lastPacked = model.packed()
    } catch (error) {
      // The arena is full: it goes without, a little slower.
      if (!EvsysError.is(error) || error.code !== 'BACKEND_REFUSED') throw error
    }
    return this.#lastPacked
  }

  // In their order. With its prompt a job gets the pages of one sample, so that it comes to its end whatever the others do.
  #admit(): void {
    for (let [entry] = this.#waiting; entry !== undefined; [entry] = this.#waiting) {
      const { job } = entry
      const promptPages = pagesFor(job.request.prompt.length)
      if (this.#pool.available < promptPages + job.pagesPerSample) return
      this.#waiting.shift()
      job.promptPages = this.#pool.take(promptPages)
      job.spare = this.#pool.take(job.pagesPerSample)
      this.#open.push(entry)
    }
  }

  #startSamples(): void {
    if (!this.#open.some(({ job }) => job.hasMore || job.spare !== undefined)) return
    const copies = new Program()
    let free = mostSequences - this.#open.reduce((sum, { job }) => sum + job.active.size, 0)
    for (const entry of [...this.#open]) {
      const { job } = entry
      if (job.read < job.request.prompt.length) continue
      for (let started = 0; job.hasMore && free > 0 && started < mostAtOnce; started++) {
        if (job.spare === undefined && this.#pool.available < job.pagesPerSample) break
        const own = job.spare ?? this.#pool.take(job.pagesPerSample)
        job.spare = undefined
        const sequence = job.start(own)
        if (sequence === undefined) job.spare = own
        else {
          free--
          this.#copyRest(copies, job, sequence)
        }
      }
      // Kept only as long as a sample may need them.
      if (!job.hasMore && job.spare !== undefined) {
        this.#pool.give(job.spare)
        job.spare = undefined
      }
    }
    if (copies.words.length > 0) this.#base.runtime.run(copies)
  }

  // The prompt's last page, where it is not full, goes on in each sample.
  #copyRest(program: Program, { request, promptPages }: SampleJob, { own }: Sequence): void {
    const [from, to] = [promptPages.at(-1), own[0]]
    if (request.prompt.length % pageSize === 0 || from === undefined || to === undefined) return
    this.#pool.copy(program, from, to)
  }

  #samplePieces(): Piece[] {
    const pieces: Piece[] = []
    for (const entry of this.#open) {
      const { job } = entry
      for (const sequence of job.active) {
        const { tokens, pages } = sequence
        pieces.push({
          model: job.model,
          tokens: [tokens.at(-1) ?? 0],
          start: job.request.prompt.length + tokens.length - 1,
          pages,
          from: 0,
          scale: job.scale,
          hear: (_index, row) => this.#guard(entry, () => this.#draw(job, sequence, row)),
        })
      }
    }
    return pieces
  }

  #draw(job: SampleJob, sequence: Sequence, row: LogitRow): void {
    if (!job.draw(sequence, row)) return
    if (job.hasMore && job.spare === undefined) job.spare = sequence.own
    else this.#pool.give(sequence.own)
  }

  #promptPieces(): Piece[] {
    let room = mostPromptRows
    const pieces: Piece[] = []
    for (const entry of this.#open) {
      const { job } = entry
      const start = job.read
      const tokens = job.request.prompt.subarray(start, start + room)
      if (tokens.length === 0) continue
      room -= tokens.length
      job.read += tokens.length
      pieces.push({
        ...{ model: job.model, tokens, start, pages: job.promptPages },
        from: Math.min(tokens.length, Math.max(0, job.firstScored - start)),
        scale: 1,
        hear: (index, row) => this.#guard(entry, () => job.hearPrompt(start + index, row)),
      })
    }
    return pieces
  }

  // What goes wrong with one request is told to whoever asked; the others go on.
  #guard(entry: Entry, work: () => void): void {
    if (!this.#open.includes(entry)) return
    try {
      work()
    } catch (error) {
      this.#end(entry, () => entry.asker.reject(error))
    }
  }

  #end(entry: Entry, tell: () => void): void {
    const { job } = entry
    this.#waiting = this.#waiting.filter((each) => each !== entry)
    this.#open = this.#open.filter((each) => each !== entry)
    this.#pool.give([...job.promptPages, ...(job.spare ?? []), ...[...job.active].flatMap(({ own }) => own)])
    job.promptPages = []
    job.spare = undefined
    job.active.clear()
    tell()
  }
}
