import { describe, expect, it } from 'vitest'
import { base, benchmark, deepChecks } from '../../tests/deep-check.ts'
import { faultLine, faultsIn, minimal, planOf } from '../../tests/load-text.ts'
import { EvsysError } from '../kernel/index.ts'
import { checkDraft } from './check-deep.ts'
import { loadExperiment } from './load-experiment.ts'

const { signal } = new AbortController()

describe('samples of a benchmark', () => {
  const samplesOf = async (entry: string) =>
    (await planOf(`${minimal}metadata: { benchmark: [{ name: val, path: data/val, ${entry} }] }\n`)).experiment.metadata
      .benchmark[0]?.num_samples

  it.each([
    ['metrics: [pass@1, pass@3]', 3],
    ['metrics: [pass@2, pass^5, mean_reward]', 5],
    ['metrics: [mean_reward]', 1],
    ['metrics: [pass@3], num_samples: 7', 7],
  ])('follow from the largest k: %s (USE-60)', async (entry, samples) => {
    expect(await samplesOf(entry)).toBe(samples)
  })

  it('that are written and too few stay an error (USE-60)', async () => {
    const text = `${minimal}metadata: { benchmark: [{ name: val, path: v, metrics: [pass@3], num_samples: 2 }] }\n`
    expect(await faultsIn(text)).toEqual([
      '8:57 CONFIG_INVALID metadata.benchmark.0.metrics.0: pass@3 needs 3 samples of each task, and num_samples is 2',
    ])
  })

  it('of a k beyond all bounds are no default (USE-60)', async () => {
    const text = `${minimal}metadata: { benchmark: [{ name: val, path: v, metrics: [pass@99999] }] }\n`
    expect(await faultsIn(text)).toEqual([
      '8:57 CONFIG_INVALID metadata.benchmark.0.metrics.0: pass@99999 needs 99999 samples of each task, and num_samples is 1',
    ])
  })
})

describe('an objective without a benchmark', () => {
  const objectiveOf = async (metadata: string) => {
    const { objective, notices } = await planOf(`${minimal}metadata: ${metadata}\n`)
    return { objective, notices: notices.map(({ text }) => text) }
  }

  it('is a training metric (USE-61)', async () => {
    const { objective, notices } = await objectiveOf('{ success_metric: loss }')
    expect(objective).toEqual({ benchmark: 'training', metric: 'loss', direction: 'min' })
    expect(notices.join()).toContain('arms are ranked by the training metric loss at the end of a run, lower is better')
  })

  it.each([
    ['{ objective: { metric: training.reward/mean } }', 'reward/mean', 'max'],
    ['{ objective: { metric: reward/mean, direction: min } }', 'reward/mean', 'min'],
    ['{ success_metric: train/nll }', 'train/nll', 'min'],
    ['{ success_metric: lossless }', 'lossless', 'max'],
  ])('knows which way is better: %s (USE-61)', async (metadata, metric, direction) => {
    expect((await objectiveOf(metadata)).objective).toEqual({ benchmark: 'training', metric, direction })
  })

  it('is refused when only tasks could give it (USE-61)', async () => {
    for (const metric of ['pass@1', 'val.accuracy', 'mean_reward']) {
      expect(await faultsIn(`${minimal}metadata: { success_metric: ${metric} }\n`)).toEqual([
        `8:29 CONFIG_OBJECTIVE metadata.success_metric: no benchmark is declared that could give "${metric}"`,
      ])
    }
  })

  it('may be claimed between arms, and not of the untrained model (USE-61)', async () => {
    const two = minimal
      .replace('run:\n', 'matrix:\n  axes: { algorithm.params.learning_rate: [1.0e-3, 1.0e-4] }\n  base_run:\n')
      .replaceAll(/^ {2}(?=name: r|data|model|algorithm|backend)/gm, '    ')
    const claim = (baseline: string) =>
      `${two}metadata: { claim: { treatment: { algorithm.params.learning_rate: 1.0e-3 }, baseline: ${baseline}, metric: loss } }\n`
    const plan = await planOf(claim('{ algorithm.params.learning_rate: 1.0e-4 }'))
    expect(plan.claim).toMatchObject({ benchmark: 'training', metric: 'loss', direction: 'min' })
    expect(await faultsIn(claim('base_model'))).toEqual([
      expect.stringContaining('CONFIG_CLAIM metadata.claim: base_model is not trained, so it has no loss'),
    ])
  })
})

describe('names that every object inherits', () => {
  it.each(['constructor', 'toString', 'valueOf'])('are no data source: %s (USE-64)', async (kind) => {
    const text = minimal.replace(
      'source_kind: in_memory, rows: [{ query: hi, tool_slug: greet }]',
      `source_kind: ${kind}`,
    )
    expect(await faultsIn(text)).toEqual([]) // whether it exists is for its plugin to say
    const store = `${minimal}log_store: { kind: ${kind} }\n`
    expect((await planOf(store)).experiment).toMatchObject({ log_store: { kind }, callbacks: [] })
  })
})

describe('problems of every layer', () => {
  const { cwd, catalog } = deepChecks()

  async function allFaults(text: string): Promise<string[]> {
    try {
      await loadExperiment(
        { file: 'e.yaml', text },
        {
          cwd: cwd(),
          furtherProblems: async (draft) => (await checkDraft(draft, catalog(), { signal })).problems,
        },
      )
    } catch (error) {
      if (EvsysError.is(error)) return error.problems.map(faultLine)
      throw error
    }
    return []
  }

  it('are told at once: a wrong field hides no unknown plugin, no wrong parameter, no missing file (USE-62)', async () => {
    const text = `name: e
n_repeats: many
data: { path: data/missing.jsonl }
model: { name: evsys/tiny, renderer_name: qwen4 }
algorithm: { kind: sft, params: { learning_rat: 1 } }
backend: { kind: gpu }
metadata:
  benchmark:
    - { path: data/val, metrics: [pass_rat] }
`
    expect(await allFaults(text)).toEqual([
      '2:12 CONFIG_INVALID n_repeats: expected a whole number, got "many"',
      expect.stringMatching(/^3:15 CONFIG_PATH data\.path: .*missing\.jsonl/),
      '4:43 PLUGIN_UNKNOWN model.renderer_name: no renderer is called "qwen4"',
      '5:35 PLUGIN_PARAMS algorithm.params.learning_rat: sft takes no "learning_rat"',
      '6:18 PLUGIN_UNKNOWN backend.kind: no backend is called "gpu"',
      '9:35 PLUGIN_UNKNOWN metadata.benchmark.0.metrics.0: no metric is called "pass_rat"',
    ])
  })

  it('are the same problems once each when nothing else is wrong (USE-62)', async () => {
    expect(await allFaults(base.replace('kind: sft', 'kind: 3'))).toEqual([
      '4:20 CONFIG_INVALID algorithm.kind: expected text, got 3',
    ])
    expect(await allFaults(base)).toEqual([])
  })
})

describe('kinds of the first generation', () => {
  const { deep } = deepChecks()
  const fixOf = async (text: string) => (await deep(text)).problems.map(({ message, fix }) => `${message}: ${fix}`)

  it.each([
    ['skyrl', `${base}backend: { kind: skyrl }\n`, /kind: tinker, params: { preset: skyrl/],
    ['local_sft', base.replace('kind: sft', 'kind: local_sft'), /write `kind: sft`: the backend says where it trains/],
    ['mock_sft', base.replace('kind: sft', 'kind: mock_sft'), /write `kind: sft`/],
    ['mock_rl', base.replace('kind: sft', 'kind: mock_rl'), /write `kind: rl`/],
    ['gepa_prompt', base.replace('kind: sft', 'kind: gepa_prompt'), /write `kind: prompt_search`/],
    [
      'max_turns',
      base
        .replace('kind: sft', 'kind: rl, params: { max_turns: 4 }')
        .replace('data/train.jsonl', 'data/val/tasks.jsonl'),
      /rl takes no "max_turns": .*agent: { kind: tool_loop, params: { max_turns: N } }/,
    ],
    [
      'enable_thinking of an algorithm',
      base.replace('kind: sft', 'kind: sft, params: { enable_thinking: false }'),
      /sft takes no "enable_thinking": .*renderer_name.*qwen3_disable_thinking/,
    ],
  ])('name their successor: %s (USE-63)', async (_kind, text, expected) => {
    expect(await fixOf(text)).toEqual([expect.stringMatching(expected)])
  })

  it('is the renderer, where a benchmark says whether the model reasons (USE-63)', async () => {
    const text = benchmark('{ path: data/val, chat_template: { enable_thinking: false } }')
    await expect(deep(text)).rejects.toMatchObject({
      message: 'unknown key "enable_thinking"',
      fix: expect.stringContaining('`renderer_name`'),
    })
  })

  it('of other types have none (USE-63)', async () => {
    expect(await fixOf(benchmark('{ path: data/val, verifier: { kind: skyrl } }'))).toEqual([
      expect.stringMatching(/no verifier is called "skyrl": (?!.*preset)/),
    ])
  })
})

describe('the engine of a benchmark', () => {
  const faultsOf = (entry: string) =>
    faultsIn(`${minimal}metadata: { benchmark: [{ name: val, path: data/val, ${entry} }] }\n`)

  it('that takes one completion has no harness beside it (USE-310)', async () => {
    expect(await faultsOf('engine: in_process, agent: { kind: chat }')).toEqual([
      expect.stringMatching(/CONFIG_INVALID .*`agent` has no effect where the engine takes one completion/),
    ])
    expect(await faultsOf('engine: "", environment: { kind: local }')).toEqual([
      expect.stringMatching(/CONFIG_INVALID .*`environment` has no effect/),
    ])
    expect(await faultsOf('engine: in_process')).toEqual([])
    expect(await faultsOf('engine: harbor, agent: { kind: chat }')).toEqual([])
  })
})

describe('a data block', () => {
  it('is read by the source that the name of its file says, unless one is named (USE-312)', async () => {
    const kinds = async (data: string) => {
      const text = `name: e
data: ${data}
model: { name: mock }
algorithm: { kind: sft }
metadata: { benchmark: [{ name: val, data: ${data} }] }
`
      const { runs, experiment } = await planOf(text)
      return [runs[0]?.config.data.source_kind, experiment.metadata.benchmark[0]?.data?.source_kind]
    }
    expect(await kinds('{ path: tickets.csv }')).toEqual(['csv', 'csv'])
    expect(await kinds('{ path: TICKETS.Parquet }')).toEqual(['parquet', 'parquet'])
    expect(await kinds('{ path: tickets.json }')).toEqual(['jsonl', 'jsonl'])
    expect(await kinds('{ path: tickets.csv, source_kind: acme/mine }')).toEqual(['acme/mine', 'acme/mine'])
  })
})

describe('a data store', () => {
  it('is the store of every block that reads a path, runs and benchmarks alike (USE-68)', async () => {
    const text = `name: e
data_store: { kind: s3, params: { bucket: b } }
data: { path: train.jsonl }
model: { name: mock }
algorithm: { kind: sft }
metadata: { benchmark: [{ name: val, data: { path: val.jsonl } }, { name: own, data: { path: v.jsonl, store: { kind: other } } }] }
`
    const { runs, experiment } = await planOf(text)
    const store = { kind: 's3', params: { bucket: 'b' } }
    expect(runs[0]?.config.data).toMatchObject({ path: 'train.jsonl', store })
    expect(experiment.metadata.benchmark.map(({ data }) => data)).toMatchObject([
      { path: 'val.jsonl', store },
      { path: 'v.jsonl', store: { kind: 'other' } },
    ])
    const other = await planOf(text.replace('bucket: b', 'bucket: c'))
    expect(other.runs[0]?.config_hash).not.toBe(runs[0]?.config_hash)
  })

  it('of this machine has its folder beside the file that names it (USE-68)', async () => {
    const text = `${base}data_store: { kind: local, params: { root: files } }\n`
    expect((await planOf(text)).runs[0]?.config.data.store?.params).toEqual({ root: '/project/files' })
  })

  it('that nothing is read from is refused (USE-68)', async () => {
    expect(await faultsIn(`${minimal}data_store: { kind: s3 }\n`, { refuseUnused: true })).toEqual([
      '8:1 CONFIG_INVALID data_store: nothing is read from the data store: no data block has a `path`',
    ])
  })
})
