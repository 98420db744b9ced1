import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type AnyPlugin, PluginType } from '../../contracts/index.ts'
import { isPlugin } from './check-plugin.ts'
import * as defines from './define.ts'
import { pluginCard } from './equip-plugin.ts'
import { createRegistry } from './registry.ts'

const params = z.strictObject({ key: z.string().default('query').describe('Field to compare.') })
const common = { summary: 'Says what it does.', params }
const open = async (): Promise<never> => {
  throw new Error('not opened here')
}

const one: { [T in PluginType]: AnyPlugin } = {
  algorithm: defines.defineAlgorithm({ kind: 'a', ...common, buildBatch: open }),
  backend: defines.defineBackend({ kind: 'b', ...common, open }),
  transform: defines.defineTransform({ kind: 't', ...common, run: (rows) => rows }),
  data_source: defines.defineDataSource({ kind: 'd', ...common, async *rows() {} }),
  data_store: defines.defineDataStore({ kind: 'ds', ...common, open }),
  log_store: defines.defineLogStore({ kind: 'l', ...common, open }),
  metric: defines.defineMetric({ kind: 'm', ...common, compute: () => 1 }),
  verifier: defines.defineVerifier({ kind: 'v', ...common, verify: () => 1 }),
  inference_client: defines.defineInferenceClient({ kind: 'i', ...common, open }),
  callback: defines.defineCallback({ kind: 'c', ...common, open }),
  deployer: defines.defineDeployer({ kind: 'dp', ...common, deploy: open }),
  agent: defines.defineAgent({ kind: 'ag', ...common, run: open }),
  environment: defines.defineEnvironment({ kind: 'e', ...common, open }),
  renderer: defines.defineRenderer({ kind: 'r', ...common, open }),
  proposer: defines.defineProposer({ kind: 'p', ...common, propose: open }),
  strategy: defines.defineStrategy({
    kind: 's',
    ...common,
    next: () => ({ parents: [], mode: 'explore', ideas: 1, avoidFamilies: [] }),
  }),
  keep_rule: defines.defineKeepRule({ kind: 'k', ...common, decide: () => ({ action: 'keep', reason: '' }) }),
  provider: defines.defineProvider({ kind: 'pr', ...common, open }),
  trace_source: defines.defineTraceSource({ kind: 'ts', ...common, async *pull() {} }),
}

describe('every define*', () => {
  it.each(PluginType.options)('makes a frozen %s that the registry lists and describes (KER-14)', (type) => {
    const plugin = one[type]
    expect(plugin.type).toBe(type)
    expect(Object.isFrozen(plugin)).toBe(true)
    expect(isPlugin(plugin)).toBe(true)
    const registry = createRegistry()
    registry.add(plugin, { rank: 'built-in', label: 'built-in' })
    expect(registry.get(type, plugin.kind).plugin).toBe(plugin)
    expect(pluginCard(plugin, { origin: 'built-in', hash: 'h' })).toMatchObject({
      type,
      kind: plugin.kind,
      summary: 'Says what it does.',
      schema: { properties: { key: { type: 'string', default: 'query', description: 'Field to compare.' } } },
    })
  })

  it('exists for each type of plugin (KER-14)', () => {
    const made = Object.keys(defines).filter((name) => name.startsWith('define'))
    expect(made.length).toBe(PluginType.options.length)
  })

  it('takes no params unless it says so (KER-14)', () => {
    const plugin = defines.defineVerifier({ kind: 'v', summary: 'x', verify: () => 1 })
    expect(plugin.params.safeParse({}).success).toBe(true)
    expect(plugin.params.safeParse({ a: 1 }).success).toBe(false)
  })

  it('fills in the direction of a metric and the rows of an algorithm (KER-14)', () => {
    expect(one.metric).toMatchObject({ direction: 'max' })
    expect(one.algorithm).toMatchObject({ rowFormat: 'chat_messages' })
    expect(defines.defineMetric({ kind: 'm', summary: 'x', direction: 'min', compute: () => 1 }).direction).toBe('min')
  })

  it('is recognised by its mark, which a spread copy does not have (KER-14)', () => {
    expect(Reflect.get(one.metric, Symbol.for('evsys.plugin'))).toBe(true)
    expect(isPlugin({ ...one.metric })).toBe(false)
    expect(JSON.stringify(Object.keys(one.metric))).not.toContain('evsys')
  })
})

describe('extendAlgorithm', () => {
  const calls: string[] = []
  const base = defines.defineAlgorithm({
    kind: 'base',
    summary: 'Stands in a test.',
    params: z.strictObject({ rate: z.number().default(1) }),
    rowFormat: 'harbor_task',
    needs: { commands: ['git'] },
    async setup() {
      calls.push('setup')
    },
    countBatches: async () => 3,
    async buildBatch({ params }) {
      return { data: [], loss: { name: `rate ${params.rate}` } }
    },
    stepMetrics: () => ({ base: 1 }),
  })

  it('forwards every hook that it does not change, the params, rows and needs (KER-14)', async () => {
    const { kind: _kind, summary: _summary, ...rest } = base
    const extended = defines.extendAlgorithm(base, { kind: 'same', summary: 'The same.', setup: undefined })
    expect(extended).toMatchObject(rest)
    expect(extended.kind).toBe('same')
    await extended.setup?.(Object())
    expect(calls).toEqual(['setup'])
  })

  it('changes what it is given, with more params (KER-14)', async () => {
    const extended = defines.extendAlgorithm(base, {
      kind: 'more',
      summary: 'More.',
      params: base.params.extend({ gamma: z.number().default(2) }),
      async buildBatch(context) {
        const batch = await base.buildBatch(context)
        return { ...batch, metrics: { gamma: context.params.gamma } }
      },
    })
    const built = await extended.buildBatch(Object({ params: extended.params.parse({}) }))
    expect(built).toEqual({ data: [], loss: { name: 'rate 1' }, metrics: { gamma: 2 } })
    expect(extended.rowFormat).toBe('harbor_task')
    expect(Object.isFrozen(extended)).toBe(true)
  })

  it('extends a recipe that is no step (KER-14)', async () => {
    const train = async () => ({ run_id: 'r', status: 'completed' as const, metrics: {}, artifacts: [] })
    const whole = defines.defineAlgorithm({ kind: 'whole', summary: 'All at once.', takesRows: false, train })
    const extended = defines.extendAlgorithm(whole, { kind: 'other', summary: 'Another.' })
    expect(extended).toMatchObject({ kind: 'other', takesRows: false, train: whole.train })
  })

  it('takes no params that lack those of the base (KER-14)', () => {
    // @ts-expect-error: `rate` is missing, and hooks of the base read it
    defines.extendAlgorithm(base, { kind: 'less', summary: 'Less.', params: z.strictObject({}) })
  })
})
