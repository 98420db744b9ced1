// Runs a plugin of any type on a fixture, the way evsys would call it, without a project, a network or a key.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type * as z from 'zod'
import { byteTokenizer } from '../backends/index.ts'
import {
  type Agent,
  type Algorithm,
  type Backend,
  type Brief,
  type Callback,
  type ChatMessage,
  DataConfig,
  type DataSource,
  type DataStore,
  type Environment,
  type EnvironmentCommand,
  type ExecResult,
  type Generated,
  type HarborTask,
  type InferenceClient,
  type KeepRule,
  type Metric,
  type MetricTask,
  type Proposal,
  type Proposer,
  type Race,
  type RaceStep,
  type Rendered,
  type Renderer,
  type Row,
  type SearchRequest,
  type SearchState,
  type Strategy,
  type TaskRewards,
  type Tokenizer,
  type Transform,
  type Usage,
  type Verification,
  type Verifier,
} from '../contracts/index.ts'
import { EvsysError, temporaryFolder } from '../kernel/index.ts'
import { type ContextOptions, pluginContext } from './plugin-context.ts'
import { researchBrief, researchRace, researchState } from './research-fixtures.ts'
import { scriptedModel } from './scripted-model.ts'
import { type Trained, type TrainFixture, trainPlugins } from './train-plugins.ts'

type Training = Pick<TrainFixture, 'rows' | 'steps'>

interface Runs {
  transform: { plugin: Transform; fixture: { rows: readonly Row[] }; result: Row[] }
  data_source: {
    plugin: DataSource
    fixture: {
      /** The `data:` block that names the source, as it stands in YAML without `params`. */
      data?: z.input<typeof DataConfig> | undefined
      /** The file that a path of the block names. Default: the path itself. */
      resolve?: ((path: string) => string) | undefined
      projectDir?: string | undefined
    }
    result: Row[]
  }
  data_store: {
    plugin: DataStore
    fixture: { files: Readonly<Record<string, string>> }
    result: Record<string, string>
  }
  metric: {
    plugin: Metric
    fixture: {
      rewards: TaskRewards
      usage?: readonly (readonly Usage[])[] | undefined
      tasks?: readonly MetricTask[] | undefined
    }
    result: ReturnType<Metric['compute']>
  }
  verifier: {
    plugin: Verifier
    fixture: {
      output: string
      expected?: unknown
      task?: HarborTask | undefined
      judge?: readonly string[] | undefined
    }
    result: Verification
  }
  algorithm: { plugin: Algorithm; fixture: Training; result: Trained }
  backend: { plugin: Backend; fixture: Training; result: Trained }
  callback: { plugin: Callback; fixture: Training; result: Trained }
  renderer: {
    plugin: Renderer
    fixture: { messages: readonly ChatMessage[]; tokenizer?: Tokenizer | undefined; chatTemplate?: string | undefined }
    result: Rendered & { readonly prompt: Int32Array }
  }
  inference_client: { plugin: InferenceClient; fixture: { messages: readonly ChatMessage[] }; result: Generated }
  agent: {
    plugin: Agent
    fixture: {
      task?: HarborTask | undefined
      /** What the model answers, in order. */
      answers: readonly (string | Partial<Generated>)[]
      maxTurns?: number | undefined
    }
    result: { output: string; turnRewards?: readonly number[] | undefined; turns: number }
  }
  environment: {
    plugin: Environment
    fixture: {
      task?: HarborTask | undefined
      /** Files of a task folder, by their paths in it. Default: none, and the task is a row. */
      folder?: Readonly<Record<string, string>> | undefined
      commands: readonly EnvironmentCommand[]
    }
    result: ExecResult[]
  }
  proposer: { plugin: Proposer; fixture: { brief?: Partial<Brief> | undefined }; result: Proposal }
  strategy: { plugin: Strategy; fixture: { state?: Partial<SearchState> | undefined }; result: SearchRequest }
  keep_rule: { plugin: KeepRule; fixture: { race?: Partial<Race> | undefined }; result: RaceStep }
}

type TestableType = keyof Runs

const sampleTask: HarborTask = {
  task_id: 'one',
  instruction: 'Say yes.',
  verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'yes', params: {} },
  metadata: {},
}

const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 256 }

/** Calls a plugin on a fixture and gives what it made. */
export async function runPlugin<T extends TestableType>(
  plugin: Runs[T]['plugin'] & { readonly type: T },
  fixture: Runs[T]['fixture'] & ContextOptions,
): Promise<Runs[T]['result']> {
  const run: Run<T> | undefined = runs[plugin.type]
  if (run !== undefined) return await run(plugin, fixture)
  throw new EvsysError('PLUGIN_INVALID', `nothing runs a plugin of type ${plugin.type}`, {
    fix: `test one of these types: ${Object.keys(runs).join(', ')}.`,
  })
}

type Run<T extends TestableType> = (
  plugin: Runs[T]['plugin'],
  fixture: Runs[T]['fixture'] & ContextOptions,
) => Promise<Runs[T]['result']>

/** How a plugin of each type is called. */
export const runs: { readonly [T in TestableType]: Run<T> } = {
  async transform(plugin, fixture) {
    return await collect(plugin.run(stream(fixture.rows), pluginContext(plugin, fixture)))
  },
  async data_source(plugin, fixture) {
    const { data = {}, resolve = (path) => path, projectDir } = fixture
    const scope = { data: DataConfig.parse({ source_kind: plugin.kind, ...data }), resolve, projectDir }
    const rows = await collect(plugin.rows({ ...scope, ...pluginContext(plugin, fixture) }))
    return rows.map(({ row }) => row)
  },
  async data_store(plugin, fixture) {
    await using store = await plugin.open(pluginContext(plugin, fixture))
    for (const [path, text] of Object.entries(fixture.files)) await store.write(path, stream([Buffer.from(text)]))
    const paths = await collect(store.list(''))
    const read = async (path: string) => [path, Buffer.concat(await collect(store.read(path))).toString()] as const
    return Object.fromEntries(await Promise.all(paths.map(read)))
  },
  async metric(plugin, fixture) {
    const { params } = pluginContext(plugin, fixture)
    const usage = fixture.usage ?? fixture.rewards.map((samples) => samples.map(() => noUsage))
    return plugin.compute(fixture.rewards, { params, usage, tasks: fixture.tasks })
  },
  async verifier(plugin, fixture) {
    const { output, expected, task, judge = [] } = fixture
    const model = async () => scriptedModel(judge)
    const given = await plugin.verify({ output, expected, task }, { ...pluginContext(plugin, fixture), model })
    return typeof given === 'number' ? { reward: given } : given
  },
  async algorithm(plugin, fixture) {
    return await trainPlugins([plugin], { ...fixture, algorithm: specOf(plugin, fixture) })
  },
  async backend(plugin, fixture) {
    return await trainPlugins([plugin], { ...fixture, backend: specOf(plugin, fixture) })
  },
  async callback(plugin, fixture) {
    return await trainPlugins([plugin], { ...fixture, callbacks: [specOf(plugin, fixture)] })
  },
  async renderer(plugin, fixture) {
    const { tokenizer = byteTokenizer, chatTemplate, messages } = fixture
    const renderer = await plugin.open({ ...pluginContext(plugin, fixture), tokenizer, chatTemplate })
    return { ...renderer.conversation(messages), prompt: renderer.prompt(messages) }
  },
  async inference_client(plugin, fixture) {
    const context = pluginContext(plugin, fixture)
    const client = await plugin.open(context)
    try {
      return await client.generate({ messages: fixture.messages, seed: fixture.seed ?? 1, ...sampling }, context.signal)
    } finally {
      await client[Symbol.asyncDispose]?.()
    }
  },
  async agent(plugin, fixture) {
    const policy = scriptedModel(fixture.answers)
    const { task = sampleTask, maxTurns = 10 } = fixture
    const given = await plugin.run({ ...pluginContext(plugin, fixture), task, policy, sampling, maxTurns })
    return { ...given, turns: policy.requests.length }
  },
  async environment(plugin, fixture) {
    const dir = temporaryFolder('testing')
    try {
      const context = pluginContext(plugin, fixture)
      const folder = fixture.folder && { path: await writeFiles(join(dir, 'task'), fixture.folder) }
      const stateDir = join(dir, 'state')
      await mkdir(stateDir)
      await using environment = await plugin.open({ ...context, task: fixture.task ?? sampleTask, folder, stateDir })
      const results: ExecResult[] = []
      for (const command of fixture.commands) results.push(await environment.exec(command, context.signal))
      return results
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  },
  async proposer(plugin, fixture) {
    return await plugin.propose(researchBrief(fixture.brief), pluginContext(plugin, fixture))
  },
  async strategy(plugin, fixture) {
    return plugin.next(researchState(fixture.state), pluginContext(plugin, fixture))
  },
  async keep_rule(plugin, fixture) {
    return plugin.decide(researchRace(fixture.race), pluginContext(plugin, fixture))
  },
}

const noUsage: Usage = { promptTokens: 0, completionTokens: 0, latencyS: 0 }

function specOf({ kind }: { readonly kind: string }, { params = {} }: ContextOptions) {
  return { kind, params: { ...params } }
}

async function writeFiles(dir: string, files: Readonly<Record<string, string>>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
  return dir
}

async function* stream<T>(items: Iterable<T>): AsyncIterable<T> {
  yield* items
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
