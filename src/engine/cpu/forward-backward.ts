// Log-probabilities and gradients of a batch. Texts are packed into passes of bounded memory; no text sees another, and its numbers
// do not depend on what it is packed with. Losses are computed here, from the log-probabilities of each pass.
import { setImmediate } from 'node:timers/promises'
import type { Datum, EngineOp, FwdBwd } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { type CheckedDatum, checkDerivatives, checkedData, evaluateDatum } from '../losses/checked-data.ts'
import { type LossFunction, lossFunction } from '../losses/losses.ts'
import { allocFor } from './alloc-for.ts'
import type { BlockContext } from './block.ts'
import type { CpuModel } from './cpu-model.ts'
import { type PassPlan, type PassSize, planPass } from './pass-plan.ts'
import { Program } from './program.ts'
import type { GradientOf } from './projection.ts'
import type { Runtime } from './runtime.ts'
import { headForward, segmentAttention, transformerBackward, transformerForward } from './transformer.ts'

type Pass = Pick<Extract<EngineOp, { readonly data: readonly Datum[] }>, 'data' | 'loss'>

type ForwardBackwardOptions = {
  /** Absent: no gradient is computed. */
  gradientOf?: GradientOf | undefined
  /** For what a pass computes, beyond the weights. */
  memoryBytes: number
  signal: AbortSignal
}

const none = new Float64Array()

/** More rows in a pass gain nothing. */
const mostRows = 8192

/** Computes the loss of a batch and, with `gradientOf`, adds its gradient there. On an error a part of it is added. */
export async function forwardBackward(
  model: CpuModel,
  { data, loss: named }: Pass,
  { gradientOf, memoryBytes, signal }: ForwardBackwardOptions,
): Promise<FwdBwd> {
  const loss = lossFunction(named)
  const { vocabSize, maxPositions } = model.base.shape
  const checked = checkedData(data, loss, { vocabSize, maxTokens: maxPositions })
  const targets = Math.max(...checked.map(({ targetsPerToken }) => targetsPerToken))
  const size = { shape: model.base.shape, targets, rank: model.spec.lora?.rank ?? 0 }
  const mode = gradientOf === undefined ? 'forward' : 'keep'
  const total = checked.reduce((sum, { tokens }) => sum + tokens.length, 0)
  // Logits of the whole batch stay where they take a small part of the memory: to compute them again takes as long as the head did.
  const keepsLogits = mode === 'keep' && 4 * size.shape.vocabSize * Math.min(total, mostRows) <= memoryBytes / 4
  const perRow = bytesPerRow({ ...size, mode, keepsLogits })
  const maxRows = Math.floor(freeBytes(model.base.runtime, Math.min(memoryBytes, total * perRow)) / perRow)
  const outputs: FwdBwd['outputs'][number][] = []
  let sum = 0
  for (const part of microBatches(checked, Math.min(mostRows, maxRows))) {
    const rows = part.reduce((total, { tokens }) => total + tokens.length, 0)
    const passSize: PassSize = {
      ...size,
      rows,
      segments: part.length,
      mode: rows > maxRows && mode === 'keep' ? 'recompute' : mode,
      keepsLogits: keepsLogits && rows <= maxRows,
    }
    const options = { size: passSize, loss, gradientOf, firstIndex: outputs.length, signal }
    const result = await runPass(model, part, options)
    outputs.push(...result.outputs)
    for (const value of result.losses) sum += value
  }
  return { outputs, metrics: { 'loss:sum': sum } }
}

type PassOptions = Pick<ForwardBackwardOptions, 'gradientOf' | 'signal'> & {
  size: PassSize
  loss: LossFunction
  firstIndex: number
}

async function runPass(model: CpuModel, part: readonly CheckedDatum[], options: PassOptions) {
  const { size, loss, gradientOf, firstIndex, signal } = options
  const { runtime } = model.base
  const { rows, targets, rank, segments, mode, keepsLogits = false } = size
  const rope = model.base.rope(Math.max(...part.map(({ tokens }) => tokens.length))) // stays, so it comes first
  const bytes = planPass(size, 0).end
  const block = allocFor(runtime, bytes, `a pass over ${rows} tokens`, 'use shorter texts, or unload another model.')
  try {
    const plan = planPass(size, block)
    writeInputs(model, part, plan, size)
    const context: BlockContext = {
      spans: [{ model, start: 0, rows }],
      rows,
      positions: plan.positions,
      rope,
      lowWidth: rank,
      attend: segmentAttention(model.base, { starts: plan.starts, segments }),
    }
    const program = new Program()
    transformerForward(program, context, plan)
    headForward(program, { model, plan, rows, targets, rank, keepsLogits })
    await runInParts(runtime, program, signal)

    const evaluated = evaluate(part, runtime.f32(plan.logprobs, rows * targets), { loss, targets })
    if (gradientOf !== undefined && plan.back !== undefined) {
      const g = runtime.f32(plan.back.g, rows * targets).fill(0)
      let row = 0
      for (const [i, { tokens, targetsPerToken }] of part.entries()) {
        const { derivatives, logprobs } = evaluated[i] ?? { derivatives: none, logprobs: none }
        checkDerivatives(derivatives, logprobs, `datum ${firstIndex + i}`)
        spread(derivatives, targetsPerToken, g, row, targets)
        row += tokens.length
      }
      if (g.some((derivative) => derivative !== 0)) {
        program.clear()
        const recompute = mode === 'recompute' ? context : undefined
        const pass = { model, gradientOf, plan, rows, targets, rope, segments, lowWidth: rank, keepsLogits }
        transformerBackward(program, { ...pass, recompute })
        await runInParts(runtime, program, signal)
      }
    }
    return {
      outputs: evaluated.map(({ logprobs }, i) => ({
        logprobs: { data: logprobs, shape: part[i]?.targets.shape ?? [] },
      })),
      losses: evaluated.flatMap(({ losses }) => [...losses]),
    }
  } finally {
    runtime.free(block)
  }
}

// A pass may take minutes: between its layers the rest of the process has its turn, and the signal is checked.
async function runInParts(runtime: Runtime, program: Program, signal: AbortSignal): Promise<void> {
  for (const part of program.parts) {
    await setImmediate()
    signal.throwIfAborted()
    runtime.run(part)
  }
}

function writeInputs(
  model: CpuModel,
  part: readonly CheckedDatum[],
  plan: PassPlan,
  { rows, segments, targets }: PassSize,
) {
  const { runtime } = model.base
  const tokens = runtime.i32(plan.tokens, rows)
  const positions = runtime.i32(plan.positions, rows)
  const starts = runtime.i32(plan.starts, segments + 1)
  const ids = runtime.i32(plan.ids, rows * targets).fill(-1)
  let row = 0
  for (const [i, datum] of part.entries()) {
    starts[i] = row
    tokens.set(datum.tokens, row)
    for (let t = 0; t < datum.tokens.length; t++) positions[row + t] = t
    spread(datum.targets.data, datum.targetsPerToken, ids, row, targets)
    row += datum.tokens.length
  }
  starts[segments] = row
}

type Numbers = { readonly length: number; [index: number]: number }

// Rows of `from` values into rows of `to`, from `row` on.
function spread(values: ArrayLike<number>, from: number, into: Numbers, row: number, to: number): void {
  for (let i = 0; i < values.length; i++) into[(row + Math.floor(i / from)) * to + (i % from)] = values[i] ?? 0
}

function evaluate(
  part: readonly CheckedDatum[],
  all: Float32Array,
  { loss, targets }: { loss: LossFunction; targets: number },
) {
  let row = 0
  return part.map((datum) => {
    const { targetsPerToken: own } = datum
    const start = row * targets
    const logprobs = Float64Array.from(
      { length: datum.targets.data.length },
      (_, i) => all[start + Math.floor(i / own) * targets + (i % own)] ?? Number.NaN,
    )
    row += datum.tokens.length
    return { logprobs, ...evaluateDatum(datum, loss, logprobs) }
  })
}

// Of so many bytes, what the arena has left in one piece: halved until there is room.
function freeBytes(runtime: Runtime, bytes: number): number {
  for (let asked = bytes; asked > 1; asked /= 2) {
    try {
      runtime.free(runtime.alloc(Math.ceil(asked)))
      return asked
    } catch (error) {
      if (!EvsysError.is(error) || error.code !== 'BACKEND_REFUSED') throw error
    }
  }
  return 0
}

function bytesPerRow(size: Omit<PassSize, 'rows' | 'segments'>): number {
  const rows = 1024 // enough that rounding does not matter
  return planPass({ ...size, rows, segments: 1 }, 0).end / rows
}

/** Cuts a batch into parts of at most `maxRows` tokens, in order; a text that is longer stands alone. */
function microBatches<T extends { readonly tokens: { readonly length: number } }>(
  data: readonly T[],
  maxRows: number,
): T[][] {
  const parts: T[][] = []
  let rows = Number.POSITIVE_INFINITY
  for (const datum of data) {
    rows += datum.tokens.length
    if (rows > maxRows) {
      parts.push([])
      rows = datum.tokens.length
    }
    parts.at(-1)?.push(datum)
  }
  return parts
}
