// The reference engine: Llama, Qwen2 and Qwen3 in plain float64, one thread, fixed order of sums. Slow, and what faster engines
// are measured against.
import type { Engine, EngineOp, EngineResult } from '../../contracts/index.ts'
import { sha256 } from '../../kernel/index.ts'
import { breather } from '../breather.ts'
import { type BaseModel, loadBaseModel } from '../files/base-model.ts'
import { decodeCheckpoint } from '../files/checkpoint.ts'
import { checkLora } from '../lora-spec.ts'
import { checkFits } from '../model-spec.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import { checkAdam } from '../optimizer/check-adam.ts'
import { refused } from '../refused.ts'
import type { ResolvedModel } from '../resolved-model.ts'
import { stopsAtText } from '../sampling/stop-test.ts'
import { drawSamples } from './draw-samples.ts'
import { forwardBackward } from './forward-backward.ts'
import { ModelState } from './model-state.ts'

/** Changes with every change of a number. */
const numbers = 'reference engine, numbers of version 1'

/** In multiplications: a few milliseconds. */
const perBreath = 10_000_000

export type ReferenceEngineOptions = {
  resolve: (baseModel: string, signal: AbortSignal) => Promise<ResolvedModel>
  /** Larger models are refused: each parameter takes 8 bytes, and time. */
  maxParameters?: number
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
    id: {
      kind: 'reference',
      sourceHash: sha256(numbers),
      threads: 1,
      cpuFeatures: Object.freeze([`v8-${process.versions.v8.split('.', 2).join('.')}`]),
    },
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
      // Into gradients of their own: a request that fails or is aborted leaves no half behind.
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

function loaded(models: ReadonlyMap<string, ModelState>, id: string): ModelState {
  const found = models.get(id)
  if (found !== undefined) return found
  throw refused(`no model is called "${id}"`, 'create it first.')
}
