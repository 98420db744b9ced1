// The mock engine: bigram models behind the interface of every engine. Operations run one after the other, in the order they
// were asked for; long ones let the process breathe in between.
import type {
  Adam,
  Engine,
  EngineId,
  EngineOp,
  EngineResult,
  LoraSpec,
  Sample,
  SampleReq,
} from '../../contracts/index.ts'
import { sha256 } from '../../kernel/index.ts'
import { AdamState } from './adam-state.ts'
import { BigramModel, type BigramSpec } from './bigram-model.ts'
import { breather } from './breather.ts'
import { drawSamples } from './draw-samples.ts'
import { forwardBackward } from './forward-backward.ts'
import { exportModel, importModel, type LoadedModel } from './model-checkpoint.ts'
import { refused } from './refused.ts'

/** Changes with every change of a number: mock-engine.test.ts holds the bytes that this version gives. */
const numbers = 'mock engine, numbers of version 1'

/** More than a bigram model can use. */
const largestRank = 4096

export type MockEngineOptions = {
  /** Tokens of every model: 256 bytes and the special ones above them. */
  vocabSize: number
}

/** Makes an engine without models; `create` adds one. */
export function createMockEngine({ vocabSize }: MockEngineOptions): Engine {
  const id: EngineId = Object.freeze({ kind: 'mock', sourceHash: sha256(numbers), threads: 1, cpuFeatures: [] })
  const models = new Map<string, LoadedModel>()
  let last: Promise<unknown> = Promise.resolve()
  return {
    id,
    run(op, signal) {
      const work = last.then(() => {
        signal.throwIfAborted()
        return perform(models, vocabSize, op, signal)
      })
      last = work.catch(() => {}) // one failed operation does not end the next
      return work
    },
    async [Symbol.asyncDispose]() {
      await last
      models.clear()
    },
  }
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

// One matrix is all there is: any part that is switched on trains it.
function checkLora({ rank, trainAttention, trainMlp, trainUnembedding }: LoraSpec): void {
  if (!(Number.isSafeInteger(rank) && rank >= 1 && rank <= largestRank)) {
    throw refused(`the adapter has rank ${rank}`, `use a whole number from 1 to ${largestRank}.`)
  }
  if (!(trainAttention || trainMlp || trainUnembedding)) {
    throw refused('the adapter would train nothing', 'switch on at least one part.')
  }
}

function checkAdam({ learningRate, beta1, beta2, eps, weightDecay = 0, gradClipNorm = 0 }: Adam): void {
  const isSound =
    [learningRate, weightDecay, gradClipNorm].every((value) => Number.isFinite(value) && value >= 0) &&
    [beta1, beta2].every((beta) => beta >= 0 && beta < 1) &&
    eps > 0
  if (!isSound) {
    throw refused(
      'the optimiser’s settings are out of range',
      'rates are finite and not negative, betas below 1, eps above 0.',
    )
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
  const breathe = breather(signal)
  for (const sample of drawSamples(model, request)) {
    drawn.push(sample)
    await breathe(sample.tokens.length)
  }
  return drawn
}
