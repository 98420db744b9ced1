// The mock engine: bigram models behind the interface of every engine.
import type { Datum, Engine, EngineOp, EngineResult, FwdBwd, Sample, SampleReq } from '../../contracts/index.ts'
import { keyedRandom, sha256 } from '../../kernel/index.ts'
import { checkLora } from '../files/model-spec.ts'
import { breather, oneAtATime } from '../in-process-engine.ts'
import { type CheckedDatum, checkedData, evaluateDatum } from '../losses/checked-data.ts'
import { lossFunction } from '../losses/losses.ts'
import { AdamState, checkAdam } from '../optimizer/adam-state.ts'
import { loaded, refused } from '../refused.ts'
import { checkLogprobs, checkRequest } from '../sampling/check-request.ts'
import { drawToken, greedyToken, type NextToken, nextToken } from '../sampling/next-token.ts'
import { promptScorer } from '../sampling/prompt-scores.ts'
import { BigramModel, type BigramSpec } from './bigram-model.ts'
import { exportModel, importModel, type LoadedModel } from './model-checkpoint.ts'

// Log-probabilities and gradients of a batch.
type Pass = Extract<EngineOp, { readonly data: readonly Datum[] }>

/** In tokens. */
const perBreath = 50_000

/** Computes the loss of a batch and, unless it is a plain `forward`, adds its gradient. All of the gradient or none. */
export async function forwardBackward(
  model: BigramModel,
  { op, data, loss: named }: Pass,
  signal: AbortSignal,
): Promise<FwdBwd> {
  const loss = lossFunction(named)
  const checked = checkedData(data, loss, { vocabSize: model.spec.vocabSize })
  const breathe = breather(signal, perBreath)
  const results: { logprobs: Float64Array; derivatives: Float64Array }[] = []
  let sum = 0
  for (const datum of checked) {
    const logprobs = targetLogprobs(model, datum)
    const { losses, derivatives } = evaluateDatum(datum, loss, logprobs)
    results.push({ logprobs, derivatives })
    for (const value of losses) sum += value
    await breathe(losses.length)
  }
  if (op === 'forward_backward') {
    for (const [index, datum] of checked.entries()) accumulate(model, datum, results[index]?.derivatives)
  }
  return {
    outputs: results.map(({ logprobs }, index) => ({
      logprobs: { data: logprobs, shape: checked[index]?.targets.shape ?? [] },
    })),
    metrics: { 'loss:sum': sum },
  }
}

function targetLogprobs(model: BigramModel, { tokens, targets, targetsPerToken }: CheckedDatum): Float64Array {
  const { data } = targets
  const logprobs = new Float64Array(data.length)
  for (let at = 0; at < data.length; at++) {
    const row_U = model.logprobs(tokens[Math.floor(at / targetsPerToken)] ?? 0)
    logprobs[at] = row_U[data[at] ?? -1] ?? Number.NaN
  }
  return logprobs
}

function accumulate(model: BigramModel, datum: CheckedDatum, derivatives: Float64Array | undefined): void {
  const { tokens, targets, targetsPerToken } = datum
  derivatives?.forEach((derivative, at) => {
    if (derivative === 0) return
    model.accumulate(tokens[Math.floor(at / targetsPerToken)] ?? 0, targets.data[at] ?? 0, derivative)
  })
}

/** Changes with every change of a number: mock-engine.test.ts holds the bytes that this version gives. */
const numbers = 'mock engine, numbers of version 2'

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
    case 'import': {
      const into = models.get(op.model)?.model.spec
      models.set(op.model, importModel(op.bytes, { optimizer: op.optimizer, vocabSize, into }))
      return { done: true }
    }
  }
}

function fresh(spec: BigramSpec, seed: number): LoadedModel {
  const model = new BigramModel(spec, seed)
  return { model, adam: new AdamState(model.parameters) }
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

// Samples of a bigram model. A draw is addressed by the request's seed and the number of the sample, so a sample does not depend
// on how many others are asked for.
type Request = Omit<SampleReq, 'model'>

/** Samples of one request, one after the other: the caller decides when to draw the next. */
export function* drawSamples(model: BigramModel, request: Request): Generator<Sample, void> {
  checkRequest(request, { vocabSize: model.spec.vocabSize })
  checkLogprobs(model.logprobs(request.prompt.at(-1) ?? 0))
  const scorer = promptScorer(request)
  for (const [at, token] of request.prompt.entries()) scorer.add(at, model.logprobs(token))
  // A token of this model is a byte.
  const stops = (request.stop ?? []).map((stop) => (typeof stop === 'number' ? [stop] : [...Buffer.from(stop, 'utf8')]))
  const known = new Map<number, NextToken>()
  const next = (previous: number) => {
    const made = known.get(previous) ?? nextToken(model.logprobs(previous), request)
    known.set(previous, made)
    return made
  }
  for (let index = 0; index < request.numSamples; index++) {
    yield { ...drawOne(model, request, { stops, index, next }), ...scorer.scores }
  }
}

type Draw = { stops: readonly (readonly number[])[]; index: number; next: (previous: number) => NextToken }

function drawOne(model: BigramModel, request: Request, { stops, index, next }: Draw): Sample {
  const random = keyedRandom(request.seed, 'mock', 'sample', index)
  const tokens: number[] = []
  const logprobs: number[] = []
  let previous = request.prompt.at(-1) ?? 0
  let stopReason: Sample['stopReason'] = 'length'
  while (tokens.length < request.maxTokens) {
    const drawn =
      request.temperature === 0 ? greedyToken(model.logprobs(previous)) : drawToken(next(previous), random.float())
    tokens.push(drawn.token)
    logprobs.push(drawn.logprob)
    previous = drawn.token
    if (stops.some((stop) => endsWith(tokens, stop))) {
      stopReason = 'stop'
      break
    }
  }
  return { tokens: Int32Array.from(tokens), logprobs: Float64Array.from(logprobs), stopReason }
}

function endsWith(tokens: readonly number[], stop: readonly number[]): boolean {
  const start = tokens.length - stop.length
  return start >= 0 && stop.every((token, index) => tokens[start + index] === token)
}
