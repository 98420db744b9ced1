// Experiments that are checked deeply against a small catalog, in a folder with the files that a test wants.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import * as z from 'zod'
import { checkDeep } from '../src/config/check-deep.ts'
import { type LoadOptions, loadExperiment } from '../src/config/load-experiment.ts'
import { pluginReference } from '../src/contracts/index.ts'
import {
  type Catalog,
  defineAgent,
  defineAlgorithm,
  defineBackend,
  defineCallback,
  defineDataSource,
  defineInferenceClient,
  defineMetric,
  defineRenderer,
  defineTransform,
  defineVerifier,
  openCatalog,
} from '../src/kernel/index.ts'
import { faultLine } from './load-text.ts'
import { temporaryFolders } from './temporary-folder.ts'

const none = z.strictObject({})
const never = async (): Promise<never> => {
  throw new Error('a check runs nothing')
}
const summary = 'Stands in a test.'
const steps = {
  max_steps: z.int().min(1).optional().describe('Training steps.'),
  callbacks: z.array(pluginReference('callback')).optional(),
}

const plugins = [
  defineAlgorithm({
    kind: 'sft',
    summary,
    rowFormat: 'chat_messages',
    params: z.strictObject({ ...steps, learning_rate: z.number().gt(0).default(1e-4).describe('Peak learning rate.') }),
    buildBatch: never,
  }),
  defineAlgorithm({
    kind: 'rl',
    summary,
    rowFormat: 'harbor_task',
    params: z.strictObject({
      ...steps,
      agent_import_path: z.string().optional(),
      verifier_name: pluginReference('verifier', z.string()).optional(),
      held_out_verifier: pluginReference('verifier').optional(),
    }),
    buildBatch: never,
  }),
  defineAlgorithm({
    kind: 'chain',
    summary,
    rowFormat: 'chat_messages',
    params: z.strictObject({ phases: z.record(z.string(), pluginReference('algorithm')) }),
    buildBatch: never,
  }),
  defineBackend({ kind: 'keyed', summary, params: z.record(z.string(), z.string()), open: never }),
  defineBackend({ kind: 'local', summary, params: none, open: never }),
  defineBackend({ kind: 'mock', summary, params: none, open: never }),
  defineDataSource({
    kind: 'jsonl',
    summary,
    params: z.strictObject({ max_line_bytes: z.int().optional() }),
    async *rows() {},
  }),
  defineDataSource({ kind: 'json', summary, params: none, async *rows() {} }),
  defineDataSource({ kind: 'in_memory', summary, params: none, async *rows() {} }),
  defineDataSource({ kind: 'hf_dataset', summary, params: none, async *rows() {} }),
  defineTransform({
    kind: 'jsonl_to_chat',
    summary,
    params: z.strictObject({ user_template: z.string() }),
    run: (rows) => rows,
  }),
  defineTransform({
    kind: 'dedupe',
    summary,
    params: z.strictObject({ key: z.string().default('query') }),
    run: (rows) => rows,
  }),
  defineTransform({ kind: 'to_harbor_task', summary, params: none, run: (rows) => rows }),
  defineTransform({ kind: 'mystery', summary, params: none, run: (rows) => rows }),
  defineCallback({ kind: 'local_logger', summary, params: none, open: never }),
  defineCallback({ kind: 'early_stopping', summary, params: z.strictObject({ patience: z.int() }), open: never }),
  defineMetric({ kind: 'pass_rate', summary, params: none, direction: 'max', compute: () => 0 }),
  defineMetric({ kind: 'mean_reward', summary, params: none, direction: 'max', compute: () => 0 }),
  defineMetric({
    kind: 'pass@{k}',
    summary,
    params: z.strictObject({ k: z.int() }),
    direction: 'max',
    minSamples: ({ k }) => k,
    compute: () => 0,
  }),
  defineMetric({
    kind: 'best_of_{n}',
    summary,
    params: z.strictObject({ n: z.int() }),
    direction: 'max',
    minSamples: ({ n }) => n,
    compute: () => 0,
  }),
  defineMetric({ kind: 'cost', summary, params: none, direction: 'min', compute: () => 0 }),
  defineVerifier({
    kind: 'exact_match',
    summary,
    params: z.strictObject({ ignore_case: z.boolean().optional() }),
    verify: () => 1,
  }),
  defineVerifier({ kind: 'runs_code', summary, params: none, needs: { sandbox: true }, verify: () => 1 }),
  defineInferenceClient({ kind: 'mock', summary, params: none, open: never }),
  defineAgent({ kind: 'basic_loop', summary, params: z.strictObject({ turns: z.int().default(1) }), run: never }),
  defineRenderer({ kind: 'qwen3', summary, params: none, open: never }),
]

const { signal } = new AbortController()

/** To be called once at the top of a test file. */
export function deepChecks() {
  const folder = temporaryFolders()
  let catalog: Catalog
  let cwd: string
  beforeAll(async () => {
    catalog = await openCatalog({ builtins: plugins, signal })
  })
  afterAll(async () => {
    await catalog[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    cwd = folder()
    await files({
      'data/train.jsonl': '{"messages": [{"role": "user", "content": "a"}]}\n',
      'data/val/tasks.jsonl': `${task({ task_id: 'a' })}\n\n${task({ task_id: 'b' })}\n`,
    })
  })

  async function files(texts: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(texts)) {
      await mkdir(dirname(join(cwd, name)), { recursive: true })
      await writeFile(join(cwd, name), text)
    }
  }

  async function deep(text: string, options: LoadOptions = {}) {
    const loaded = await loadExperiment({ file: 'e.yaml', text }, { cwd, ...options })
    return await checkDeep(loaded, catalog, {
      signal,
      secrets: { get: (name) => (name === 'SET' ? 'value' : undefined), hint: 'in the environment' },
    })
  }

  return {
    cwd: () => cwd,
    catalog: () => catalog,
    files,
    deep,
    faults: async (text: string, options: LoadOptions = {}) => (await deep(text, options)).problems.map(faultLine),
  }
}

/** A line of a tasks file. */
export function task(fields: Record<string, unknown>): string {
  return JSON.stringify({
    task_id: 't',
    instruction: 'say hi',
    verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'hi' },
    ...fields,
  })
}

export const base = `name: e
data: { path: data/train.jsonl }
model: { name: evsys/tiny }
algorithm: { kind: sft }
`

export const benchmark = (entry: string) => `${base}metadata:\n  benchmark:\n    - ${entry}\n`
