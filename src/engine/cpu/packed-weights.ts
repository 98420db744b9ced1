// Matrices of a model as the kernels read them fastest when there are few rows, as in drawing samples: a second copy, for speed
// alone. A product with it has every bit of the product with the original.
import type { CpuBase, Weight } from './cpu-base.ts'
import { packedBytes } from './ops.ts'
import { Program } from './runtime/program.ts'
import { aligned } from './tensor-layout.ts'

export class PackedWeights {
  readonly #base: CpuBase
  readonly #block: number
  readonly #places = new Map<string, number>()

  /** Packs the matrices of all projections; `weightOf` says where each lies. */
  constructor(base: CpuBase, weightOf: (name: string) => Weight) {
    this.#base = base
    this.#block = base.runtime.alloc(packedSize(base, weightOf))
    const program = new Program()
    let dst = this.#block
    for (const { name, n, k } of matrices(base)) {
      const { at: b, type: bType } = weightOf(name)
      program.add('pack', { dst, b, n, k, ldb: k, transB: true, bType }, { independent: true })
      this.#places.set(name, dst)
      dst += aligned(packedBytes(n, k, bType))
    }
    base.runtime.run(program)
  }

  /** Where a matrix lies. */
  at(name: string): number | undefined {
    return this.#places.get(name)
  }

  free(): void {
    this.#base.runtime.free(this.#block)
  }
}

/** Bytes that the copy takes. */
export function packedSize(base: CpuBase, weightOf: (name: string) => Weight): number {
  return matrices(base).reduce((sum, { name, n, k }) => sum + aligned(packedBytes(n, k, weightOf(name).type)), 0)
}

function matrices({ shape, shapes }: CpuBase): { name: string; n: number; k: number }[] {
  const head = shape.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight'
  return [...shapes].flatMap(([name, [n = 0, k]]) =>
    k === undefined || (!name.endsWith('_proj.weight') && name !== head) ? [] : [{ name, n, k }],
  )
}
