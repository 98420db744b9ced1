import { describe, expectTypeOf, it } from 'vitest'
import type { Metrics } from './quantity.ts'
import type {
  Adam,
  CheckpointKind,
  EngineOp,
  EngineResult,
  FwdBwd,
  Loss,
  NamedLoss,
  Ref,
  RefOf,
  Sample,
  SampleReq,
  SamplerRef,
  SaveOptions,
  StateRef,
  TopKLogprobs,
  TrainingService,
} from './training-service.ts'

declare const service: TrainingService
declare const state: StateRef
declare const sampler: SamplerRef
declare const ref: Ref
declare const loss: Loss
declare const op: EngineOp
declare const engineResult: EngineResult

const request: Omit<SampleReq, 'model'> = {
  prompt: new Int32Array([1]),
  numSamples: 2,
  maxTokens: 8,
  temperature: 1,
  seed: 7,
}

describe('saved weights', () => {
  it('are typed by what they are good for', () => {
    expectTypeOf(service.save('m', 'step_1', { kind: 'state' })).resolves.toEqualTypeOf<StateRef>()
    expectTypeOf(service.save('m', 'step_1', { kind: 'sampler', ttlSeconds: 60 })).resolves.toEqualTypeOf<SamplerRef>()
    expectTypeOf(service.snapshot('m')).resolves.toEqualTypeOf<SamplerRef>()
    void service.load('m', state, { optimizer: true })
    void service.sample({ ...request, model: sampler })
    void service.sample({ ...request, model: { baseModel: 'evsys/tiny' } })
    // @ts-expect-error training does not resume from weights for sampling
    void service.load('m', sampler, { optimizer: true })
    // @ts-expect-error nothing is sampled from training state
    void service.sample({ ...request, model: state })
    // @ts-expect-error nothing is sampled from weights that change meanwhile
    void service.sample({ ...request, model: 'm' })
  })

  it('narrow by their kind', () => {
    if (ref.kind === 'state') expectTypeOf(ref).toEqualTypeOf<StateRef>()
    else expectTypeOf(ref).toEqualTypeOf<SamplerRef>()
  })
})

describe('a request', () => {
  it('for samples stops at texts or at tokens, not at both', () => {
    expectTypeOf({ ...request, model: sampler, stop: ['\n\nUser:'] }).toExtend<SampleReq>()
    expectTypeOf({ ...request, model: sampler, stop: [151645] }).toExtend<SampleReq>()
    expectTypeOf({ ...request, model: sampler, stop: ['a', 1] }).not.toExtend<SampleReq>()
  })

  it('for the likeliest prompt tokens has a place for them in the answer', () => {
    expectTypeOf<SampleReq['topKPromptLogprobs']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<Sample['topKPromptLogprobs']>().toEqualTypeOf<TopKLogprobs | undefined>()
    expectTypeOf<Sample['promptLogprobs']>().toEqualTypeOf<Float64Array | undefined>()
  })

  it('has a loss that the service knows, or one of the caller', () => {
    if ('custom' in loss) expectTypeOf(loss.custom).returns.toHaveProperty('gradients')
    else expectTypeOf(loss).toEqualTypeOf<NamedLoss>()
    void service.forwardBackward('m', [], { name: 'ppo', config: { clip_low_threshold: 0.8 } })
    void service.forwardBackward('m', [], { custom: (data) => ({ loss: data.length, gradients: [] }) })
    // @ts-expect-error a loss has a name or a function
    void service.forwardBackward('m', [], {})
  })
})

describe('TrainingService', () => {
  it('can be implemented without a cast', () => {
    class Nothing implements TrainingService {
      async forward(): Promise<FwdBwd> {
        return { outputs: [], metrics: { 'loss:sum': 0 } }
      }
      async forwardBackward(): Promise<FwdBwd> {
        return this.forward()
      }
      async optimStep(_model: string, adam: Adam): Promise<Metrics> {
        return { lr: adam.learningRate }
      }
      async save<K extends CheckpointKind>(model: string, name: string, options: SaveOptions<K>): Promise<RefOf<K>> {
        return { kind: options.kind, uri: `${model}/${name}` }
      }
      async snapshot(model: string): Promise<SamplerRef> {
        return { kind: 'sampler', uri: model }
      }
      async load(): Promise<void> {}
      async sample({ numSamples }: SampleReq): Promise<Sample[]> {
        const one: Sample = { tokens: new Int32Array(), logprobs: new Float64Array(), stopReason: 'length' }
        return Array.from({ length: numSamples }, () => one)
      }
    }
    expectTypeOf<Nothing>().toExtend<TrainingService>()
  })
})

describe('an engine', () => {
  it('is sent data alone: no loss of the caller, no reference to a file', () => {
    if (op.op === 'forward_backward') expectTypeOf(op.loss).toEqualTypeOf<NamedLoss>()
    if (op.op === 'sample') expectTypeOf(op.request).not.toHaveProperty('model')
    if (op.op === 'create') expectTypeOf(op.lora?.rank).toEqualTypeOf<number | undefined>()
    expectTypeOf<EngineOp['op']>().toEqualTypeOf<
      | 'create'
      | 'unload'
      | 'forward'
      | 'forward_backward'
      | 'optim_step'
      | 'sample'
      | 'export'
      | 'export_state'
      | 'import'
    >()
  })

  it('answers with one thing, told apart by its key', () => {
    if ('samples' in engineResult) expectTypeOf(engineResult.samples).toEqualTypeOf<readonly Sample[]>()
    if ('bytes' in engineResult) expectTypeOf(engineResult.bytes).toEqualTypeOf<Uint8Array>()
  })
})
