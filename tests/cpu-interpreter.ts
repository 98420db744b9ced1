// The operations of the kernels in plain TypeScript, as src/engine/cpu/ops.ts states them: sums in float64, results in the types of
// the arena. Says what a program should compute, and runs the engine where no kernels are.

import { BlockList } from '../src/engine/cpu/arena-runtime.ts'
import { type ArgKind, massBlock, type OpName, ops, pageSize } from '../src/engine/cpu/ops.ts'
import { independentBit, type Program } from '../src/engine/cpu/program.ts'
import type { Runtime } from '../src/engine/cpu/runtime.ts'
import { encodeFloats } from '../src/engine/files/float-codec.ts'
import { sha256 } from '../src/kernel/index.ts'

/** A runtime over memory of its own. */
export function createInterpreter({ capacityBytes = 1 << 28 } = {}): Runtime {
  const buffer = new ArrayBuffer(capacityBytes)
  const blocks = new BlockList(64, capacityBytes)
  const memory: Memory = {
    f32: (offset, length) => new Float32Array(buffer, offset, length),
    f64: (offset, length) => new Float64Array(buffer, offset, length),
    i32: (offset, length) => new Int32Array(buffer, offset, length),
    bytes: (offset, length) => new Uint8Array(buffer, offset, length),
  }
  return {
    id: { kind: 'cpu-interpreter', sourceHash: sha256('interpreter'), threads: 1, cpuFeatures: [] },
    capacityBytes,
    alloc(bytes) {
      const at = blocks.alloc(bytes)
      memory.bytes(at, bytes).fill(0xff) // undefined content: NaN where it is read
      return at
    },
    free: (at) => blocks.free(at),
    ...memory,
    run: (program) => interpret(program, memory),
    gflops: () => 0,
    async [Symbol.asyncDispose]() {},
  }
}

type Memory = Pick<Runtime, 'f32' | 'f64' | 'i32' | 'bytes'>
type Args = Record<string, number>
type Kernel = (args: Args, memory: Memory) => void

const byCode = new Map<number, OpName>(Object.entries(ops).map(([name, { code }]) => [code, name as OpName])) // its own keys

function interpret(program: Program, memory: Memory): void {
  const { words } = program
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length)
  for (let at = 0; at < words.length; ) {
    const name = byCode.get((words[at++] ?? 0) & (independentBit - 1))
    if (name === undefined) throw new Error(`no operation has the code before word ${at}`)
    const args: Args = {}
    for (const [arg, kind] of Object.entries<ArgKind>(ops[name].args)) {
      const isPlace = kind === 'tensor' || kind === 'optional'
      args[arg] = kind === 'float' ? (floats[at] ?? 0) : (isPlace ? 4 : 1) * ((words[at] ?? 0) >>> 0)
      at++
    }
    kernels[name](args, memory)
  }
}

/** Reads of a tensor of either element type, by index. */
function reader(memory: Memory, at: number, length: number, type: number): (i: number) => number {
  if (type === 0) {
    const values = memory.f32(at, length)
    return (i) => values[i] ?? Number.NaN
  }
  const halves = new Uint16Array(memory.bytes(at, 2 * length).buffer, at, length)
  const [bits, float] = pun()
  return (i) => {
    bits[0] = (halves[i] ?? 0) << 16
    return float[0] ?? Number.NaN
  }
}

function pun(): [Int32Array, Float32Array] {
  const bits = new Int32Array(1)
  return [bits, new Float32Array(bits.buffer)]
}

const size = (rows: number, stride: number, width: number) => (rows === 0 ? 0 : (rows - 1) * stride + width)
const get = (values: ArrayLike<number>, i: number) => values[i] ?? Number.NaN

// Zero is not a required argument: the table says which are; a missing one reads as NaN and shows.
const kernels: Record<OpName, Kernel> = {
  trap() {
    throw new Error('lost on purpose')
  },
  gemm({ c = 0, a = 0, b = 0, m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0, alpha = 0, ...flags }, memory) {
    const { transA, transB, bType = 0, accumulate } = flags
    const out = memory.f32(c, size(m, ldc, n))
    const left = memory.f32(a, transA ? size(k, lda, m) : size(m, lda, k))
    const right = reader(memory, b, transB ? size(n, ldb, k) : size(k, ldb, n), bType)
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        let sum = accumulate ? get(out, i * ldc + j) : 0
        for (let l = 0; l < k; l++) {
          sum += alpha * get(left, transA ? l * lda + i : i * lda + l) * right(transB ? j * ldb + l : l * ldb + j)
        }
        out[i * ldc + j] = sum
      }
    }
  },
  // Panels are the kernels' own: here a packed matrix is [n, k], in its element type.
  pack({ dst = 0, b = 0, n = 0, k = 0, ldb = 0, transB, bType = 0 }, memory) {
    const bytes = bType === 0 ? 4 : 2
    const target = memory.bytes(dst, bytes * n * k)
    for (let j = 0; j < n; j++) {
      for (let l = 0; l < k; l++) {
        target.set(memory.bytes(b + bytes * (transB ? j * ldb + l : l * ldb + j), bytes), bytes * (j * k + l))
      }
    }
  },
  gemmPacked({ k = 0, ...args }, memory) {
    kernels.gemm({ ...args, k, ldb: k, transA: 0, transB: 1 }, memory)
  },
  rmsNorm({ y = 0, scale = 0, x = 0, w = 0, rows = 0, width = 0, eps = 0 }, memory) {
    const [out, from, weight] = [memory.f32(y, rows * width), memory.f32(x, rows * width), memory.f32(w, width)]
    for (let r = 0; r < rows; r++) {
      let sum = 0
      for (let i = 0; i < width; i++) sum += get(from, r * width + i) ** 2
      const s = Math.fround(1 / Math.sqrt(sum / width + eps))
      if (scale !== 0) memory.f32(scale, rows)[r] = s
      for (let i = 0; i < width; i++) out[r * width + i] = get(weight, i) * get(from, r * width + i) * s
    }
  },
  rmsNormBack({ dx = 0, dw = 0, dy = 0, x = 0, w = 0, scale = 0, rows = 0, width = 0, accumulate }, memory) {
    const [into, gradient, from] = [dx, dy, x].map((at) => memory.f32(at, rows * width)) as [F, F, F] // three of them
    const [weight, scales] = [memory.f32(w, width), memory.f32(scale, rows)]
    const dWeight = dw === 0 ? new Float64Array(width) : Float64Array.from(memory.f32(dw, width))
    for (let r = 0; r < rows; r++) {
      const s = get(scales, r)
      let sum = 0
      for (let i = 0; i < width; i++) sum += get(from, r * width + i) * get(weight, i) * get(gradient, r * width + i)
      const pull = (sum * s ** 3) / width
      for (let i = 0; i < width; i++) {
        const at = r * width + i
        const g = get(gradient, at)
        dWeight[i] = get(dWeight, i) + g * get(from, at) * s
        into[at] = (accumulate ? get(into, at) : 0) + s * get(weight, i) * g - pull * get(from, at)
      }
    }
    if (dw !== 0) memory.f32(dw, width).set(dWeight)
  },
  rope({ x = 0, positions = 0, cos = 0, sin = 0, rows = 0, heads = 0, headDim = 0, ldx = 0, inverse }, memory) {
    const values = memory.f32(x, size(rows, ldx, heads * headDim))
    const half = headDim / 2
    for (const [r, position] of memory.i32(positions, rows).entries()) {
      const [cosines, sines] = [
        memory.f32(cos + 4 * position * half, half),
        memory.f32(sin + 4 * position * half, half),
      ]
      for (let h = 0; h < heads; h++) {
        for (let i = 0; i < half; i++) {
          const at = r * ldx + h * headDim + i
          const [a, b, c, s] = [
            get(values, at),
            get(values, at + half),
            get(cosines, i),
            (inverse ? -1 : 1) * get(sines, i),
          ]
          values[at] = a * c - b * s
          values[at + half] = b * c + a * s
        }
      }
    }
  },
  attention(args, memory) {
    const { out = 0, lse = 0, starts = 0, segments = 0, heads = 0, headDim = 0 } = args
    const bounds = memory.i32(starts, segments + 1)
    for (let segment = 0; segment < segments; segment++) {
      const [first, end] = [get(bounds, segment), get(bounds, segment + 1)]
      for (let t = first; t < end; t++) {
        for (let h = 0; h < heads; h++) {
          const keys = Array.from({ length: t - first + 1 }, (_, j) => first + j)
          const row = attendRow(memory, args, { t, h, keyRow: (j) => keys[j] ?? 0, length: keys.length })
          memory.f32(out + 4 * (t * heads + h) * headDim, headDim).set(row.read)
          memory.f32(lse, (t + 1) * heads)[t * heads + h] = row.lse
        }
      }
    }
  },
  attentionBack(args, memory) {
    const { dq = 0, dk = 0, dv = 0, dOut = 0, starts = 0, segments = 0 } = args
    const { heads = 0, kvHeads = 0, headDim = 0, scale = 0, q = 0, k = 0, v = 0, ldq = 0, ldk = 0, ldv = 0 } = args
    const bounds = memory.i32(starts, segments + 1)
    const rows = get(bounds, segments)
    const [dQuery, dKey, dValue] = [heads, kvHeads, kvHeads].map(
      (count) => new Float64Array(rows * count * headDim),
    ) as [
      Float64Array,
      Float64Array,
      Float64Array, // one for each count
    ]
    for (let segment = 0; segment < segments; segment++) {
      const first = get(bounds, segment)
      for (let t = first; t < get(bounds, segment + 1); t++) {
        for (let h = 0; h < heads; h++) {
          const group = Math.floor(h / (heads / kvHeads))
          const { p } = attendRow(memory, args, { t, h, keyRow: (j) => first + j, length: t - first + 1 })
          const query = memory.f32(q + 4 * (t * ldq + h * headDim), headDim)
          const gradient = memory.f32(dOut + 4 * (t * heads + h) * headDim, headDim)
          const dp = p.map((_, j) => dot(gradient, memory.f32(v + 4 * ((first + j) * ldv + group * headDim), headDim)))
          const mean = p.reduce((sum, each, j) => sum + each * get(dp, j), 0)
          for (const [j, each] of p.entries()) {
            const key = memory.f32(k + 4 * ((first + j) * ldk + group * headDim), headDim)
            const dScore = scale * each * (get(dp, j) - mean)
            const [atQ, atK] = [(t * heads + h) * headDim, ((first + j) * kvHeads + group) * headDim]
            for (let i = 0; i < headDim; i++) {
              dQuery[atQ + i] = get(dQuery, atQ + i) + dScore * get(key, i)
              dKey[atK + i] = get(dKey, atK + i) + dScore * get(query, i)
              dValue[atK + i] = get(dValue, atK + i) + each * get(gradient, i)
            }
          }
        }
      }
    }
    memory.f32(dq, dQuery.length).set(dQuery)
    memory.f32(dk, dKey.length).set(dKey)
    memory.f32(dv, dValue.length).set(dValue)
  },
  cacheAttention(args, memory) {
    const { out = 0, q = 0, kCache = 0, vCache = 0, pages = 0, sequences = 0, lengths = 0, rows = 0 } = args
    const { heads = 0, kvHeads = 0, headDim = 0, ldPages = 0 } = args
    if (args.slots) kernels.cacheRows(args, memory)
    for (let t = 0; t < rows; t++) {
      const sequence = get(memory.i32(sequences, rows), t)
      const length = get(memory.i32(lengths, rows), t)
      const list = memory.i32(pages + 4 * sequence * ldPages, Math.ceil(length / pageSize))
      for (let h = 0; h < heads; h++) {
        const group = Math.floor(h / (heads / kvHeads))
        const block = (cache: number, j: number) => {
          const at = (get(list, Math.floor(j / pageSize)) * kvHeads + group) * pageSize * headDim
          return memory.f32(cache + 4 * at, pageSize * headDim)
        }
        const { read } = attendOver(memory.f32(q + 4 * (t * heads + h) * headDim, headDim), args.scale ?? 0, {
          length,
          key: (j) => {
            const keys = block(kCache, j)
            const key = new Float32Array(headDim)
            for (let d = 0; d < headDim; d++) key[d] = get(keys, d * pageSize + (j % pageSize))
            return key
          },
          value: (j) => block(vCache, j).subarray((j % pageSize) * headDim, ((j % pageSize) + 1) * headDim),
        })
        memory.f32(out + 4 * (t * heads + h) * headDim, headDim).set(read)
      }
    }
  },
  swiglu({ y = 0, gate = 0, up = 0, n = 0 }, memory) {
    const [out, g, u] = [memory.f32(y, n), memory.f32(gate, n), memory.f32(up, n)]
    for (let i = 0; i < n; i++) out[i] = get(g, i) * sigmoid(get(g, i)) * get(u, i)
  },
  swigluBack({ dGate = 0, dUp = 0, dy = 0, gate = 0, up = 0, n = 0 }, memory) {
    const [g, u, d] = [memory.f32(gate, n).slice(), memory.f32(up, n).slice(), memory.f32(dy, n).slice()]
    const [dG, dU] = [memory.f32(dGate, n), memory.f32(dUp, n)]
    for (let i = 0; i < n; i++) {
      const s = sigmoid(get(g, i))
      dG[i] = get(d, i) * get(u, i) * s * (1 + get(g, i) * (1 - s))
      dU[i] = get(d, i) * get(g, i) * s
    }
  },
  addBias({ y = 0, b = 0, rows = 0, width = 0 }, memory) {
    const [out, bias] = [memory.f32(y, rows * width), memory.f32(b, width)]
    for (let i = 0; i < out.length; i++) out[i] = get(out, i) + get(bias, i % width)
  },
  biasBack({ db = 0, dy = 0, rows = 0, width = 0 }, memory) {
    const [into, from] = [memory.f32(db, width), memory.f32(dy, rows * width)]
    const sums = Float64Array.from(into)
    for (let i = 0; i < from.length; i++) sums[i % width] = get(sums, i % width) + get(from, i)
    into.set(sums)
  },
  gatherRows({ y = 0, table = 0, ids = 0, rows = 0, width = 0, type = 0 }, memory) {
    const out = memory.f32(y, rows * width)
    for (const [r, id] of memory.i32(ids, rows).entries()) {
      const row = id < 0 ? () => 0 : reader(memory, table + (type === 0 ? 4 : 2) * id * width, width, type)
      for (let i = 0; i < width; i++) out[r * width + i] = row(i)
    }
  },
  cacheRows({ kCache = 0, vCache = 0, k = 0, v = 0, slots = 0, rows = 0, kvHeads = 0, headDim = 0 }, memory) {
    for (const [r, slot] of memory.i32(slots, rows).entries()) {
      if (slot < 0) continue
      const [page, at] = [Math.floor(slot / pageSize), slot % pageSize]
      for (let head = 0; head < kvHeads; head++) {
        const block = (page * kvHeads + head) * pageSize * headDim
        const [keys, values] = [kCache, vCache].map((cache) => memory.f32(cache + 4 * block, pageSize * headDim))
        const from = 4 * (r * kvHeads + head) * headDim
        values?.set(memory.f32(v + from, headDim), at * headDim)
        for (const [d, value] of memory.f32(k + from, headDim).entries()) keys?.set([value], d * pageSize + at)
      }
    }
  },
  scatterAddRows({ y = 0, x = 0, ids = 0, rows = 0, width = 0 }, memory) {
    for (const [r, id] of memory.i32(ids, rows).entries()) {
      if (id < 0) continue
      const [into, from] = [memory.f32(y + 4 * id * width, width), memory.f32(x + 4 * r * width, width)]
      for (let i = 0; i < width; i++) into[i] = get(into, i) + get(from, i)
    }
  },
  head(args, memory) {
    const { logprobs = 0, lse = 0, ids = 0, rows = 0, targets = 0 } = args
    const wanted = memory.i32(ids, rows * targets)
    for (let r = 0; r < rows; r++) {
      const logits = headLogits(memory, args, r)
      const normalizer = Math.fround(logSumExp(logits))
      memory.f32(lse, rows)[r] = normalizer
      for (let j = r * targets; j < (r + 1) * targets; j++) {
        const id = get(wanted, j)
        memory.f32(logprobs, rows * targets)[j] = id < 0 ? 0 : get(logits, id) - normalizer
      }
    }
  },
  headBack(args, memory) {
    const { dx = 0, dx2 = 0, dw = 0, dw2 = 0, g = 0, lse = 0, x = 0, w = 0, x2 = 0, w2 = 0, ids = 0 } = args
    const { rows = 0, targets = 0, width = 0, vocab = 0, rank = 0, wType = 0 } = args
    const dLogits = new Float64Array(rows * vocab)
    const [derivatives, wanted] = [memory.f32(g, rows * targets), memory.i32(ids, rows * targets)]
    for (let r = 0; r < rows; r++) {
      const logits = headLogits(memory, args, r)
      let mass = 0
      for (let j = r * targets; j < (r + 1) * targets; j++) if (get(wanted, j) >= 0) mass += get(derivatives, j)
      if (mass !== 0)
        for (let v = 0; v < vocab; v++)
          dLogits[r * vocab + v] = -mass * Math.exp(get(logits, v) - get(memory.f32(lse, rows), r))
      for (let j = r * targets; j < (r + 1) * targets; j++) {
        const at = r * vocab + get(wanted, j)
        if (get(wanted, j) >= 0) dLogits[at] = get(dLogits, at) + get(derivatives, j)
      }
    }
    const back = (dFrom: number, dWeight: number, from: number, weight: number, size: number, type: number) => {
      const [read, rowsOf] = [reader(memory, weight, vocab * size, type), memory.f32(from, rows * size)]
      for (let r = 0; dFrom !== 0 && r < rows; r++) {
        for (let i = 0; i < size; i++) {
          let sum = 0
          for (let v = 0; v < vocab; v++) sum += get(dLogits, r * vocab + v) * read(v * size + i)
          memory.f32(dFrom, rows * size)[r * size + i] = sum
        }
      }
      if (dWeight === 0) return
      const into = memory.f32(dWeight, vocab * size)
      for (let v = 0; v < vocab; v++) {
        for (let i = 0; i < size; i++) {
          let sum = get(into, v * size + i)
          for (let r = 0; r < rows; r++) sum += get(dLogits, r * vocab + v) * get(rowsOf, r * size + i)
          into[v * size + i] = sum
        }
      }
    }
    back(dx, dw, x, w, width, wType)
    if (rank > 0) back(dx2, dw2, x2, w2, rank, 0)
  },
  logSumExp({ lse = 0, masses = 0, x = 0, rows = 0, width = 0, ldx = 0 }, memory) {
    const blocks = Math.ceil(width / massBlock)
    for (let r = 0; r < rows; r++) {
      const row = memory.f32(x + 4 * r * ldx, width)
      const normalizer = logSumExp(row)
      memory.f32(lse, rows)[r] = normalizer
      for (let b = 0; masses !== 0 && b < blocks; b++) {
        const block = row.subarray(b * massBlock, (b + 1) * massBlock)
        memory.f32(masses, rows * blocks)[r * blocks + b] = Math.exp(logSumExp(block) - normalizer)
      }
    }
  },
  add({ y = 0, x = 0, n = 0, alpha = 0 }, memory) {
    const [out, from] = [memory.f32(y, n), memory.f32(x, n)]
    for (let i = 0; i < n; i++) out[i] = get(out, i) + alpha * get(from, i)
  },
  scale({ y = 0, n = 0, alpha = 0 }, memory) {
    const out = memory.f32(y, n)
    for (let i = 0; i < n; i++) out[i] = alpha * get(out, i)
  },
  fill({ y = 0, n = 0, value = 0 }, memory) {
    memory.f32(y, n).fill(value)
  },
  copyRows({ y = 0, x = 0, rows = 0, width = 0, ldy = 0, ldx = 0 }, memory) {
    for (let r = 0; r < rows; r++) memory.f32(y + 4 * r * ldy, width).set(memory.f32(x + 4 * r * ldx, width))
  },
  convert({ y = 0, x = 0, n = 0, yType = 0, xType = 0 }, memory) {
    const read = reader(memory, x, n, xType)
    if (yType === 0) {
      const out = memory.f32(y, n)
      for (let i = 0; i < n; i++) out[i] = read(i)
      return
    }
    const out = memory.bytes(y, 2 * n)
    encodeFloats(
      'BF16',
      Float64Array.from({ length: n }, (_, i) => read(i)),
      out,
    )
  },
  sumSquares({ sum = 0, x = 0, n = 0, accumulate }, memory) {
    const total = memory.f64(sum, 1)
    total[0] = memory.f32(x, n).reduce((so, value) => so + value * value, accumulate ? get(total, 0) : 0)
  },
  adamw({ p = 0, g = 0, m = 0, v = 0, n = 0, ...factors }, memory) {
    const {
      gradScale = 0,
      beta1 = 0,
      rest1 = 0,
      beta2 = 0,
      rest2 = 0,
      rate = 0,
      secondScale = 0,
      eps = 0,
      decay = 0,
    } = factors
    const [values, gradient, first, second] = [p, g, m, v].map((at) => memory.f32(at, n)) as [F, F, F, F] // four of them
    for (let i = 0; i < n; i++) {
      const scaled = gradScale * get(gradient, i)
      first[i] = beta1 * get(first, i) + rest1 * scaled
      second[i] = beta2 * get(second, i) + rest2 * scaled * scaled
      const move = (rate * get(first, i)) / (secondScale * Math.sqrt(get(second, i)) + eps)
      values[i] = get(values, i) - (decay * get(values, i) + move)
    }
  },
}

type F = Float32Array

function attendRow(
  memory: Memory,
  args: Args,
  { t, h, keyRow, length }: { t: number; h: number; keyRow: (j: number) => number; length: number },
): { read: Float64Array; lse: number; p: Float64Array } {
  const { q = 0, k = 0, v = 0, ldq = 0, ldk = 0, ldv = 0, heads = 0, kvHeads = 0, headDim = 0, scale = 0 } = args
  const group = Math.floor(h / (heads / kvHeads))
  return attendOver(memory.f32(q + 4 * (t * ldq + h * headDim), headDim), scale, {
    length,
    key: (j) => memory.f32(k + 4 * (keyRow(j) * ldk + group * headDim), headDim),
    value: (j) => memory.f32(v + 4 * (keyRow(j) * ldv + group * headDim), headDim),
  })
}

type Text = { length: number; key: (j: number) => F; value: (j: number) => F }

function attendOver(query: F, scale: number, { length, key, value }: Text) {
  const p = new Float64Array(length)
  for (let j = 0; j < length; j++) p[j] = scale * dot(query, key(j))
  const lse = logSumExp(p)
  const read = new Float64Array(query.length)
  for (let j = 0; j < length; j++) {
    const each = Math.exp(get(p, j) - lse)
    const of = value(j)
    for (let i = 0; i < read.length; i++) read[i] = get(read, i) + each * get(of, i)
    p[j] = each
  }
  return { read, lse, p }
}

// As two products give them: each is rounded to float32, the second starts at the first.
function headLogits(memory: Memory, args: Args, row: number): Float32Array {
  const { x = 0, w = 0, x2 = 0, w2 = 0, width = 0, vocab = 0, rank = 0, wType = 0 } = args
  const [input, weight] = [memory.f32(x + 4 * row * width, width), reader(memory, w, vocab * width, wType)]
  const logits = new Float32Array(vocab)
  for (let v = 0; v < vocab; v++) {
    let sum = 0
    for (let i = 0; i < width; i++) sum += get(input, i) * weight(v * width + i)
    logits[v] = sum
    if (rank === 0) continue
    sum = get(logits, v)
    const [low, up] = [memory.f32(x2 + 4 * row * rank, rank), memory.f32(w2 + 4 * v * rank, rank)]
    for (let i = 0; i < rank; i++) sum += get(low, i) * get(up, i)
    logits[v] = sum
  }
  return logits
}

function logSumExp(values: Float32Array | Float64Array): number {
  let largest = Number.NEGATIVE_INFINITY
  for (let i = 0; i < values.length; i++) if (!(get(values, i) <= largest)) largest = get(values, i)
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += Math.exp(get(values, i) - largest)
  return largest + Math.log(sum)
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += get(a, i) * get(b, i)
  return sum
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))
