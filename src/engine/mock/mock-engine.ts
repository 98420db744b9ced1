// The mock engine: bigram models behind the interface of every engine.
import type { Engine, EngineOp, EngineResult, Sample, SampleReq } from '../../contracts/index.ts'
import { sha256 } from '../../kernel/index.ts'
import { breather } from '../breather.ts'
import { checkLora } from '../lora-spec.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import { AdamState } from '../optimizer/adam-state.ts'
import { checkAdam } from '../optimizer/check-adam.ts'
import { refused } from '../refused.ts'
import { BigramModel, type BigramSpec } from './bigram-model.ts'
import { drawSamples } from './draw-samples.ts'
import { forwardBackward } from './forward-backward.ts'
import { exportModel, importModel, type LoadedModel } from './model-checkpoint.ts'

/** Changes with every change of a number: mock-engine.test.ts holds the bytes that this version gives. */
const numbers = 'mock engine, numbers of version 2'

/** In tokens. */
const perBreath = 50_000

export type MockEngineOptions = {
  /** Tokens of every model: 256 bytes and the special ones above them. */
  vocabSize: number
}

/** Makes an engine without models; `create` adds one. */
export function createMockEngine({ vocabSize }: MockEngineOptions): Engine {
  const models = new Map<string, LoadedModel>()
  return oneAtATime({
    id: { kind: 'mock', sourceHash: sha256(numbers), threads: 1, cpuFeatures: [] },
    perform: (op, signal) => perform(models, vocabSize, op, signal),
    close: () => models.clear(),
  })
}

async function perform(
  models: Map<string, LoadedModel>,
  vocabSize: number,
  op: EngineOp,
  signal: AbortSignal,
): Promise<EngineResult> {
  switch (op.op) {
    case 'create': {
      if (models.has(op.model)) throw refused(`the model "${op.model}" exists already`, 'choose another id.')
      // One matrix is all there is: any part that is switched on trains it.
      if (op.lora !== undefined) checkLora(op.lora)
      models.set(op.model, fresh({ baseModel: op.baseModel, vocabSize, rank: op.lora?.rank }, op.lora?.seed ?? 0))
      return { done: true }
    }
    case 'unload':
      models.delete(op.model)
      return { done: true }
    case 'forward':
    case 'forward_backward':
      return { fwdBwd: await forwardBackward(loaded(models, op.model).model, op, signal) }
    case 'optim_step': {
      const { model, adam } = loaded(models, op.model)
      checkAdam(op.adam)
      const norm = adam.apply(model.parameters, model.gradients(), op.adam)
      model.changed()
      return { metrics: { 'optim/grad_norm': norm } }
    }
    case 'sample':
      return { samples: await samples(loaded(models, op.model).model, op.request, signal) }
    case 'export':
    case 'export_state':
      return { bytes: exportModel(loaded(models, op.model), op.op === 'export_state') }
    case 'import':
      models.set(
        op.model,
        importModel(op.bytes, { optimizer: op.optimizer, vocabSize, into: models.get(op.model)?.model.spec }),
      )
      return { done: true }
  }
}

function fresh(spec: BigramSpec, seed: number): LoadedModel {
  const model = new BigramModel(spec, seed)
  return { model, adam: new AdamState(model.parameters) }
}

function loaded(models: ReadonlyMap<string, LoadedModel>, id: string): LoadedModel {
  const found = models.get(id)
  if (found !== undefined) return found
  throw refused(`no model is called "${id}"`, 'create it first.')
}

async function samples(model: BigramModel, request: Omit<SampleReq, 'model'>, signal: AbortSignal): Promise<Sample[]> {
  const drawn: Sample[] = []
  const breathe = breather(signal, perBreath)
  for (const sample of drawSamples(model, request)) {
    drawn.push(sample)
    await breathe(sample.tokens.length)
  }
  return drawn
}
