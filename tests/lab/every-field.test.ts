// Every field of an experiment file takes effect or is an error: the schema is walked, and each field has to be proven by a change
// that changes the plan, the training, the scores or what is written, or that is refused. A field that is added without a proof
// fails here.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { loadExperiment } from '../../src/config/index.ts'
import { ExperimentFile, type ExperimentResult, type Plan, PluginType } from '../../src/contracts/index.ts'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { openExperiment } from '../../src/research/experiments/open-experiment.ts'
import { experimentSettings } from '../../src/research/loop/start-experiment.ts'
import { openStore } from '../../src/store/index.ts'
import { runAssignment } from '../run-assignment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { trainHere } from '../train-here.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'
import { canonicalField, fieldsOf } from './field-walk.ts'

const folder = temporaryFolders()

// Rewards that follow from the answer, so that whatever changes an answer is seen in the scores.
const own = `import { appendFileSync, createReadStream, existsSync } from 'node:fs'
  import { createHash } from 'node:crypto'
  import { defineAgent, defineCallback, defineDataStore, defineInferenceClient, defineLogStore, defineVerifier, z } from 'evsys/plugin'
  const none = z.strictObject({})
  const share = (text) => createHash('sha256').update(text).digest().readUInt16BE(0) / 65535
  let inFlight = 0
  export const digest = defineVerifier({ kind: 'digest', summary: 'A reward that follows from the answer.',
    params: z.strictObject({ salt: z.string().default('') }),
    verify: ({ output }, { params }) => ({ reward: share(params.salt + output) }) })
  export const echo = defineInferenceClient({ kind: 'echo', summary: 'Says what it was asked, or one word.',
    params: z.strictObject({ after: z.string().default(''), word: z.string().optional() }),
    open: async ({ params }) => ({ generate: async (request) => ({
      text: params.word ?? JSON.stringify([request.messages, request.temperature, request.maxTokens]) + params.after,
      stopReason: 'stop', usage: { promptTokens: 1, completionTokens: 1, latencyS: 0 } }) }) })
  export const crowd = defineAgent({ kind: 'crowd', summary: 'Says how many run at a time.',
    params: z.strictObject({ word: z.string().default('') }),
    async run({ params }) {
      inFlight += 1
      await new Promise((resolve) => setTimeout(resolve, 100))
      const output = params.word + inFlight
      await new Promise((resolve) => setTimeout(resolve, 100))
      inFlight -= 1
      return { output }
    } })
  export const bucket = defineDataStore({ kind: 'bucket', summary: 'Files of a folder.',
    params: z.strictObject({ folder: z.string() }),
    open: async ({ params }) => ({
      read: (path) => createReadStream(params.folder + '/' + path),
      async write() {},
      exists: async (path) => existsSync(params.folder + '/' + path),
      async *list() {},
      async [Symbol.asyncDispose]() {},
    }) })
  const file = z.strictObject({ file: z.string() })
  export const lines = defineLogStore({ kind: 'lines', summary: 'Appends to a file.', params: file,
    open: async ({ params }) => {
      const add = async (what) => appendFileSync(params.file, what + '\\n')
      return { metrics: () => add('metrics'), hyperparams: () => add('hyperparams'), artifact: () => add('artifact'),
        [Symbol.asyncDispose]: () => add('closed') }
    } })
  export const ends = defineCallback({ kind: 'ends', summary: 'Writes a file at the end of training.', params: file,
    open: async ({ params }) => ({ onTrainEnd() { appendFileSync(params.file, 'end') } }) })
  export default [digest, echo, crowd, bucket, lines, ends]
`

type Json = { [key: string]: unknown }
const chat = { kind: 'jsonl_to_chat', params: { user_template: '{query}', assistant_template: '{desk}' } }
const sft = { kind: 'sft', params: { max_steps: 2, batch_size: 2, learning_rate: 0.1 } }
const run = {
  name: 'one',
  data: { path: 'data/train.jsonl', transforms: [chat] },
  model: { name: 'mock' },
  algorithm: sft,
  backend: { kind: 'mock' },
}
const rolling = {
  kind: 'rl',
  params: { max_steps: 1, num_samples: 1, batch_size: 1, max_tokens: 8, kl_coef: 0.1, constant_groups: 'keep' },
}
const val = {
  name: 'val',
  path: 'data/plain',
  metrics: ['mean_reward'],
  max_tokens: 6,
  temperature: 1,
}
const questions = ['first', 'second', 'third', 'fourth']
const base: Json = { name: 'small', run }
const scored: Json = { ...base, metadata: { benchmark: [val] } }
const runs = [
  { ...run, name: 'low', algorithm: { ...sft, params: { ...sft.params, learning_rate: 0.001 } } },
  { ...run, name: 'high' },
]
const twoArms: Json = { name: 'small', runs, metadata: { success_metric: 'loss' } }
/** Sets what stands at a dotted path. */
function withField(value: Json, path: string, changed: unknown): Json {
  const [key = '', ...rest] = path.split('.')
  const inner = value[key]
  return {
    ...value,
    [key]: rest.length === 0 ? changed : withField((inner ?? {}) as Json, rest.join('.'), changed),
  }
}

/** A change is an experiment of its own, or a value at the path of the field. */
interface Proof {
  readonly from?: Json
  readonly to: Json
}

/** The plugins are there where one of them is named: to load them takes a process. */
const needsOwn = /data\/plain|"(?:digest|echo|crowd|bucket|lines|ends)"/

const project = (spec: Json): { dir: string; file: string } => {
  const dir = folder()
  const file = experimentProject(dir, spec, needsOwn.test(JSON.stringify(spec)) ? { 'own.ts': own } : {})
  mkdirSync(join(dir, 'data/plain'))
  const verifier = { kind: 'in_process', fn_name: 'digest', expected: 'x' }
  const tasks = questions.map((text, i) => ({
    task_id: text,
    instruction: text,
    verifier,
    metadata: { kind: `k${i % 2}` },
  }))
  writeFileSync(join(dir, 'data/plain/tasks.jsonl'), tasks.map((each) => `${JSON.stringify(each)}\n`).join(''))
  const rows = questions.map((text) => ({ instruction: `plain ${text}`, expected: 'shop' }))
  mkdirSync(join(dir, 'data/hub'))
  for (const [part, desk] of Object.entries({ train: 'hub', test: 'post' })) {
    writeFileSync(join(dir, `data/hub/${part}.jsonl`), `${JSON.stringify({ query: part, desk })}\n`.repeat(3))
  }
  writeFileSync(join(dir, 'data/rows.csv'), `query,desk\n${'first;,sh;op\n'.repeat(4)}`)
  writeFileSync(join(dir, 'data/rows.jsonl'), rows.map((each) => `${JSON.stringify(each)}\n`).join(''))
  return { dir, file }
}

async function planOf(spec: Json): Promise<Plan> {
  const { file } = project(spec)
  return (await loadExperiment({ file })).plan
}

/** What a plan comes to: its runs, and how they are judged. Words are not in it. */
async function planned(spec: Json): Promise<unknown> {
  const { runs: all, objective, claim, experiment } = await planOf(spec)
  const place = /"[^"]*evsys-[^"]*\/(?=[^"]*")/g // the folder of the project differs
  return JSON.parse(JSON.stringify({ all, objective, claim, by: experiment.metadata.benchmark }).replaceAll(place, '"'))
}

/** What a run does: its metrics step by step, or the error that it ends with. */
async function trained(spec: Json): Promise<unknown> {
  const { dir, file } = project(spec)
  const { plan } = await loadExperiment({ file })
  const [first] = plan.runs
  const done = await trainHere(runAssignment(dir, { config: first?.config }), {})
  const ends = done.of('run.finished').map(({ status, error }) => [status, error?.code])
  return [
    ends,
    done
      .of('step.finished')
      .map(({ metrics }) => ({ ...metrics, 'time/step_s': 0 }))
      .map(timeless),
  ]
}

const timeless = (metrics: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith('time/')))

interface Ran {
  readonly dir: string
  readonly result?: ExperimentResult
  readonly refused?: string
  readonly order: readonly string[]
}

async function ran(spec: Json): Promise<Ran> {
  const { dir, file } = project(spec)
  const order: string[] = []
  try {
    // Plugins of these tests write into their project what they were told.
    const result = await runExperiment(file, {
      sandbox: 'process',
      onItem: (row, item) => order.push(`${row.name} ${item.type}`),
    })
    return { dir, result, order }
  } catch (error) {
    return { dir, refused: (error as { code?: string }).code ?? String(error), order }
  }
}

const files = (dir: string): string[] => readdirSync(dir, { recursive: true }).map(String)
const proven = new Set<string>()
const prove = (...fields: string[]) => {
  for (const field of fields) proven.add(field)
}

/** Whole experiments in several processes, from sources: on a busy machine each takes a while. */
const slow = { timeout: 300_000 }

describe('a field that changes the plan', () => {
  const arms: Json = { ...base, run: undefined, matrix: { axes: { seed: [1, 2] }, base_run: run } }
  const legacy = (evaluated: Json): Json => ({
    ...base,
    run: { ...run, eval: { metrics: [{ kind: 'accuracy' }], ...evaluated } },
  })
  const validated = (validation: Json): Json => ({
    ...base,
    run: { ...run, validation: { dataset_id: 'a', eval_for_every: 1, ...validation } },
  })
  const chain = { datasets: [run.data, run.data] }
  const changes: Record<string, Proof> = {
    run: { to: { ...base, run: { ...run, seed: 1 } } },
    runs: { from: twoArms, to: { ...twoArms, runs: [...runs, { ...run, name: 'third' }] } },
    'runs[]': { from: twoArms, to: { ...twoArms, runs: [...runs, { ...run, name: 'third' }] } },
    base_run: {
      from: arms,
      to: { ...arms, matrix: { axes: { seed: [1, 2] } }, base_run: { ...run, seed: 3, name: 'x' } },
    },
    matrix: { to: arms },
    'matrix.axes': { from: arms, to: withField(arms, 'matrix.axes', { seed: [1, 2, 3] }) },
    'matrix.base_run': { from: arms, to: withField(arms, 'matrix.base_run.name', 'other') },
    'matrix.name_template': { from: arms, to: withField(arms, 'matrix.name_template', 's-{seed}') },
    n_repeats: { to: { ...base, n_repeats: 2 } },
    base_seed: { to: { ...base, base_seed: 9 } },
    extends: { to: { ...base, extends: 'data/more.yaml' } },
    'run.name': { to: withField(base, 'run.name', 'two') },
    'run.data': { to: withField(base, 'run.data', { ...run.data, path: 'data/val/tasks.jsonl' }) },
    'run.model': { to: withField(base, 'run.model', { name: 'evsys/tiny' }) },
    'run.algorithm': { to: withField(base, 'run.algorithm', { kind: 'dpo' }) },
    'run.backend': { to: withField(base, 'run.backend', { kind: 'local' }) },
    'run.agent': { to: withField(base, 'run.agent', { kind: 'crowd' }) },
    'run.environment': { to: withField(base, 'run.environment', { kind: 'local' }) },
    'run.eval': { to: legacy({}) },
    'run.eval.enabled': { from: legacy({}), to: legacy({ enabled: false }) },
    'run.eval.metrics': { from: legacy({}), to: legacy({ metrics: [] }) },
    'run.eval.inference': { from: legacy({}), to: legacy({ inference: { kind: 'echo' } }) },
    'run.eval.inference.kind': { from: legacy({}), to: legacy({ inference: { kind: 'echo' } }) },
    'run.eval.eval_data': { from: legacy({}), to: legacy({ eval_data: { path: 'data/val/tasks.jsonl' } }) },
    'run.eval.n_samples': { from: legacy({}), to: legacy({ n_samples: 1 }) },
    'run.eval.metrics[].kind': { from: legacy({}), to: legacy({ metrics: [{ kind: 'pass_rate' }] }) },
    'run.validation.metrics[].kind': { from: validated({}), to: validated({ metrics: [{ kind: 'pass_rate' }] }) },
    'stages.stages': { to: { ...base, stages: { stages: [{ algorithm: sft }, { algorithm: { kind: 'dpo' } }] } } },
    'metadata.benchmark[].split': {
      from: scored,
      to: { ...base, metadata: { benchmark: [{ ...val, split: 'test' }] } },
    },
    'run.validation': { to: validated({}) },
    'run.validation.dataset_id': { from: validated({}), to: validated({ dataset_id: 'b' }) },
    'run.validation.eval_for_every': { from: validated({}), to: validated({ eval_for_every: 2 }) },
    'run.validation.metrics': { from: validated({}), to: validated({ metrics: ['pass@1'] }) },
    stages: { to: { ...base, stages: [{ algorithm: sft }, { algorithm: { kind: 'dpo' } }] } },
    'stages[].algorithm': {
      from: { ...base, stages: [{ algorithm: sft }] },
      to: { ...base, stages: [{ algorithm: { kind: 'dpo' } }] },
    },
    'stages[].data': {
      from: { ...base, stages: [{ algorithm: sft }] },
      to: { ...base, stages: [{ algorithm: sft, data: { path: 'data/val/tasks.jsonl' } }] },
    },
    continual: { to: { ...base, continual: chain } },
    'continual.datasets': { from: { ...base, continual: chain }, to: { ...base, continual: { datasets: [run.data] } } },
    'continual.name_template': {
      from: { ...base, continual: chain },
      to: { ...base, continual: { ...chain, name_template: '{base}-{i}' } },
    },
    'continual.mix': { from: { ...base, continual: chain }, to: { ...base, continual: { ...chain, mix: true } } },
    metadata: { to: scored },
    'metadata.benchmark': { to: scored },
    'metadata.success_metric': { to: { ...base, metadata: { success_metric: 'loss' } } },
    'metadata.objective': { to: { ...base, metadata: { objective: { metric: 'loss' } } } },
    'metadata.objective.metric': { to: { ...base, metadata: { objective: { metric: 'loss' } } } },
    'metadata.objective.direction': {
      from: { ...base, metadata: { objective: { metric: 'loss' } } },
      to: { ...base, metadata: { objective: { metric: 'loss', direction: 'max' } } },
    },
    'metadata.benchmark[].model': {
      from: scored,
      to: { ...base, metadata: { benchmark: [{ ...val, model: 'mock:echo' }] } },
    },
  }
  it.each(Object.entries(changes))('%s (USE-330)', async (field, { from = base, to }) => {
    prove(field)
    expect(await planned(to).catch((error) => error.code)).not.toEqual(await planned(from))
  })

  it('is the same wherever a run is written (USE-330)', async () => {
    const { model, data, algorithm, backend } = run
    const [name, ...specs]: Json[] = [
      base,
      { name: 'small', runs: [run] },
      { name: 'small', matrix: { base_run: run } },
      { name: 'small', matrix: {}, base_run: run },
      { name: 'small', run: { name: 'one' }, model, data, algorithm, backend },
    ]
    const configOf = async (spec: Json) => ({ ...(await planOf(spec)).runs[0]?.config, data: 0, name: 0 })
    const expected = await configOf(name ?? {})
    for (const spec of specs) expect(await configOf(spec)).toEqual(expected)
  })
})

describe('a field that changes the training', slow, () => {
  const stored = (data: Json) => withField(base, 'run.data', data)
  const changes: Record<string, Json> = {
    'run.seed': withField(base, 'run.seed', 1),
    'run.mix': withField(base, 'run.mix', [
      { source_kind: 'in_memory', rows: [{ query: 'a', desk: 'b' }], transforms: [chat] },
    ]),
    'run.algorithm.kind': withField(base, 'run.algorithm', { ...sft, kind: 'focal_sft' }),
    'run.algorithm.params': withField(base, 'run.algorithm.params', { ...sft.params, learning_rate: 0.2 }),
    'run.backend.kind': withField(base, 'run.backend', { kind: 'nowhere' }),
    'run.backend.params': withField(base, 'run.backend', { kind: 'mock', params: { fail_on_prepare: true } }),
    'run.model.name': withField(base, 'run.model', { name: 'no/such-model' }),
    'run.model.load_checkpoint_path': withField(base, 'run.model', {
      name: 'mock',
      load_checkpoint_path: 'mock://x/y',
    }),
    'run.model.init_from_checkpoint': withField(base, 'run.model', {
      name: 'mock',
      init_from_checkpoint: 'mock://x/y',
    }),
    'run.model.renderer_name': withField(base, 'run.model', { name: 'mock', renderer_name: 'no-such' }),
    'run.data.source_kind': stored({ ...run.data, source_kind: 'json' }),
    'run.data.dataset_id': stored({ ...run.data, dataset_id: 'no-such' }),
    'run.data.dataset_name': stored({ ...run.data, dataset_name: 'no-such' }),
    'run.data.path': stored({ ...run.data, path: 'data/nothing.jsonl' }),
    'run.data.rows': stored({ source_kind: 'in_memory', rows: [{ query: 'a', desk: 'b' }], transforms: [chat] }),
    'run.data.hf_dataset': stored({ source_kind: 'hf_dataset', hf_dataset: './data/hub', transforms: [chat] }),
    'run.data.hf_split': stored({
      source_kind: 'hf_dataset',
      hf_dataset: './data/hub',
      hf_split: 'test',
      transforms: [chat],
    }),
    'run.data.params': stored({
      ...run.data,
      path: 'data/rows.csv',
      source_kind: 'csv',
      params: { delimiter: ';' },
    }),
    'run.data.transforms': stored({ ...run.data, transforms: [{ kind: 'sample', params: { n: 1 } }, chat] }),
    'run.data.transforms[].kind': stored({ ...run.data, transforms: [{ kind: 'no-such' }, chat] }),
    'run.data.transforms[].params': stored({
      ...run.data,
      transforms: [{ kind: 'jsonl_to_chat', params: { user_template: '?{query}', assistant_template: '{desk}' } }],
    }),
  }
  const usual = trained(base)
  const others: Record<string, Json> = {
    'run.data.params': stored({ ...run.data, path: 'data/rows.csv', source_kind: 'csv' }),
    'run.data.hf_split': stored({ source_kind: 'hf_dataset', hf_dataset: './data/hub', transforms: [chat] }),
  }
  it.each(Object.entries(changes))('%s (USE-330)', async (field, to) => {
    prove(field)
    const before = await (others[field] === undefined ? usual : trained(others[field]))
    expect(JSON.stringify(before)).toContain('completed')
    expect(await trained(to).catch((error) => [error.code, error.message])).not.toEqual(before)
  })

  it('run.model.resume_step (USE-330)', async () => {
    prove('run.model.resume_step')
    const { dir, file } = project(base)
    const config = (await loadExperiment({ file })).plan.runs[0]?.config
    const first = await trainHere(runAssignment(dir, { config }))
    const [saved] = first
      .of('checkpoint.saved')
      .filter(({ kind }) => kind === 'state')
      .slice(-1)
    const resumed = { ...config, model: { name: 'mock', load_checkpoint_path: saved?.ref ?? '', resume_step: 0 } }
    const again = await trainHere(runAssignment(dir, { config: resumed as typeof config }))
    expect(again.of('step.finished').map(({ step }) => step)).toEqual([1])
  })
})

describe('a field of a benchmark', slow, () => {
  // Answers are the likeliest ones, or follow from the question: none depends on what a benchmark is called.
  const plain: Json = { ...val, temperature: 0, engine: 'in_process' }
  const rows: Json = { ...plain, path: undefined, data: { path: 'data/rows.jsonl' }, verifier: { kind: 'digest' } }
  const echo: Json = { ...plain, inference: { kind: 'echo' } }
  const shouted: Json = {
    ...rows,
    inference: { kind: 'echo', params: { word: 'SHOP' } },
    metrics: [{ kind: 'macro_f1' }],
  }
  const crowd: Json = { ...plain, engine: 'harbor', agent: { kind: 'crowd' } }
  const controls = { plain, again: plain, rows, echo, shouted, crowd }
  const models = ['mock:echo', { kind: 'mock', name: 'word-model', params: { template: 'word' } }]
  const entries: Record<string, readonly [control: keyof typeof controls, change: Json]> = {
    'verifier.kind': ['rows', { verifier: { kind: 'contains' } }],
    'verifier.params': ['rows', { verifier: { kind: 'digest', params: { salt: 'x' } } }],
    metrics: ['plain', { metrics: ['pass_rate'] }],
    'metrics[].kind': ['plain', { metrics: [{ kind: 'tokens_per_task' }] }],
    'metrics[].name': ['shouted', { metrics: [{ kind: 'macro_f1', name: 'own' }] }],
    'metrics[].params': ['shouted', { metrics: [{ kind: 'macro_f1', params: { ignore_case: true } }] }],
    num_samples: ['plain', { num_samples: 3 }],
    max_tokens: ['plain', { max_tokens: 2 }],
    temperature: ['plain', { temperature: 1 }],
    limit: ['plain', { limit: 1 }],
    run_every: ['plain', { run_every: 1 }],
    path: ['plain', { path: 'data/test' }],
    breakdown_keys: ['plain', { breakdown_keys: ['kind'] }],
    'chat_template.system_prompt': ['echo', { chat_template: { system_prompt: 'Say it.' } }],
    'chat_template.user_template': ['echo', { chat_template: { user_template: 'Say: {prompt}' } }],
    'inference.kind': ['plain', { inference: { kind: 'echo' } }],
    'inference.params': ['echo', { inference: { kind: 'echo', params: { after: '!' } } }],
    engine: ['plain', { engine: 'harbor' }], // the agent of the run
    'agent.kind': ['plain', { engine: 'harbor', agent: { kind: 'crowd' } }],
    'agent.params': ['crowd', { agent: { kind: 'crowd', params: { word: 'w' } } }],
    n_concurrent: ['crowd', { n_concurrent: 1 }],
    data: ['plain', { path: undefined, data: { path: 'data/val/tasks.jsonl' } }],
  }
  const nameOf = (field: string) => field.replace('[]', '').replaceAll(/[._]/g, '-')

  it('is seen in what it scores, in one run (USE-330)', async () => {
    const changed = Object.entries(entries).map(([field, [control, change]]): Json => {
      return { ...controls[control], ...change, name: nameOf(field) }
    })
    const all = [...Object.entries(controls).map(([name, entry]) => ({ ...entry, name })), ...changed]
    const seen: Record<string, unknown[]> = {}
    const { file } = project({
      ...base,
      run: { ...run, agent: { kind: 'crowd', params: { word: 'of the run' } } },
      metadata: { benchmark: all.map((entry, i) => (i === 0 ? { ...entry, models } : entry)) },
    })
    const result = await runExperiment(file, {
      onItem(_row, item) {
        if (item.type !== 'eval.finished') return
        const { benchmark, metrics, rewards, step, n_tasks } = item
        seen[benchmark] = [...(seen[benchmark] ?? []), { metrics, rewards, step, n_tasks }]
      },
    })
    expect(result.status).toBe('completed')
    expect(Object.keys(seen).sort()).toEqual(all.map(({ name }) => name).sort())
    expect(seen.again).toEqual(seen.plain)
    const silent = Object.entries(entries).filter(([field, [control]]) => {
      return JSON.stringify(seen[nameOf(field)]) === JSON.stringify(seen[control])
    })
    expect(silent).toEqual([])
    expect(result.baselines?.map(({ model }) => model)).toEqual(['mock:echo', 'word-model'])
    const others = ['name', 'models', ...['kind', 'name', 'params'].map((each) => `models[].${each}`)]
    for (const field of [...Object.keys(entries), ...others]) prove(`metadata.benchmark[].${field}`)
  })
})

describe('a field that changes what is done or written', slow, () => {
  const words = {
    name: 'word-name',
    description: 'word-description',
    parent_experiment_id: 'word-parent',
    metadata: {
      hypothesis: 'word-hypothesis',
      notes: 'word-notes',
      tags: ['word-tags'],
      project_goal_id: 'word-goal',
      benchmark: [{ ...val, tags: ['word-benchmark'] }],
    },
    run: { ...run, tags: ['word-run'] },
  }

  it('words of the author are in the report (USE-330)', async () => {
    const { dir, result } = await ran(words)
    const report = files(dir)
      .filter((name) => name.endsWith('experiment.md'))
      .map((name) => readFileSync(join(dir, name), 'utf8'))
    for (const text of [JSON.stringify(result), report.join()]) {
      expect(
        JSON.stringify(words)
          .match(/word-\w+/g)
          ?.filter((word) => !text.includes(word)),
      ).toEqual([])
    }
    prove('name', 'description', 'run.tags', 'parent_experiment_id')
    prove(...['hypothesis', 'notes', 'tags', 'project_goal_id', 'benchmark[].tags'].map((each) => `metadata.${each}`))
  })

  const strangers: Record<string, Json> = {
    'run.agent.kind': withField(base, 'run.agent', { kind: 'no-such' }),
    'run.agent.params': withField(base, 'run.agent', { kind: 'crowd', params: { no: 1 } }),
    'run.environment.kind': withField(base, 'run.environment', { kind: 'no-such' }),
    'run.environment.params': withField(base, 'run.environment', { kind: 'local', params: { no: 1 } }),
    'metadata.benchmark[].environment.kind': {
      ...base,
      metadata: { benchmark: [{ ...val, environment: { kind: 'no-such' } }] },
    },
    'metadata.benchmark[].environment.params': {
      ...base,
      metadata: { benchmark: [{ ...val, environment: { kind: 'local', params: { no: 1 } } }] },
    },
    'metadata.benchmark[].id': { ...base, metadata: { benchmark: [{ ...val, path: undefined, id: 'no-such' }] } },
    'run.eval.metrics[].params': withField(base, 'run.eval', { metrics: [{ kind: 'pass_rate', params: { no: 1 } }] }),
    'run.eval.inference.params': withField(base, 'run.eval', {
      metrics: [{ kind: 'pass_rate' }],
      eval_data: { path: 'data/rows.jsonl' },
      inference: { kind: 'echo', params: { no: 1 } },
    }),
    'run.validation.metrics[].params': withField(base, 'run.validation', {
      dataset_id: 'a',
      eval_for_every: 1,
      metrics: [{ kind: 'pass_rate', params: { no: 1 } }],
    }),
    'stages[].algorithm.kind': { ...base, stages: [{ algorithm: { kind: 'no-such' } }] },
    'stages[].algorithm.params': { ...base, stages: [{ algorithm: { kind: 'sft', params: { no: 1 } } }] },
  }
  it.each(Object.entries(strangers))('%s that nobody knows is an error (USE-330)', async (field, spec) => {
    prove(field)
    expect((await ran(spec)).refused).toMatch(/^(?:CONFIG|PLUGIN|BENCHMARK|DATA)/)
  })

  const written: Record<string, [Json, (done: Ran) => boolean]> = {
    output_dir: [{ ...base, output_dir: 'elsewhere' }, ({ dir }) => existsSync(join(dir, 'elsewhere'))],
    data_store: [
      { ...base, data_store: { kind: 'bucket', params: { folder: 'data/val' } } },
      ({ refused, result }) => (refused ?? result?.status) !== 'completed',
    ],
    'run.data.store': [
      withField(base, 'run.data', { ...run.data, store: { kind: 'bucket', params: { folder: 'data/val' } } }),
      ({ refused, result }) => (refused ?? result?.status) !== 'completed',
    ],
    log_store: [
      { ...base, log_store: { kind: 'lines', params: { file: 'log.txt' } } },
      ({ dir }) => existsSync(join(dir, 'log.txt')),
    ],
    callbacks: [
      { ...base, callbacks: [{ kind: 'ends', params: { file: 'end.txt' } }] },
      ({ dir }) => existsSync(join(dir, 'end.txt')),
    ],
    max_concurrent_arms: [
      { ...twoArms, max_concurrent_arms: 1 },
      ({ order }) => order.findIndex((each) => each.startsWith('high')) > order.indexOf('low run.finished'),
    ],
  }
  it.each(Object.entries(written))('%s (USE-330)', async (field, [spec, isSeen]) => {
    const list = field === 'callbacks' ? 'callbacks[]' : field
    prove(field, ...(/store|callbacks/.test(field) ? [`${list}.kind`, `${list}.params`] : []))
    const done = await ran(spec)
    expect(
      isSeen(done),
      JSON.stringify({ refused: done.refused, status: done.result?.status, order: done.order }),
    ).toBe(true)
  })

  const changedClaims: Record<string, Json> = {
    direction: { direction: 'min' },
    treatment: { treatment: 'base_model' },
    baseline: { baseline: 'base_model' },
    metric: { metric: 'val.pass_rate' },
    min_effect: { min_effect: 0.5 },
    max_drop: { max_drop: 0.5 },
  }
  it('of a claim (USE-330)', async () => {
    const { dir, file } = project(scored)
    const usual = { treatment: 'high', baseline: 'low' }
    // The runs are the same: they are trained once.
    const evidence = async (judged: Json) => {
      const metadata = {
        success_metric: 'val.mean_reward',
        benchmark: [{ ...val, metrics: ['mean_reward', 'pass_rate'] }],
        ...judged,
      }
      writeFileSync(join(dir, 'experiment.yaml'), stringify({ ...twoArms, metadata }))
      return await runExperiment(file)
    }
    const written = Object.values(changedClaims).map((change) => ({ ...usual, ...change }))
    const { claims } = await evidence({ claims: [usual, ...written] })
    const [first, ...others] = (claims ?? []).map((each) => JSON.stringify(each))
    expect(others).toHaveLength(written.length)
    expect(others.filter((each) => each === first)).toEqual([])
    const one = await evidence({ claim: usual })
    const half = await evidence({ claim: { ...usual, confidence: 0.5 } })
    expect(half.claim?.overall).not.toEqual(one.claim?.overall)
    for (const field of [...Object.keys(changedClaims), 'confidence'])
      prove(`metadata.claim.${field}`, `metadata.claims[].${field}`)
  })

  it('leaks (USE-330)', async () => {
    prove('metadata.benchmark[].leaks')
    const repeating = { ...run, data: { path: 'data/plain/tasks.jsonl' }, algorithm: rolling }
    const spec = (leaks: string): Json => ({ ...base, run: repeating, metadata: { benchmark: [{ ...val, leaks }] } })
    expect((await ran(spec('error'))).refused).toBe('DATA_LEAK')
    expect((await ran(spec('allow'))).result?.leaks).not.toEqual([])
    prove('leaks')
    const whole = (leaks: string): Json => ({ ...base, leaks, run: repeating, metadata: { benchmark: [val] } })
    expect((await ran(whole('refuse'))).refused).toBe('DATA_LEAK')
    expect((await ran(whole('warn'))).result?.leaks).not.toEqual([])
  })

  it('log_rollouts (USE-330)', async () => {
    prove('log_rollouts')
    const spec: Json = { ...base, run: { ...run, data: { path: 'data/plain/tasks.jsonl' }, algorithm: rolling } }
    const logged = async (log_rollouts: boolean) => {
      const { dir } = await ran({ ...spec, log_rollouts })
      return files(dir).filter((name) => name.includes('rollout'))
    }
    expect(await logged(true)).not.toEqual(await logged(false))
  })

  const refusals: Record<string, Json> = {
    version: { version: 2 },
    deploy: { deploy: { kind: 'folder' } },
    plugins: { plugins: ['./no-such.ts'] },
    'budget.steps': { budget: { steps: 1 } },
    'budget.tokens': {
      budget: { tokens: 1 },
      run: { ...run, algorithm: { ...sft, params: { ...sft.params, max_steps: 200 } } },
    },
    'budget.wall': {
      budget: { wall: 0.001 },
      run: { ...run, algorithm: { ...sft, params: { ...sft.params, max_steps: 1_000_000 } } },
    },
    'budget.usd': { budget: { usd: 0.000001 }, run: { ...run, backend: { kind: 'tinker' } } },
    'budget.gpu_seconds': { budget: { gpu_seconds: 0.000001 } },
    'compute.kind': { compute: { kind: 'slurm' } },
    'compute.params': { compute: { params: { queue: 'a' } } },
    'compute.resources': { compute: { resources: { cpus: 1000 } } },
    'compute.setup': { compute: { setup: 'exit 1' } },
    'compute.envs': { compute: { envs: { A: 'b' } } },
  }
  it.each(Object.entries(refusals))('%s (USE-330)', async (field, change) => {
    prove(field)
    const { refused, result } = await ran({ ...base, ...change })
    expect(refused ?? result?.status).not.toBe('completed')
  })
})

describe('a plugin of a project', slow, () => {
  // Each leaves its type in a file as soon as it does its work.
  const working = (file: string) => `import { appendFileSync, createReadStream, readFileSync } from 'node:fs'
    import { mockBackend } from 'evsys'
    import * as host from 'evsys/plugin'
    const { sft, z } = host
    const at = (type, params = z.strictObject({})) => ({ kind: 'own_' + type, summary: 'Leaves its type.', params })
    const works = (type) => appendFileSync(${JSON.stringify(file)}, type + '\\n')
    const words = (text) => Int32Array.from(Buffer.from(text))
    export default [
      host.defineAlgorithm({ ...at('algorithm', sft.params), rowFormat: sft.rowFormat,
        buildBatch(context) { works('algorithm'); return sft.buildBatch(context) } }),
      host.defineBackend({ ...at('backend', mockBackend.params),
        open(context) { works('backend'); return mockBackend.open(context) } }),
      host.defineTransform({ ...at('transform'), async *run(rows) { works('transform'); yield* rows } }),
      host.defineDataSource({ ...at('data_source'), async *rows() {
        works('data_source'); yield { place: 'x', row: { messages: [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }] } } } }),
      host.defineDataStore({ ...at('data_store'), open: async () => ({
        read(path) { works('data_store'); return createReadStream(path.includes('/') ? path : 'data/' + path) },
        exists: async () => true, async write() {}, async *list() {}, async [Symbol.asyncDispose]() {} }) }),
      host.defineLogStore({ ...at('log_store'), open: async () => ({ async metrics() { works('log_store') },
        async hyperparams() {}, async artifact() {}, async [Symbol.asyncDispose]() {} }) }),
      host.defineMetric({ ...at('metric'), compute() { works('metric'); return 0.5 } }),
      host.defineVerifier({ ...at('verifier'), verify() { works('verifier'); return { reward: 1 } } }),
      host.defineInferenceClient({ ...at('inference_client'), open: async () => ({ async generate() {
        works('inference_client')
        return { text: 'a', stopReason: 'stop', usage: { promptTokens: 1, completionTokens: 1, latencyS: 0 } } } }) }),
      host.defineCallback({ ...at('callback'), open: async () => ({ onTrainEnd() { works('callback') } }) }),
      host.defineAgent({ ...at('agent'), async run() { works('agent'); return { output: 'a' } } }),
      host.defineRenderer({ ...at('renderer'), open: async () => ({ stop: [10],
        conversation() { works('renderer')
          return { tokens: words('ab'), message: Int32Array.of(0, 1), produced: Uint8Array.of(0, 1) } },
        prompt: () => words('a'), parse: () => ({ message: { role: 'assistant', content: 'b' }, complete: true }) }) }),
    ]
  `
  // What an experiment file names besides: refused above, or attempted in task folders, or of research tasks.
  const elsewhere = ['deployer', 'provider', 'trace_source', 'environment', 'proposer', 'strategy', 'keep_rule']

  it('does its work, whatever its type (USE-330)', async () => {
    const dir = folder()
    const rows = { ...val, path: undefined, data: { path: 'rows.jsonl', store: { kind: 'own_data_store' } } }
    const spec: Json = {
      name: 'small',
      run: {
        data: { source_kind: 'own_data_source', transforms: [{ kind: 'own_transform' }] },
        model: { name: 'mock', renderer_name: 'own_renderer' },
        algorithm: { kind: 'own_algorithm', params: { max_steps: 1 } },
        backend: { kind: 'own_backend' },
      },
      log_store: { kind: 'own_log_store' },
      callbacks: [{ kind: 'own_callback' }],
      metadata: {
        benchmark: [
          { ...rows, name: 'rows', verifier: { kind: 'own_verifier' }, metrics: ['own_metric'] },
          { ...rows, name: 'client', verifier: { kind: 'own_verifier' }, inference: { kind: 'own_inference_client' } },
          { ...rows, name: 'agent', verifier: { kind: 'own_verifier' }, agent: { kind: 'own_agent' } },
        ],
      },
    }
    const used = join(dir, 'used.txt')
    const file = experimentProject(dir, spec, { 'working.ts': working(used) })
    writeFileSync(join(dir, 'data/rows.jsonl'), '{"instruction":"q","expected":"a"}\n')
    const result = await runExperiment(file, { sandbox: 'process' }) // its plugins write down in the project that they were used
    expect(result.status, JSON.stringify(result.runs)).toBe('completed')
    const types = new Set([...readFileSync(used, 'utf8').trim().split('\n'), ...elsewhere])
    expect([...types].sort()).toEqual([...PluginType.options].sort())
  })
})

describe('the block of research (USE-330)', () => {
  const rate = 'algorithm.params.learning_rate'
  const { benchmark } = twoByTwo.metadata
  const metrics = ['pass@1', 'mean_reward', 'tokens_per_task']
  const measured = benchmark.map((each) => ({ ...each, metrics }))
  const searched = { ...run, metadata: { objective: { metric: 'val.pass@1' }, benchmark: measured } }
  const block = {
    space: { [rate]: [0.1, 0.2], 'algorithm.params.batch_size': [1, 2] },
    transforms: [{ kind: 'sample', params: { n: 2 } }],
    derive: false,
  }
  const objective = { cheapest: 'tokens_per_task', direction: 'min', within: 0.1 }
  const changes: [field: string, change: Json][] = [
    ['research.space', { space: { [rate]: [0.1, 0.3] } }],
    ['research.transforms[].kind', { transforms: [{ kind: 'shuffle' }] }],
    ['research.transforms[].params', { transforms: [{ kind: 'sample', params: { n: 3 } }] }],
    ['research.derive', { derive: true }],
    ['research.off_limits', { off_limits: [rate] }],
    ['research.scope', { scope: ['lib/*.ts'] }],
    ['research.stages', { stages: [{ algorithm: { kind: 'dpo' } }] }],
    ['research.budget', { budget: { experiments: 3 } }],
    ['research.proposer.kind', { proposer: { kind: 'llm' } }],
    ['research.proposer.params', { proposer: { kind: 'optimizer', params: { method: 'random' } } }],
    ['research.strategy.kind', { strategy: { kind: 'reference' } }],
    ['research.strategy.params', { strategy: { kind: 'default', params: { explore: 0.5 } } }],
    ['research.keep_rule.kind', { keep_rule: { kind: 'reference' } }],
    ['research.keep_rule.params', { keep_rule: { kind: 'default', params: { preset: 'strict' } } }],
    ['research.secondary[].metric', { secondary: [{ metric: 'tokens_per_task', direction: 'min', tolerance: 0.1 }] }],
    ['research.secondary[].direction', { secondary: [{ metric: 'mean_reward', direction: 'max', tolerance: 0.1 }] }],
    ['research.secondary[].tolerance', { secondary: [{ metric: 'mean_reward', direction: 'min', tolerance: 0.5 }] }],
    ['research.objective.cheapest', { objective: { ...objective, cheapest: 'mean_reward' } }],
    ['research.objective.direction', { objective: { ...objective, direction: 'max' } }],
    ['research.objective.within', { objective: { ...objective, within: 0.2 } }],
    ['research.priors', { priors: false }],
  ]

  /** What a session over the file would be begun with, or why there is none. */
  async function session(change: Json): Promise<string> {
    const dir = folder()
    const research = {
      ...block,
      objective,
      secondary: [{ metric: 'mean_reward', direction: 'min', tolerance: 0.1 }],
      ...change,
    }
    const file = experimentProject(dir, { ...searched, research })
    await using store = await openStore(join(dir, '.evsys', 'evsys.db'))
    const at = { file, projectDir: dir, store, signal: new AbortController().signal }
    try {
      const opened = await openExperiment({ ...at, secretSource: { get: () => undefined, hint: '' } })
      await using _executor = opened.executor
      const settings = experimentSettings(opened, { ...at, cwd: dir, env: {}, budget: {} }, false)
      return JSON.stringify([settings, opened.task.secondary, opened.block.priors])
    } catch (error) {
      return `refused: ${error}`
    }
  }

  it('takes effect field by field', async () => {
    const usual = await session({})
    expect(usual).toContain('"budget"')
    for (const [field, change] of changes) {
      const changed = await session(change)
      expect(changed, field).not.toBe(usual)
      expect(changed.startsWith('refused'), `${field}: ${changed}`).toBe(field === 'research.stages') // the file has none
      prove(field)
    }
  })
})

// By what they say of themselves.
const inert = ['$schema', 'metadata.extra']
// Refused as wholes.
const refusedWhole = /^(?:compute\.resources|deploy)\./

it('leaves no field of the schema out (USE-330)', () => {
  const all = [...new Set(fieldsOf(ExperimentFile).map(canonicalField))]
  const isProven = (field: string): boolean => {
    const parts = all.filter((each) => each.startsWith(`${field}.`) || each.startsWith(`${field}[].`))
    return proven.has(field) || refusedWhole.test(field) || (parts.length > 0 && parts.every(isProven))
  }
  expect(all.filter((field) => !isProven(field))).toEqual(inert)
  expect([...proven].filter((field) => !all.includes(field) && !field.endsWith('[]'))).toEqual([])
})
