// A list of operations for one call of the kernels: 32-bit words, an opcode and its arguments each. Knows the table of operations,
// not what they compute.
import { EvsysError } from '../../kernel/index.ts'
import { type ArgKind, type OpArgs, type OpName, ops } from './ops.ts'

/** Bit of an opcode word: the next operation neither reads nor overwrites what this one writes, so no thread waits between them. */
export const independentBit = 1 << 16

export class Program {
  #words = new Int32Array(256)
  #floats = new Float32Array(this.#words.buffer)
  #length = 0
  #cuts: number[] = []

  /** The words so far; valid until the next operation is added. */
  get words(): Int32Array {
    return this.#words.subarray(0, this.#length)
  }

  /**
   * Appends an operation. `independent` says that the next one may start before this one has ended.
   *
   * ```ts
   * new Program().add('fill', { y, n: 64, value: 0 }).add('add', { y, x, n: 64, alpha: 2 })
   * ```
   */
  add<N extends OpName>(name: N, args: OpArgs<N>, { independent = false } = {}): this {
    const { code, args: kinds } = ops[name]
    const given: Readonly<Record<string, unknown>> = args
    const names = Object.entries(kinds)
    this.#reserve(1 + names.length)
    this.#words[this.#length++] = code | (independent ? independentBit : 0)
    for (const [arg, kind] of names) this.#write(kind, given[arg], `${name}.${arg}`)
    return this
  }

  /** Marks a place where others may have their turn. Nothing independent stands before it. */
  cut(): this {
    this.#cuts.push(this.#length)
    return this
  }

  /** The operations between the cuts, as separate programs. */
  get parts(): Program[] {
    const ends = [...this.#cuts, this.#length]
    return ends.flatMap((end, i) => {
      const start = ends[i - 1] ?? 0
      if (start === end) return []
      const part = new Program()
      part.#words = this.#words.slice(start, end)
      part.#floats = new Float32Array(part.#words.buffer)
      part.#length = end - start
      return [part]
    })
  }

  /** Forgets all operations. */
  clear(): void {
    this.#length = 0
    this.#cuts = []
  }

  #write(kind: ArgKind, value: unknown, what: string): void {
    const at = this.#length++
    if (kind === 'float') this.#floats[at] = checked(value, what, (v) => !Number.isNaN(v))
    else if (kind === 'flag') this.#words[at] = value === true ? 1 : 0
    else if (kind === 'type') this.#words[at] = value === 'bf16' ? 1 : 0
    else if (kind === 'int') this.#words[at] = checked(value, what, (v) => Number.isInteger(v) && v >= 0 && v < 2 ** 31)
    else if (kind === 'optional' && (value === undefined || value === 0)) this.#words[at] = 0
    // Offsets count words: 32 bits reach 16 GiB. The arena's first bytes are unused, so 0 is no tensor.
    else this.#words[at] = checked(value, what, (v) => Number.isInteger(v / 4) && v > 0 && v < 2 ** 34) / 4
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#words.length) return
    const grown = new Int32Array(2 * this.#words.length)
    grown.set(this.#words)
    this.#words = grown
    this.#floats = new Float32Array(grown.buffer)
  }
}

function checked(value: unknown, what: string, isRight: (value: number) => boolean): number {
  if (typeof value === 'number' && isRight(value)) return value
  throw new EvsysError('INTERNAL', `${what} of an engine program is ${String(value)}`)
}
