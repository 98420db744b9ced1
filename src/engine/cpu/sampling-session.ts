// Requests for samples of models over the same weights, answered together: every pass holds the next token of each sample that is
// being drawn and a part of the prompts that are being read. A sample that ends makes room for the next at once.
import { EvsysError } from '../../kernel/index.ts'
import { refused } from '../refused.ts'
import { CachePasses } from './cache-pass.ts'
import { CachePool, pagesFor } from './cache-pool.ts'
import { type CpuBase, type PackedWeights, packedSize } from './cpu-base.ts'
import type { CpuModel } from './cpu-model.ts'
import { pageSize } from './ops.ts'
import type { LogitRow, Piece } from './pass-head.ts'
import { Program } from './program.ts'
import type { Asked, SampleJob, Sequence } from './sample-job.ts'

/** Samples that are drawn at once: beyond it a pass is bound by arithmetic, and more rows gain nothing. */
const mostSequences = 64
/** With the first samples of requests, which wait for none of a request that wants a thousand. */
const mostWithFirst = 80
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
  #waiting: SampleJob[] = []
  #open: SampleJob[] = []
  #passes = 0
  #lastPacked: PackedWeights | undefined

  constructor(base: CpuBase, { cacheBytes }: { cacheBytes: number }) {
    this.#base = base
    this.#pool = new CachePool(base, { bytes: cacheBytes, texts: mostWithFirst })
    this.#cachePasses = new CachePasses(base, this.#pool)
  }

  /** Refuses a request that would not find room if it were alone. */
  add(job: SampleJob): void {
    const { length } = job.request.prompt
    const needed = pagesFor(length) + job.pagesPerSample
    if (needed > this.#pool.pages) {
      throw refused(
        `the prompt has ${length} tokens and a sample up to ${job.limit}: the cache holds ${this.#pool.pages * pageSize}`,
        'ask for fewer tokens.',
      )
    }
    const isIn = [...this.#open, ...this.#waiting].some((each) => each.join(job))
    if (!isIn) this.#waiting.push(job)
  }

  /** Fails all jobs with an error that no single one caused. */
  fail(error: unknown): void {
    for (const job of [...this.#waiting, ...this.#open]) this.#fail(job, error)
  }

  get hasWork(): boolean {
    return this.#waiting.length + this.#open.length > 0
  }

  uses(model: CpuModel): boolean {
    return [...this.#open, ...this.#waiting].some((job) => job.model === model)
  }

  free(): void {
    this.#cachePasses.free()
    this.#pool.free()
  }

  /** One pass. */
  step(): void {
    for (const job of [...this.#waiting, ...this.#open]) {
      for (const asked of job.asked) {
        const { signal, reject } = asked.asker
        if (signal.aborted) this.#end(job, asked, () => reject(signal.reason))
      }
    }
    this.#admit()
    this.#startSamples()
    const pieces = [...this.#samplePieces(), ...this.#promptPieces()]
    if (pieces.length > 0) this.#cachePasses.run(pieces, this.#packed(pieces))
    for (const job of [...this.#open]) {
      for (const asked of job.finished) this.#end(job, asked, () => asked.asker.resolve(asked.samples))
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
    for (let [job] = this.#waiting; job !== undefined; [job] = this.#waiting) {
      const promptPages = pagesFor(job.request.prompt.length)
      if (this.#pool.available < promptPages + job.pagesPerSample) return
      this.#waiting.shift()
      job.promptPages = this.#pool.take(promptPages)
      job.spare = this.#pool.take(job.pagesPerSample)
      this.#open.push(job)
    }
  }

  #startSamples(): void {
    if (!this.#open.some(({ hasMore, spare }) => hasMore || spare !== undefined)) return
    const copies = new Program()
    let active = this.#open.reduce((sum, job) => sum + job.active.size, 0)
    const start = (job: SampleJob, own: readonly number[]) => {
      const sequence = job.start(own)
      if (sequence === undefined) return own
      active++
      this.#copyRest(copies, job, sequence)
      return undefined
    }
    const isRead = (job: SampleJob) => job.read >= job.request.prompt.length
    const inTurn = this.#open.filter(isRead).toSorted((a, b) => a.active.size - b.active.size)
    for (const job of inTurn) {
      const most = () => (job.isUnbegun ? mostWithFirst : mostSequences)
      for (let started = 0; job.hasMore && active < most() && started < mostAtOnce; started++) {
        if (job.spare === undefined && this.#pool.available < job.pagesPerSample) break
        const own = job.spare ?? this.#pool.take(job.pagesPerSample)
        job.spare = start(job, own)
      }
      // Kept only as long as a sample may need them.
      if (!job.hasMore && job.spare !== undefined) {
        this.#pool.give(job.spare)
        job.spare = undefined
      }
    }
    if (copies.words.length > 0) this.#base.runtime.run(copies)
  }

  // The prompt's last page, where it is not full, is continued in each sample.
  #copyRest(program: Program, { request, promptPages }: SampleJob, { own }: Sequence): void {
    const [from, to] = [promptPages.at(-1), own[0]]
    if (request.prompt.length % pageSize === 0 || from === undefined || to === undefined) return
    this.#pool.copy(program, from, to)
  }

  #samplePieces(): Piece[] {
    const pieces: Piece[] = []
    for (const job of this.#open) {
      for (const sequence of job.active) {
        const { tokens, pages } = sequence
        pieces.push({
          model: job.model,
          tokens: [tokens.at(-1) ?? 0],
          start: job.request.prompt.length + tokens.length - 1,
          pages,
          from: 0,
          scale: job.scale,
          onRow: (_index, row) => this.#guard(job, () => this.#draw(job, sequence, row)),
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
    for (const job of this.#open) {
      const start = job.read
      const tokens = job.request.prompt.subarray(start, start + room)
      if (tokens.length === 0) continue
      room -= tokens.length
      job.read += tokens.length
      pieces.push({
        model: job.model,
        tokens,
        start,
        pages: job.promptPages,
        from: Math.min(tokens.length, Math.max(0, job.firstScored - start)),
        scale: 1,
        onRow: (index, row) => this.#guard(job, () => job.takePrompt(start + index, row)),
      })
    }
    return pieces
  }

  // An error of one job rejects its requests; the others continue.
  #guard(job: SampleJob, work: () => void): void {
    if (!this.#open.includes(job)) return
    try {
      work()
    } catch (error) {
      this.#fail(job, error)
    }
  }

  #fail(job: SampleJob, error: unknown): void {
    for (const asked of job.asked) this.#end(job, asked, () => asked.asker.reject(error))
  }

  // The last request that is answered takes the job with it.
  #end(job: SampleJob, asked: Asked, report: () => void): void {
    const [first, ...others] = job.drop(asked).map(({ own }) => own)
    if (job.hasMore && job.spare === undefined)
      job.spare = first // what is left of the job comes to its end
    else this.#pool.give(first ?? [])
    this.#pool.give(others.flat())
    if (job.asked.length === 0) {
      this.#waiting = this.#waiting.filter((each) => each !== job)
      this.#open = this.#open.filter((each) => each !== job)
      this.#pool.give([...job.promptPages, ...(job.spare ?? [])])
      job.promptPages = []
      job.spare = undefined
    }
    report()
  }
}
