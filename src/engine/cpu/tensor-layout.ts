// Tensors side by side in one block, each aligned: what is done to all of them (a step of Adam, a norm, zeroing) is one operation
// over one range. Gaps hold zeros and stay zero.
import { sizeOf } from '../files/model-shape.ts'

const floatBytes = 4

/** Where a cache line and the widest vector start. */
const alignment = 64

/** Bytes that a tensor takes with the gap after it. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment
}

/** Where parts of these sizes begin that lie one after the other. */
export function placed(start: number, sizes: readonly number[]): number[] {
  let at = start
  return sizes.map((bytes) => {
    at += bytes
    return at - bytes
  })
}

export class TensorLayout {
  /** Of everything, gaps included. */
  readonly bytes: number
  readonly #offsets = new Map<string, number>()

  constructor(shapes: ReadonlyMap<string, readonly number[]>) {
    let at = 0
    for (const [name, axes] of shapes) {
      this.#offsets.set(name, at)
      at += aligned(floatBytes * sizeOf(axes))
    }
    this.bytes = at
  }

  /** Numbers of everything, gaps included. */
  get length(): number {
    return this.bytes / floatBytes
  }

  /** Bytes from the start of the block to a tensor; undefined where it holds none of this name. */
  offset(name: string): number | undefined {
    return this.#offsets.get(name)
  }
}
