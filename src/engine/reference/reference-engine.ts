// The reference engine: Llama, Qwen2 and Qwen3 in plain float64, one thread, fixed order of sums. Slow, and what faster engines
// are measured against.
import type { Datum, Engine, EngineOp, EngineResult, FwdBwd } from '../../contracts/index.ts'
import { sha256 } from '../../kernel/index.ts'
import { type BaseModel, loadBaseModel } from '../files/base-model.ts'
import { decodeCheckpoint } from '../files/checkpoint.ts'
import { checkFits, checkLora, type ResolvedModel } from '../files/model-spec.ts'
import { type Breathe, breather, oneAtATime } from '../in-process-engine.ts'
import { type CheckedDatum, checkDerivatives, checkedData, evaluateDatum } from '../losses/checked-data.ts'
import { lossFunction } from '../losses/losses.ts'
import { checkAdam, type Parameters } from '../optimizer/adam-state.ts'
import { loaded, refused } from '../refused.ts'
import { stopsAtText } from '../sampling/next-token.ts'
import { drawSamples } from './draw-samples.ts'
import { ModelState, type ReferenceModel } from './reference-model.ts'
import { backward, forward, logprobsAt, type RowDerivatives, type Trace } from './transformer.ts'

/** Changes with every change of a number. */
const numbers = 'reference engine, numbers of version 1'

const v8Version = `v8-${process.versions.v8.split('.', 2).join('.')}`

/** In multiplications: a few milliseconds. */
const perBreath = 10_000_000

export type ReferenceEngineOptions = {
  resolve: (baseModel: string, signal: AbortSignal) => Promise<ResolvedModel>
  /** Larger models are refused: each parameter takes 8 bytes, and time. */
  maxParameters?: number | undefined
}

type LoadedBase = { readonly base: BaseModel; readonly openDecode?: ResolvedModel['openDecode'] | undefined }

/** Makes an engine without models; `create` and `import` add one. Base weights are read once and shared by all adapters. */
export function createReferenceEngine({ resolve, maxParameters = 200_000_000 }: ReferenceEngineOptions): Engine {
  const bases = new Map<string, LoadedBase>()
  const models = new Map<string, ModelState>()
  const baseOf = async (name: string, signal: AbortSignal): Promise<LoadedBase> => {
    const known = bases.get(name)
    if (known !== undefined) return known
    const { folder, openDecode } = await resolve(name, signal)
    const loaded = { base: await loadBaseModel(folder, { maxParameters, signal }), openDecode }
    bases.set(name, loaded)
    return loaded
  }
  const forgetUnused = () => {
    const used = new Set([...models.values()].map(({ model }) => model.spec.baseModel))
    for (const name of bases.keys()) if (!used.has(name)) bases.delete(name)
  }
  return oneAtATime({
    // Math.exp and Math.cos may differ in their last bit between versions of V8.
    id: { kind: 'reference', sourceHash: sha256(numbers), threads: 1, cpuFeatures: Object.freeze([v8Version]) },
    perform: (op, signal) => perform({ models, baseOf, forgetUnused }, op, signal),
    close() {
      models.clear()
      bases.clear()
    },
  })
}

type Held = {
  models: Map<string, ModelState>
  baseOf: (name: string, signal: AbortSignal) => Promise<LoadedBase>
  forgetUnused: () => void
}

async function perform(held: Held, op: EngineOp, signal: AbortSignal): Promise<EngineResult> {
  const { models, baseOf } = held
  const breathe = breather(signal, perBreath)
  switch (op.op) {
    case 'create': {
      if (models.has(op.model)) throw refused(`the model "${op.model}" exists already`, 'choose another id.')
      if (op.lora !== undefined) checkLora(op.lora)
      const { base } = await baseOf(op.baseModel, signal)
      models.set(op.model, new ModelState({ baseModel: op.baseModel, lora: op.lora }, base))
      return { done: true }
    }
    case 'unload':
      models.delete(op.model)
      held.forgetUnused()
      return { done: true }
    case 'forward':
      return { fwdBwd: await forwardBackward(loaded(models, op.model).model, op, { breathe }) }
    case 'forward_backward': {
      const state = loaded(models, op.model)
      // Into separate gradients: a request that fails or is aborted adds nothing.
      const gradients = state.model.zeroGradients()
      const fwdBwd = await forwardBackward(state.model, op, { gradients, breathe })
      state.accumulate(gradients)
      return { fwdBwd }
    }
    case 'optim_step': {
      const state = loaded(models, op.model)
      checkAdam(op.adam)
      return { metrics: state.step(op.adam) }
    }
    case 'sample': {
      const { model } = loaded(models, op.model)
      const { openDecode } = await baseOf(model.spec.baseModel, signal)
      const decode = stopsAtText(op.request) ? await openDecode?.() : undefined
      return { samples: await drawSamples(model, op.request, { decode, breathe }) }
    }
    case 'export':
    case 'export_state':
      return { bytes: loaded(models, op.model).export(op.op === 'export_state') }
    case 'import': {
      const checkpoint = decodeCheckpoint(op.bytes)
      checkFits(checkpoint, models.get(op.model)?.model.spec)
      const { base } = await baseOf(checkpoint.baseModel, signal)
      models.set(op.model, ModelState.import(checkpoint, base, { optimizer: op.optimizer }))
      return { done: true }
    }
  }
}

// Log-probabilities and gradients of a batch, one text after the other: no text sees another.
type Pass = Pick<Extract<EngineOp, { readonly data: readonly Datum[] }>, 'data' | 'loss'>

/** Computes the loss of a batch and, with `gradients`, adds its gradient to them. On an error they hold a part of it. */
export async function forwardBackward(
  model: ReferenceModel,
  { data, loss: named }: Pass,
  { gradients, breathe }: { gradients?: Parameters | undefined; breathe: Breathe },
): Promise<FwdBwd> {
  const loss = lossFunction(named)
  const { vocabSize, maxPositions } = model.shape
  const checked = checkedData(data, loss, { vocabSize, maxTokens: maxPositions })
  const outputs: FwdBwd['outputs'][number][] = []
  let sum = 0
  for (const [index, datum] of checked.entries()) {
    const trace = await forward(model, datum.tokens, { breathe })
    const logprobs = await targetLogprobs(model, trace, datum, breathe)
    const { losses, derivatives } = evaluateDatum(datum, loss, logprobs)
    for (const value of losses) sum += value
    outputs.push({ logprobs: { data: logprobs, shape: datum.targets.shape } })
    if (gradients === undefined) continue
    checkDerivatives(derivatives, logprobs, `datum ${index}`)
    if (derivatives.some((derivative) => derivative !== 0)) {
      await backward(model, gradients, trace, rowsOf(datum, derivatives), breathe)
    }
  }
  return { outputs, metrics: { 'loss:sum': sum } }
}

async function targetLogprobs(
  model: ReferenceModel,
  trace: Trace,
  { targets, targetsPerToken, tokens }: CheckedDatum,
  breathe: Breathe,
): Promise<Float64Array> {
  const { vocabSize, hiddenSize } = model.shape
  const logprobs = new Float64Array(targets.data.length)
  for (let t = 0; t < tokens.length; t++) {
    const row_V = logprobsAt(model, trace, t)
    for (let at = t * targetsPerToken; at < (t + 1) * targetsPerToken; at++) {
      logprobs[at] = row_V[targets.data[at] ?? 0] ?? Number.NaN
    }
    await breathe(vocabSize * hiddenSize)
  }
  return logprobs
}

function rowsOf({ targets, targetsPerToken, tokens }: CheckedDatum, derivatives: Float64Array): RowDerivatives[] {
  return Array.from(tokens, (_, t) =>
    Array.from({ length: targetsPerToken }, (_, k) => {
      const at = t * targetsPerToken + k
      return { token: targets.data[at] ?? 0, derivative: derivatives[at] ?? 0 }
    }),
  )
}
