// Keys and values of positions that were computed before, in pages: a text takes what it needs, and texts that begin alike share
// pages. One page number stands for a page in the keys and in the values of every layer.
import { allocFor } from './alloc-for.ts'
import type { CpuBase } from './cpu-base.ts'
import { pageSize } from './ops.ts'
import type { Program } from './program.ts'

/** How many pages so many positions take. */
export const pagesFor = (positions: number): number => Math.ceil(positions / pageSize)

export class CachePool {
  readonly #base: CpuBase
  readonly #at: number
  readonly pages: number
  readonly #pageFloats: number
  readonly #free: number[]

  /** As many pages as so many texts can use, and as the bytes allow. */
  constructor(base: CpuBase, { bytes, texts }: { bytes: number; texts: number }) {
    const { layers, kvHeads, headDim, maxPositions } = base.shape
    this.#base = base
    this.#pageFloats = pageSize * kvHeads * headDim
    const context = pagesFor(maxPositions) + 1 // a prompt’s last page is copied
    const affordable = Math.floor(bytes / (4 * this.#pageFloats * 2 * layers))
    this.pages = Math.max(1, Math.min(affordable, texts * context))
    const total = 4 * this.#pageFloats * 2 * layers * this.pages
    this.#at = allocFor(base.runtime, total, 'the cache of keys and values', 'unload another model.')
    this.#free = Array.from({ length: this.pages }, (_, page) => this.pages - 1 - page)
  }

  keys(layer: number): number {
    return this.#at + 4 * 2 * layer * this.pages * this.#pageFloats
  }

  values(layer: number): number {
    return this.keys(layer) + 4 * this.pages * this.#pageFloats
  }

  get available(): number {
    return this.#free.length
  }

  /** Takes pages; the caller has seen that they are available. */
  take(count: number): number[] {
    if (count > this.#free.length) throw new Error(`${count} pages of ${this.#free.length}`)
    return this.#free.splice(this.#free.length - count, count)
  }

  give(pages: readonly number[]): void {
    this.#free.push(...pages)
  }

  /** Appends a copy of a page, in all layers. */
  copy(program: Program, from: number, to: number): void {
    const stride = this.pages * this.#pageFloats
    program.add('copyRows', {
      y: this.#at + 4 * to * this.#pageFloats,
      x: this.#at + 4 * from * this.#pageFloats,
      rows: 2 * this.#base.shape.layers,
      width: this.#pageFloats,
      ldy: stride,
      ldx: stride,
    })
  }

  free(): void {
    this.#base.runtime.free(this.#at)
  }
}
