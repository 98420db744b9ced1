// Places in the arena. First fit with joining of neighbours: blocks are few and large, so the list is short. Knows offsets only.
import { EvsysError } from '../../../kernel/index.ts'

/** Every block starts where a cache line and the widest vector do. */
const alignment = 64

type Gap = { from: number; to: number }

export class BlockList {
  readonly #sizes = new Map<number, number>()
  // By place, never adjacent.
  readonly #gaps: Gap[]

  constructor(from: number, to: number) {
    this.#gaps = [{ from: aligned(from), to: to - (to % alignment) }]
  }

  alloc(bytes: number): number {
    const size = Math.max(alignment, aligned(bytes))
    const index = this.#gaps.findIndex((gap) => gap.to - gap.from >= size)
    const gap = this.#gaps[index]
    if (gap === undefined) throw outOfMemory(size, this.#gaps)
    const { from } = gap
    gap.from += size
    if (gap.from === gap.to) this.#gaps.splice(index, 1)
    this.#sizes.set(from, size)
    return from
  }

  free(offset: number): void {
    const size = this.#sizes.get(offset)
    if (size === undefined) throw new EvsysError('INTERNAL', `nothing was allocated at ${offset} of the arena`)
    this.#sizes.delete(offset)
    const found = this.#gaps.findIndex(({ from }) => from > offset)
    const at = found === -1 ? this.#gaps.length : found
    const [before, after] = [this.#gaps[at - 1], this.#gaps[at]]
    const joinsBefore = before?.to === offset
    const joinsAfter = after?.from === offset + size
    if (joinsBefore && joinsAfter) {
      before.to = after.to
      this.#gaps.splice(at, 1)
    } else if (joinsBefore) before.to += size
    else if (joinsAfter) after.from = offset
    else this.#gaps.splice(at, 0, { from: offset, to: offset + size })
  }
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment
}

function outOfMemory(bytes: number, gaps: readonly Gap[]): EvsysError {
  const largest = gaps.reduce((most, { from, to }) => Math.max(most, to - from), 0)
  return new EvsysError('BACKEND_REFUSED', `the engine's memory has no room for ${bytes} bytes; ${largest} are free`, {
    fix: 'use a smaller model or shorter batches, or give the engine more memory.',
  })
}
