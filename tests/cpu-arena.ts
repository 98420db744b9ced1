// Places in the one memory that programs work on. First fit with joining of neighbours: blocks are few and large (tensors, and one
// region per pass), so the list is short. Knows offsets only, never what lies there.

/** Every block starts where a cache line and the widest vector do. */
export const alignment = 64

/** A block of the arena. */
export type Block = { readonly at: number; readonly bytes: number }

export class Arena {
  // Free blocks by place, never adjacent.
  #free: Block[] = []
  #end: number
  readonly #grow: (bytes: number) => void

  /** `grow` is told the size that the memory must have; it throws where there is no more. */
  constructor(start: number, grow: (bytes: number) => void) {
    this.#end = aligned(start)
    this.#grow = grow
  }

  alloc(bytes: number): Block {
    const size = Math.max(alignment, aligned(bytes))
    const found = this.#free.findIndex((block) => block.bytes >= size)
    const block = this.#free[found]
    if (block !== undefined) {
      const rest = { at: block.at + size, bytes: block.bytes - size }
      this.#free.splice(found, 1, ...(rest.bytes > 0 ? [rest] : []))
      return { at: block.at, bytes: size }
    }
    const last = this.#free.at(-1)
    const at = last !== undefined && last.at + last.bytes === this.#end ? last.at : this.#end
    this.#grow(at + size)
    if (at !== this.#end) this.#free.pop()
    this.#end = at + size
    return { at, bytes: size }
  }

  free(block: Block): void {
    const next = this.#free.findIndex(({ at }) => at > block.at)
    const place = next === -1 ? this.#free.length : next
    this.#free.splice(place, 0, block)
    this.#join(place)
    this.#join(place - 1)
  }

  /** Bytes in use. */
  get used(): number {
    return this.#free.reduce((sum, { bytes }) => sum - bytes, this.#end)
  }

  #join(index: number): void {
    const [left, right] = [this.#free[index], this.#free[index + 1]]
    if (left === undefined || right === undefined || left.at + left.bytes !== right.at) return
    this.#free.splice(index, 2, { at: left.at, bytes: left.bytes + right.bytes })
  }
}

/** The next place where a block may start. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment
}
