import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { base, benchmark, deepChecks } from '../../tests/deep-check.ts'
import { faultLine } from '../../tests/load-text.ts'
import { checkDeep } from './check-deep.ts'
import { loadExperiment, pluginReferences } from './load-experiment.ts'

const { files, deep, faults, cwd, catalog } = deepChecks()

describe('plugins', () => {
  it('of a valid experiment are all there (CFG-14)', async () => {
    const text = `${base}agent: { kind: basic_loop }
backend: { kind: mock }
callbacks: [{ kind: local_logger }]
compute: { kind: local }
metadata:
  benchmark: [{ path: data/val, metrics: [pass@1, best_of_2], num_samples: 2, inference: { kind: mock }, verifier: { kind: exact_match }, agent: { kind: basic_loop } }]
`
    expect(await faults(text)).toEqual([])
  })

  it.each([
    [
      'algorithm',
      base.replace('kind: sft', 'kind: sfft'),
      '4:20 PLUGIN_UNKNOWN algorithm.kind: no algorithm is called "sfft"',
    ],
    ['backend', `${base}backend: { kind: gpu }\n`, '5:18 PLUGIN_UNKNOWN backend.kind: no backend is called "gpu"'],
    ['agent', `${base}agent: { kind: x }\n`, '5:16 PLUGIN_UNKNOWN agent.kind: no agent is called "x"'],
    [
      'data source',
      base.replace('{ path', '{ source_kind: csv, path'),
      '2:22 PLUGIN_UNKNOWN data.source_kind: no data source is called "csv"',
    ],
    [
      'transform',
      base.replace('jsonl }', 'jsonl, transforms: [{ kind: dedup }] }'),
      '2:54 PLUGIN_UNKNOWN data.transforms.0.kind: no transform is called "dedup"',
    ],
    [
      'callback',
      `${base}callbacks: [{ kind: wandb }]\n`,
      '5:21 PLUGIN_UNKNOWN callbacks.0.kind: no callback is called "wandb"',
    ],
    [
      'callback of an algorithm',
      base.replace('kind: sft', 'kind: sft, params: { callbacks: [{ kind: x }] }'),
      '4:55 PLUGIN_UNKNOWN algorithm.params.callbacks.0.kind: no callback is called "x"',
    ],
    [
      'renderer',
      base.replace('evsys/tiny', 'm, renderer_name: qwen4'),
      '3:34 PLUGIN_UNKNOWN model.renderer_name: no renderer is called "qwen4"',
    ],
    [
      'metric',
      benchmark('{ path: data/val, metrics: [pass_rat] }'),
      '7:35 PLUGIN_UNKNOWN metadata.benchmark.0.metrics.0: no metric is called "pass_rat"',
    ],
    [
      'inference client',
      benchmark('{ path: data/val, inference: { kind: gpt } }'),
      '7:44 PLUGIN_UNKNOWN metadata.benchmark.0.inference.kind: no inference client is called "gpt"',
    ],
    [
      'verifier',
      benchmark('{ path: data/val, verifier: { kind: judge } }'),
      '7:43 PLUGIN_UNKNOWN metadata.benchmark.0.verifier.kind: no verifier is called "judge"',
    ],
    [
      'verifier of an algorithm',
      base.replace('kind: sft', 'kind: rl, params: { verifier_name: judge }').replace('train.jsonl', 'val/tasks.jsonl'),
      '4:49 PLUGIN_UNKNOWN algorithm.params.verifier_name: no verifier is called "judge"',
    ],
    [
      'held-out verifier of an algorithm',
      base
        .replace('kind: sft', 'kind: rl, params: { held_out_verifier: { kind: judge } }')
        .replace('train.jsonl', 'val/tasks.jsonl'),
      '4:61 PLUGIN_UNKNOWN algorithm.params.held_out_verifier.kind: no verifier is called "judge"',
    ],
    [
      'source of a benchmark',
      benchmark('{ data: { source_kind: csv } }'),
      '7:30 PLUGIN_UNKNOWN metadata.benchmark.0.data.source_kind: no data source is called "csv"',
    ],
    [
      'algorithm of a stage',
      `${base}stages: [{ algorithm: { kind: nope } }]\n`,
      '5:31 PLUGIN_UNKNOWN stages.0.algorithm.kind: no algorithm is called "nope"',
    ],
    [
      'source of a dataset',
      `${base}continual: { datasets: [{ source_kind: csv }] }\n`,
      '5:40 PLUGIN_UNKNOWN continual.datasets.0.source_kind: no data source is called "csv"',
    ],
  ])('an unknown %s is located, with what is known (CFG-14)', async (_what, text, fault) => {
    const { problems } = await deep(text)
    expect(problems.map(faultLine)).toEqual([fault])
    expect(problems[0]?.fix).toMatch(/Known:|None is known/)
  })

  it.each([
    [
      'an unknown parameter',
      base.replace('kind: sft', 'kind: sft, params: { lr: 1 }'),
      '4:35 PLUGIN_PARAMS algorithm.params.lr: sft takes no "lr"',
    ],
    [
      'a parameter of the wrong type',
      base.replace('kind: sft', 'kind: sft, params: { learning_rate: fast }'),
      '4:50 PLUGIN_PARAMS algorithm.params.learning_rate: expected a number, got "fast"',
    ],
    [
      'a missing parameter',
      base.replace('jsonl }', 'jsonl, transforms: [{ kind: jsonl_to_chat }] }'),
      '2:46 PLUGIN_PARAMS data.transforms.0.params.user_template: is missing: expected text',
    ],
    [
      'a parameter of a source',
      base.replace('{ path', '{ params: { max_line_bytes: x }, path'),
      '2:35 PLUGIN_PARAMS data.params.max_line_bytes: expected a whole number, got "x"',
    ],
    [
      'a parameter of an algorithm’s callback',
      base.replace(
        'kind: sft',
        'kind: sft, params: { callbacks: [{ kind: early_stopping, params: { patience: 1.5 } }] }',
      ),
      '4:91 PLUGIN_PARAMS algorithm.params.callbacks.0.params.patience: expected a whole number, got 1.5',
    ],
  ])('%s is located (CFG-14)', async (_what, text, fault) => {
    const { problems } = await deep(text)
    expect(problems.map(faultLine)).toEqual([fault])
    expect(problems[0]?.fix).toContain('`evsys schema ')
  })

  it('say what a parameter is for (CFG-14)', async () => {
    const { problems } = await deep(base.replace('kind: sft', 'kind: sft, params: { learning_rate: 0 }'))
    expect(problems[0]?.fix).toBe(
      '`learning_rate`: Peak learning rate. `evsys schema algorithm sft` prints what it takes.',
    )
  })

  it('are told once for all arms, at the axis that is wrong (ERR-2, CFG-14)', async () => {
    const text = `${base}matrix:\n  axes: { algorithm.kind: [sft, sftt], algorithm.params.learning_rate: [0.1, big], seed: [1, 2, 3] }\n`
    expect(await faults(text)).toEqual([
      '6:33 PLUGIN_UNKNOWN matrix.axes."algorithm.kind".1: no algorithm is called "sftt"',
      '6:78 PLUGIN_PARAMS matrix.axes."algorithm.params.learning_rate".1: expected a number, got "big"',
    ])
  })

  it('that take no max_steps are told of --steps (ERR-2, CFG-12)', async () => {
    const text = base.replace('kind: sft', 'kind: sft, params: { max_steps: x }')
    expect(await faults(text, { steps: 5 })).toEqual([
      '4:46 PLUGIN_PARAMS algorithm.params.max_steps: expected a whole number, got "x"',
    ])
    expect(await faults(base, { set: ['algorithm.params.max_steps=0'] })).toEqual([
      '--set:1:28 PLUGIN_PARAMS algorithm.params.max_steps: must be at least 1, got 0',
    ])
  })

  it('metrics need their samples (CFG-14)', async () => {
    expect(await faults(benchmark('{ path: data/val, metrics: [best_of_4], num_samples: 2 }'))).toEqual([
      '7:35 CONFIG_INVALID metadata.benchmark.0.metrics.0: best_of_4 needs 4 samples of each task, and num_samples is 2',
    ])
  })

  it('metrics know their direction, unless the objective says (CFG-7)', async () => {
    const text = (objective: string) =>
      benchmark('{ name: val, path: data/val, metrics: [cost] }').replace(
        'metadata:\n',
        `metadata:\n  objective: ${objective}\n  claim: { treatment: e, baseline: base_model }\n`,
      )
    const own = await deep(text('{ metric: cost }'))
    expect(own.plan).toMatchObject({ objective: { direction: 'min' }, claim: { direction: 'min' } })
    const said = await deep(text('{ metric: cost, direction: max }'))
    expect(said.plan).toMatchObject({ objective: { direction: 'max' }, claim: { direction: 'max' } })
  })

  it('a claim on another metric or benchmark than the objective has its own direction (CFG-7)', async () => {
    const directions = async (objective: string, metric: string) => {
      const val = '{ name: val, path: data/val, metrics: [cost, best_of_4], num_samples: 4 }'
      const test = '{ name: test, path: data/val, metrics: [cost], split: test }'
      const text = benchmark(`${val}\n    - ${test}`).replace(
        'metadata:\n',
        `metadata:\n  objective: ${objective}\n  claim: { treatment: e, baseline: base_model, metric: ${metric} }\n`,
      )
      const { plan } = await deep(text)
      return [plan?.objective?.direction, plan?.claim?.direction]
    }
    expect(await directions('{ metric: val.best_of_4, direction: max }', 'val.cost')).toEqual(['max', 'min'])
    expect(await directions('{ metric: val.cost, direction: max }', 'test.cost')).toEqual(['max', 'min'])
    expect(await directions('{ metric: val.cost }', 'val.best_of_4')).toEqual(['min', 'max'])
  })
})

describe('paths', () => {
  it.each([
    [
      'a data file',
      base.replace('train', 'nope'),
      '2:15 CONFIG_PATH data.path: cannot read data/nope.jsonl: no such file or folder',
    ],
    ['a folder as data', base.replace('data/train.jsonl', 'data'), '2:15 CONFIG_PATH data.path: data is a folder'],
    [
      'a dataset of a chain',
      `${base}continual: { datasets: [{ path: data/train.jsonl }, { path: x.jsonl }] }\n`,
      '5:61 CONFIG_PATH continual.datasets.1.path: cannot read x.jsonl: no such file or folder',
    ],
    [
      'data of a stage',
      `${base}stages: [{ algorithm: { kind: sft }, data: { path: x.jsonl } }]\n`,
      '5:52 CONFIG_PATH stages.0.data.path: cannot read x.jsonl: no such file or folder',
    ],
    [
      'a folder of a Hugging Face dataset',
      base.replace('{ path: data/train.jsonl }', '{ source_kind: hf_dataset, hf_dataset: ./hf }'),
      '2:46 CONFIG_PATH data.hf_dataset: cannot read hf: no such file or folder',
    ],
    [
      'a model folder',
      base.replace('evsys/tiny', './weights'),
      '3:16 CONFIG_PATH model.name: cannot read weights: no such file or folder',
    ],
    [
      'a checkpoint',
      base.replace('tiny }', 'tiny, init_from_checkpoint: ../no-such-weights }'),
      '3:50 CONFIG_PATH model.init_from_checkpoint: cannot read ../no-such-weights: no such file or folder',
    ],
    [
      'an output folder that is a file',
      `${base}output_dir: data/train.jsonl\n`,
      '5:13 CONFIG_PATH output_dir: data/train.jsonl is no folder',
    ],
    [
      'a benchmark folder',
      benchmark('{ path: data/nope }'),
      '7:15 CONFIG_PATH metadata.benchmark.0.path: cannot read data/nope: no such file or folder',
    ],
    [
      'a benchmark that is a file',
      benchmark('{ path: data/train.jsonl }'),
      '7:15 CONFIG_PATH metadata.benchmark.0.path: data/train.jsonl is no folder',
    ],
    [
      'a benchmark without tasks',
      benchmark('{ path: data }'),
      '7:15 CONFIG_PATH metadata.benchmark.0.path: cannot read data/tasks.jsonl: no such file or folder',
    ],
    [
      'data of a benchmark',
      benchmark('{ data: { path: x.jsonl } }'),
      '7:23 CONFIG_PATH metadata.benchmark.0.data.path: cannot read x.jsonl: no such file or folder',
    ],
  ])('%s is located where it is written (CFG-14, CFG-16)', async (_what, text, fault) => {
    expect(await faults(text)).toEqual([fault])
  })

  it.runIf(process.platform === 'linux')(
    'an output folder below /proc is refused before it is made (CFG-16)',
    async () => {
      const [fault] = await faults(`${base}output_dir: /proc/runs/mine\n`)
      expect(fault).toMatch(/^5:13 CONFIG_PATH output_dir: \S+ cannot be made: \S+ is kept by the system/)
    },
  )

  it('of ids and stored datasets are not looked for (CFG-14)', async () => {
    const text = base
      .replace('{ path: data/train.jsonl }', '{ dataset_name: stored }')
      .replace('tiny }', 'tiny, load_checkpoint_path: "tinker://x/y" }')
    expect(await faults(text)).toEqual([])
  })
})

describe('agent_import_path', () => {
  const text = (path: string) =>
    base
      .replace('kind: sft', `kind: rl, params: { agent_import_path: ${path} }`)
      .replace('train.jsonl', 'val/tasks.jsonl')

  it('names a file that is there, with an export, or a kind (CFG-14)', async () => {
    await files({ 'src/plugins/agent.ts': '' })
    expect(await faults(text('"./src/plugins/agent.ts#ToolUse"'))).toEqual([])
    expect(await faults(text('basic_loop'))).toEqual([])
    expect(await faults(text('./src/plugins/agent.ts'))).toEqual([
      '4:53 CONFIG_PATH algorithm.params.agent_import_path: the path does not say which export of the file is the agent',
    ])
    expect(await faults(text('"./src/agent.ts#ToolUse"'))).toEqual([
      '4:53 CONFIG_PATH algorithm.params.agent_import_path: there is no file src/agent.ts',
    ])
    expect(await faults(text('loop'))).toEqual([
      '4:53 PLUGIN_UNKNOWN algorithm.params.agent_import_path: no agent is called "loop"',
    ])
  })
})

describe('agent_import_path of a Python class', () => {
  const text = base
    .replace('kind: sft', 'kind: rl, params: { agent_import_path: my_project.agents:ToolUse }')
    .replace('train.jsonl', 'val/tasks.jsonl')

  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it('needs python3 on the PATH (CFG-14)', async () => {
    await files({ 'bin/python3': '', 'empty/x': '' })
    await chmod(join(cwd(), 'bin/python3'), 0o755)
    vi.stubEnv('PATH', join(cwd(), 'bin'))
    expect(await faults(text)).toEqual([])
    vi.stubEnv('PATH', join(cwd(), 'empty'))
    expect(await faults(text)).toEqual([
      '4:53 PLUGIN_LOAD algorithm.params.agent_import_path: my_project.agents:ToolUse is a Python class, and there is no python3 on the PATH',
    ])
  })
})

describe('what nothing acts on', () => {
  it.each([
    [
      'an unknown data store',
      'data_store: { kind: s3 }',
      '5:21 PLUGIN_UNKNOWN data_store.kind: no data store is called "s3"',
    ],
    [
      'an unknown log store',
      'log_store: { kind: mlflow }',
      '5:20 PLUGIN_UNKNOWN log_store.kind: no log store is called "mlflow"',
    ],
    ['deploy', 'deploy: { kind: folder }', '5:9 CONFIG_INVALID deploy: nothing is deployed after a run yet'],
    [
      'another place to run',
      'compute: { kind: slurm, setup: make }',
      '5:18 CONFIG_INVALID compute.kind: runs execute on this machine; they cannot be sent elsewhere yet',
    ],
    [
      'settings of a job',
      'compute: { resources: { cpus: 2 } }',
      '5:23 CONFIG_INVALID compute.resources: `resources` has no effect where runs execute on this machine',
    ],
  ])('%s is refused (CFG-14)', async (_what, line, fault) => {
    expect(await faults(`${base}${line}\n`)).toEqual([fault])
  })

  it('the default place to run is this machine (CFG-14)', async () => {
    expect(await faults(`${base}compute: {}\n`)).toEqual([])
  })
})

describe('plugins that params name', () => {
  it('are found by the mark of the schema, also in the params of those (CFG-14)', async () => {
    const phases = '{ a: { kind: rl, params: { held_out_verifier: { kind: nope } } } }'
    expect(await faults(base.replace('kind: sft', `kind: chain, params: { phases: ${phases} }`))).toEqual([
      '4:99 PLUGIN_UNKNOWN algorithm.params.phases.a.params.held_out_verifier.kind: no verifier is called "nope"',
    ])
  })
})

describe('secrets', () => {
  it('that are not set are noted, those that are no references are refused (CFG-14)', async () => {
    const text = `${base}backend: { kind: keyed, params: { A: "\${secret:SET}", B: "\${secret:UNSET}", C: "\${secret: SET}" } }\n`
    const { problems, notices } = await deep(text)
    expect(notices).toEqual([
      {
        text: 'The secret UNSET is not set: set it in the environment.',
        where: { file: 'e.yaml', line: 5, col: 58, path: 'backend.params.B' },
      },
    ])
    expect(problems.map(faultLine)).toEqual([
      '5:80 CONFIG_INVALID backend.params.C: "${secret: SET}" is no reference to a secret',
    ])
  })
})

describe('checkDeep', () => {
  it('tells everything at once, in file order, data files last (ERR-1)', async () => {
    await files({ 'data/val/tasks.jsonl': 'x\n' })
    const text = `${benchmark('{ path: data/val, metrics: [nope] }').replace('kind: sft', 'kind: sfft').replace('train', 'none')}deploy: { kind: x }\n`
    expect((await faults(text)).map((fault) => fault.split(' ').slice(0, 2).join(' '))).toEqual([
      '2:15 CONFIG_PATH',
      '4:20 PLUGIN_UNKNOWN',
      '7:35 PLUGIN_UNKNOWN',
      '8:9 CONFIG_INVALID',
      'data/val/tasks.jsonl:1:1 DATA_INVALID',
    ])
  })

  it('stops at its signal', async () => {
    const loaded = await loadExperiment({ file: 'e.yaml', text: base }, { cwd: cwd() })
    await expect(checkDeep(loaded, catalog(), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })
})

describe('pluginReferences', () => {
  it('name files by absolute path, packages as written, and where (CFG-16)', async () => {
    await files({ 'lib/base.yaml': 'plugins: [./p.ts, acme-plugins]\n' })
    const loaded = await loadExperiment({ file: 'e.yaml', text: `extends: lib/base.yaml\n${base}` }, { cwd: cwd() })
    expect(pluginReferences(loaded)).toEqual([
      {
        spec: join(cwd(), 'lib/p.ts'),
        from: join(cwd(), 'lib'),
        where: { file: 'lib/base.yaml', line: 1, col: 11, path: 'plugins.0' },
      },
      {
        spec: 'acme-plugins',
        from: join(cwd(), 'lib'),
        where: { file: 'lib/base.yaml', line: 1, col: 19, path: 'plugins.1' },
      },
    ])
  })
})
