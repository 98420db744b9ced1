import { describe, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import type {
  AnyPlugin,
  ChatMessagesRow,
  Context,
  HarborTask,
  PluginType,
  PluginTypes,
  RunResult,
} from '../../contracts/index.ts'
import {
  defineAgent,
  defineAlgorithm,
  defineBackend,
  defineCallback,
  defineDataSource,
  defineDataStore,
  defineDeployer,
  defineEnvironment,
  defineInferenceClient,
  defineKeepRule,
  defineLogStore,
  defineMetric,
  defineProposer,
  defineProvider,
  defineRenderer,
  defineStrategy,
  defineTraceSource,
  defineTransform,
  defineVerifier,
} from './define.ts'

const summary = 'Says what it does.'
const params = z.strictObject({ key: z.string().default('query'), n: z.int() })
type P = { key: string; n: number }

async function never(): Promise<never> {
  throw new Error('types alone')
}

/** Every function is handed the output of the schema, and kind and type are literals. */
function check<K extends string, T extends PluginType>(
  _kind: K,
  _plugin: { kind: K; type: T; params: typeof params },
) {}

describe('every define* infers params from the schema', () => {
  it('in functions that are handed a context (CON-8)', () => {
    const seen = (context: Context<P>) => expectTypeOf(context.params).toEqualTypeOf<P>()

    const transform = defineTransform({
      kind: 'a_transform',
      summary,
      params,
      async *run(rows, context) {
        seen(context)
        // @ts-expect-error the schema has no such param
        void context.params.kee
        // @ts-expect-error a text is no number
        void (context.params.key * 2)
        yield* rows
      },
    })
    expectTypeOf(transform.kind).toEqualTypeOf<'a_transform'>()
    check('a_transform', transform)

    check(
      'b',
      defineBackend({
        kind: 'b',
        summary,
        params,
        open: (context) => {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return never()
        },
      }),
    )
    check(
      'ds',
      defineDataSource({
        kind: 'ds',
        summary,
        params,
        async *rows(context) {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          yield { row: { [context.params.key]: context.data }, place: context.resolve('a') }
        },
      }),
    )
    check(
      'store',
      defineDataStore({
        kind: 'store',
        summary,
        params,
        open: (context) => {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return never()
        },
      }),
    )
    check(
      'log',
      defineLogStore({
        kind: 'log',
        summary,
        params,
        open: (context) => {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return never()
        },
      }),
    )
    check(
      'v',
      defineVerifier({
        kind: 'v',
        summary,
        params,
        verify: ({ output }, context) => {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return output === context.params.key ? 1 : { reward: 0 }
        },
      }),
    )
    check(
      'i',
      defineInferenceClient({
        kind: 'i',
        summary,
        params,
        open: (context) => {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return never()
        },
      }),
    )
    check(
      'c',
      defineCallback({
        kind: 'c',
        summary,
        params,
        async open(context) {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return { onStepEnd: (scope) => scope.requestStop(context.params.key) }
        },
      }),
    )
    check(
      'd',
      defineDeployer({
        kind: 'd',
        summary,
        params,
        async deploy(context) {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return { provider: context.params.key, modelRef: context.checkpoint.uri }
        },
        rollback: async (context) => void seen(context),
      }),
    )
    check(
      'ag',
      defineAgent({
        kind: 'ag',
        summary,
        params,
        run: (context) => {
          seen(context)
          expectTypeOf(context.task).toEqualTypeOf<HarborTask>()
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return never()
        },
      }),
    )
    check(
      'e',
      defineEnvironment({
        kind: 'e',
        summary,
        params,
        open: (context) => {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return never()
        },
      }),
    )
    check(
      'r',
      defineRenderer({
        kind: 'r',
        summary,
        params,
        open: (context) => {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return never()
        },
      }),
    )
    check(
      'p',
      defineProposer({
        kind: 'p',
        summary,
        params,
        propose: (brief, context) => {
          seen(context)
          expectTypeOf(brief.text).toEqualTypeOf<string>()
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return never()
        },
      }),
    )
    check(
      's',
      defineStrategy({
        kind: 's',
        summary,
        params,
        next: (state, context) => {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return { parents: [state.incumbent], mode: 'improve', ideas: context.params.n, avoidFamilies: [] }
        },
      }),
    )
    check(
      'k',
      defineKeepRule({
        kind: 'k',
        summary,
        params,
        decide: (race, context) => {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return race.candidate.length < 2 ? { action: 'run' } : { action: 'keep', reason: context.params.key }
        },
      }),
    )
    check(
      'pr',
      defineProvider({
        kind: 'pr',
        summary,
        params,
        open: (context) => {
          seen(context)
          // @ts-expect-error the schema has no such param
          void context.params.nope
          return never()
        },
      }),
    )
    check(
      't',
      defineTraceSource({
        kind: 't',
        summary,
        params,
        async *pull(cursor, context) {
          seen(context)
          expectTypeOf(cursor).toEqualTypeOf<string | undefined>()
          // @ts-expect-error the schema has no such param
          void context.params.nope
          yield* []
        },
      }),
    )
  })

  it('in metrics, whose direction has a default (CON-8)', () => {
    const metric = defineMetric({
      kind: 'pass@{k}',
      summary,
      params: z.strictObject({ k: z.int() }),
      minSamples: ({ k }) => k,
      compute(rewards, context) {
        expectTypeOf(context.params).toEqualTypeOf<{ k: number }>()
        // @ts-expect-error the schema has no such param
        void context.params.n
        return rewards.length / context.params.k
      },
    })
    expectTypeOf(metric.kind).toEqualTypeOf<'pass@{k}'>()
    expectTypeOf(metric.direction).toEqualTypeOf<'max' | 'min'>()
    // @ts-expect-error there are two directions
    defineMetric({ kind: 'm', summary, direction: 'up', compute: () => 1 })
  })

  it('in algorithms, whose rows follow from the row format (CON-8)', () => {
    const sft = defineAlgorithm({
      kind: 'sft',
      summary,
      params,
      async buildBatch(context) {
        expectTypeOf(context.params).toEqualTypeOf<P>()
        expectTypeOf(context.rows).toEqualTypeOf<readonly ChatMessagesRow[]>()
        // @ts-expect-error the schema has no such param
        void context.params.nope
        return { data: [], loss: { name: 'cross_entropy' } }
      },
    })
    expectTypeOf(sft.rowFormat).toEqualTypeOf<'chat_messages'>()
    check('sft', sft)

    const rl = defineAlgorithm({
      kind: 'rl',
      summary,
      rowFormat: 'harbor_task',
      async buildBatch(context) {
        expectTypeOf(context.rows).toEqualTypeOf<readonly HarborTask[]>()
        expectTypeOf(context.params).toEqualTypeOf<Record<string, never>>()
        return { data: [], loss: { name: 'ppo' } }
      },
    })
    expectTypeOf(rl.rowFormat).toEqualTypeOf<'harbor_task'>()

    const search = defineAlgorithm({
      kind: 'search',
      summary,
      params,
      async train(context): Promise<RunResult> {
        expectTypeOf(context.params).toEqualTypeOf<P>()
        // @ts-expect-error a whole run has no step
        void context.step
        return never()
      },
    })
    expectTypeOf(search.train).toBeFunction()
    // @ts-expect-error a whole run has no batch
    void search.buildBatch

    // @ts-expect-error one of buildBatch and train is needed
    defineAlgorithm({ kind: 'none', summary })
    // @ts-expect-error and not both
    defineAlgorithm({ kind: 'both', summary, buildBatch: never, train: never })
  })

  it('composes: an algorithm calls another and changes what it returns (CON-8)', () => {
    const sft = defineAlgorithm({
      kind: 'sft',
      summary,
      params: z.strictObject({ batch_size: z.int() }),
      async buildBatch({ batch, params }) {
        return {
          data: batch(params.batch_size).map(() => ({ tokens: new Int32Array(), lossInputs: {} })),
          loss: { name: 'x' },
        }
      },
    })
    defineAlgorithm({
      kind: 'focal',
      summary,
      params: sft.params.extend({ gamma: z.number() }),
      async buildBatch(context) {
        const batch = await sft.buildBatch(context)
        return { ...batch, metrics: { gamma: context.params.gamma } }
      },
    })
    defineAlgorithm({
      kind: 'bad',
      summary,
      params: z.strictObject({ gamma: z.number() }),
      // @ts-expect-error sft needs batch_size in its params
      buildBatch: (context) => sft.buildBatch(context),
    })
  })
})

describe('the parts of a definition', () => {
  it('need no params, and then take none (CON-8)', () => {
    defineTransform({
      kind: 'plain',
      summary,
      async *run(rows, context) {
        // @ts-expect-error there are none
        const key: string = context.params.key
        void key
        yield* rows
      },
    })
  })

  it('are checked (CON-8)', () => {
    // @ts-expect-error summary is missing
    defineVerifier({ kind: 'v', verify: () => 1 })
    // @ts-expect-error verify is missing
    defineVerifier({ kind: 'v', summary })
    // @ts-expect-error the type is given by the function's name
    defineVerifier({ type: 'metric', kind: 'v', summary, verify: () => 1 })
    // @ts-expect-error params is a schema
    defineVerifier({ kind: 'v', summary, params: { key: 'string' }, verify: () => 1 })
    // @ts-expect-error a verifier returns a number or a verification
    defineVerifier({ kind: 'v', summary, verify: () => 'yes' })
  })

  it('make plugins that lists of any plugin hold (CON-8)', () => {
    const all: AnyPlugin[] = [
      defineTransform({ kind: 'a', summary, params, run: (rows) => rows }),
      defineMetric({ kind: 'm', summary, params, compute: () => 1, minSamples: ({ n }) => n }),
      defineAlgorithm({ kind: 's', summary, params, buildBatch: never, setup: async ({ params }) => void params.key }),
      defineVerifier({ kind: 'v', summary, params, verify: () => 1 }),
    ]
    expectTypeOf(all).toEqualTypeOf<PluginTypes[PluginType][]>()
  })
})
