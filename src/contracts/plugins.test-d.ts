import { describe, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import type { Generated, InferenceClient } from './inference-plugins.ts'
import type { Context, Needs, Plugin, PluginCard, PluginType } from './plugin.ts'
import type { AnyPlugin, Callback, PluginTypes, TraceSource, Transform } from './plugins.ts'
import type { KeepRule, Proposer } from './research-plugins.ts'
import type { ChatMessagesRow, HarborTask, Row } from './rows.ts'
import type { Agent, Metric, Verifier } from './scoring-plugins.ts'
import type {
  Algorithm,
  Batch,
  StepAlgorithm,
  StepContext,
  TrainContext,
  WholeRunAlgorithm,
} from './training-plugins.ts'
import type { FwdBwd, SamplerRef, TrainingService } from './training-service.ts'

const params = z.strictObject({ key: z.string().default('query'), limit: z.int().optional() })
type Params = typeof params

describe('the table of plugin types', () => {
  it('has every type, each with a definition of that type', () => {
    expectTypeOf<keyof PluginTypes>().toEqualTypeOf<PluginType>()
    type Wrong = { [T in PluginType]: PluginTypes[T] extends Plugin<T> ? never : T }[PluginType]
    expectTypeOf<Wrong>().toBeNever()
    expectTypeOf<AnyPlugin['type']>().toEqualTypeOf<PluginType>()
  })

  it('takes plugins whose params are their own (CON-8)', () => {
    expectTypeOf<Transform<'dedupe', Params>>().toExtend<AnyPlugin>()
    expectTypeOf<Metric<'pass@{k}', Params>>().toExtend<PluginTypes['metric']>()
    expectTypeOf<Verifier<'exact', Params>>().toExtend<PluginTypes['verifier']>()
    expectTypeOf<StepAlgorithm<'sft', Params, 'chat_messages'>>().toExtend<PluginTypes['algorithm']>()
    expectTypeOf<WholeRunAlgorithm<'gepa', Params, 'prompt_dataset'>>().toExtend<AnyPlugin>()
    expectTypeOf<Callback<'csv', Params>>().toExtend<AnyPlugin>()
    expectTypeOf<Proposer<'llm', Params>>().toExtend<AnyPlugin>()
    expectTypeOf<KeepRule<'race', Params>>().toExtend<AnyPlugin>()
    expectTypeOf<InferenceClient<'openai', Params>>().toExtend<AnyPlugin>()
    expectTypeOf<TraceSource<'file', Params>>().toExtend<AnyPlugin>()
    expectTypeOf<Transform<'dedupe', Params>>().not.toExtend<PluginTypes['metric']>()
  })

  it('narrows by type', () => {
    function directionOf(plugin: AnyPlugin): string {
      return plugin.type === 'metric' ? plugin.direction : 'none'
    }
    expectTypeOf(directionOf).parameter(0).toEqualTypeOf<AnyPlugin>()
  })
})

describe('a plugin function', () => {
  it('gets params as the schema yields them: defaults filled in, the optional optional (CON-8)', () => {
    type RunContext = Parameters<Transform<'dedupe', Params>['run']>[1]
    expectTypeOf<RunContext['params']>().toEqualTypeOf<{ key: string; limit?: number | undefined }>()
    expectTypeOf<RunContext>().toExtend<Context<z.output<Params>>>()
  })

  it('has randomness by purpose, secrets by name and a signal in its context', () => {
    const draw = (context: Context<unknown>) => context.random('shuffle', 3).int(6)
    expectTypeOf(draw).returns.toEqualTypeOf<number>()
    expectTypeOf<Context<unknown>['secret']>().returns.toEqualTypeOf<string>()
    expectTypeOf<Context<unknown>['signal']>().toEqualTypeOf<AbortSignal>()
  })

  it('may return optional parts without undefined, or with', () => {
    function needs(): { commands?: readonly string[] | undefined } {
      return {}
    }
    const declared: Needs = { ...needs(), secrets: ['API_KEY'] }
    expectTypeOf(declared).toExtend<PluginCard['needs']>()
  })
})

describe('an algorithm', () => {
  it('sees rows of the format it names', () => {
    expectTypeOf<StepContext<unknown, 'chat_messages'>['rows']>().toEqualTypeOf<readonly ChatMessagesRow[]>()
    expectTypeOf<ReturnType<StepContext<unknown, 'harbor_task'>['batch']>>().toEqualTypeOf<readonly HarborTask[]>()
    // @ts-expect-error a chat has no task id
    expectTypeOf<StepContext<unknown, 'chat_messages'>['rows'][number]['task_id']>()
    expectTypeOf<StepContext<unknown>['rows'][number]>().toExtend<Row>()
  })

  it('is a step or a whole run', () => {
    function describeIt(algorithm: Algorithm): void {
      if ('train' in algorithm) expectTypeOf(algorithm).toEqualTypeOf<WholeRunAlgorithm>()
      else expectTypeOf(algorithm).toEqualTypeOf<StepAlgorithm>()
    }
    expectTypeOf(describeIt).returns.toBeVoid()
  })

  it('of a step samples from its policy, and neither saves nor trains by itself', () => {
    type Step = StepContext<unknown>
    expectTypeOf<keyof Step['service']>().toEqualTypeOf<'sample'>()
    expectTypeOf<ReturnType<Step['policy']>>().resolves.toEqualTypeOf<SamplerRef>()
    expectTypeOf<Step['reference']>().toExtend<Parameters<TrainingService['sample']>[0]['model']>()
  })

  it('keeps what it made once, with its type', () => {
    async function remember(context: StepContext<unknown>) {
      return context.once('teacher', async () => new Map([['a', 1]]))
    }
    expectTypeOf(remember).returns.resolves.toEqualTypeOf<Map<string, number>>()
  })

  it('measures a step by its batch and the answer of the service', () => {
    type Outcome = Parameters<NonNullable<StepAlgorithm['stepMetrics']>>[0]
    expectTypeOf<Outcome['built']>().toEqualTypeOf<Batch>()
    expectTypeOf<Outcome['result']>().toEqualTypeOf<FwdBwd>()
    expectTypeOf<Outcome['batch']>().toBeFunction()
  })

  it('of a whole run drives the service and knows its run', () => {
    expectTypeOf<TrainContext<unknown>['service']>().toEqualTypeOf<TrainingService>()
    expectTypeOf<TrainContext<unknown>['runId']>().toEqualTypeOf<string>()
    expectTypeOf<TrainContext<unknown>>().not.toHaveProperty('step')
  })
})

describe('an agent', () => {
  it('answers through the policy; what it drew is recorded for it', () => {
    type Run = Agent<'chat', Params>['run']
    expectTypeOf<ReturnType<Run>>().resolves.toEqualTypeOf<{
      output: string
      turnRewards?: readonly number[] | undefined
    }>()
    expectTypeOf<Parameters<Run>[0]['policy']['generate']>().returns.resolves.toEqualTypeOf<Generated>()
    expectTypeOf<Generated['stopReason']>().toEqualTypeOf<'stop' | 'length' | 'tool_calls' | 'refused'>()
  })
})
