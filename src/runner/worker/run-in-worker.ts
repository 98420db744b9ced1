// One assignment inside a worker: the services of the run over the loaded plugins, its segment, its evaluations.
import { readFileSync } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'
import {
  type AddressVariable,
  type AnyPlugin,
  agentOf,
  type EvalMark,
  type Item,
  type LogLevel,
  type PluginSpec,
  type PluginType,
  type RunAssignment,
  type RunConfig,
} from '../../contracts/index.ts'
import { createPreviewWriter, rowCacheFolder } from '../../data/index.ts'
import {
  builtInHash,
  createRateBound,
  createRedactor,
  EvsysError,
  errorRecord,
  hashOf,
  keyedRandom,
  type OpenRegistry,
  type RateBound,
  type Registry,
  readPluginGraph,
  systemClock,
} from '../../kernel/index.ts'
import { cachedRenderer, type TokenSource } from '../train/cached-renderer.ts'
import type { RenderStart } from '../train/render-protocol.ts'
import { droppedQuestions, type RunData, type RunServices } from '../train/run-context.ts'
import { createRunReporter, type Evaluate, type RunReporter } from '../train/run-scope.ts'
import { trainRun } from '../train/train-run.ts'
import { openSegmentWriter } from './segment-writer.ts'

interface WorkerRunOptions {
  readonly assignment: RunAssignment
  readonly secrets: Readonly<Record<string, string>>
  readonly addresses?: Readonly<Partial<Record<AddressVariable, string>>> | undefined
  readonly trainer?: RunServices['trainer']
  readonly openSandbox?: RunServices['openSandbox']
  readonly plugins: OpenRegistry
  readonly stopping: AbortSignal
  readonly signal: AbortSignal
  /** The segment holds every item before this one. */
  onWritten(nextItem: number): void
  readonly evaluate: Evaluate
}

/** Does a run. What the run itself gets wrong is reported in its segment; a segment that cannot be written is thrown. */
export async function runInWorker(options: WorkerRunOptions): Promise<'finished' | 'interrupted'> {
  const { assignment, secrets, addresses, trainer, openSandbox, plugins, signal, stopping } = options
  const redact = createRedactor(secrets)
  const used = usedPlugins(plugins, assignment.config, assignment.project_dir)
  const segment = await openSegmentWriter(assignment.segment_file)
  try {
    const reporter = createRunReporter({
      runId: assignment.run_id,
      nextItem: assignment.next_item,
      nextEvent: assignment.next_event,
      clock: systemClock,
      async write(number, item) {
        await segment.write(number, redact(used.sign(item)))
        options.onWritten(number + 1)
      },
    })
    const log = createPluginLog(reporter)
    using data = createRunData(assignment, plugins, signal)
    try {
      if (plugins.problems.length > 0) {
        const error = errorRecord(EvsysError.many(plugins.problems))
        await reporter.report({ type: 'run.finished', status: 'failed', metrics: {}, error, wall_s: 0 })
        return 'finished'
      }
      return await trainRun({
        assignment,
        reporter,
        stopping,
        services: {
          registry: used.registry,
          signal,
          random: (...path) => keyedRandom(assignment.config.seed, ...path),
          log: log.log,
          secret: (name) => secretOf(secrets, name),
          address: (name) => addresses?.[name],
          trainer,
          openSandbox,
          data,
        },
        evaluate: options.evaluate,
      })
    } finally {
      log.close()
    }
  } finally {
    await segment.close()
  }
}

function secretOf(secrets: Readonly<Record<string, string>>, name: string): string {
  const value = Object.hasOwn(secrets, name) ? secrets[name] : undefined
  if (value !== undefined) return value
  throw new EvsysError('SECRET_MISSING', `the secret ${name} is not set`, {
    fix: `set ${name} in the environment or in the project’s .env.`,
  })
}

/** Which plugins the run looks up, and which files its agent brings, so that it can say by whose code it was made. */
export function usedPlugins({ registry, hashOf: codeHash }: OpenRegistry, config: RunConfig, projectDir: string) {
  const used = new Map<string, string>(Object.entries(agentFileHashes(agentOf(config), projectDir)))
  const note = (plugin: AnyPlugin) => used.set(`${plugin.type} ${plugin.kind}`, codeHash(plugin))
  const noting: Registry = {
    ...registry,
    find<T extends PluginType>(type: T, kind: string) {
      const found = registry.find(type, kind)
      if (found !== undefined) note(found.plugin)
      return found
    },
    get(type, kind, where) {
      const found = registry.get(type, kind, where)
      note(found.plugin)
      return found
    },
  }
  /** Of the code of all plugins that were looked up so far. */
  const hash = () => hashOf(Object.fromEntries(used))
  return {
    registry: noting,
    hash,
    sign(item: Item | EvalMark): Item | EvalMark {
      if (item.type !== 'run.started' || item.code_hash !== undefined) return item
      return { ...item, code_hash: hash() }
    },
  }
}

/**
 * The files of the project that the agent of a run brings: itself, its tools, a user that is a function. They are no plugins of the
 * registry, and are part of the code of a run all the same. Hashes by name, over each file and everything that it imports; one that
 * cannot be read is reported when it is loaded.
 */
export function agentFileHashes(agent: PluginSpec | undefined, projectDir: string): Record<string, string> {
  if (agent === undefined) return {}
  const { tools, user, path } = agent.params
  const named = [agent.kind, ...(Array.isArray(tools) ? tools : []), user]
  const files = named.flatMap((each: unknown) => (typeof each === 'string' ? (each.split('#')[0] ?? []) : []))
  const hashes: Record<string, string> = {}
  if (typeof path === 'string' && isAbsolute(path)) {
    try {
      hashes[`file ${relative(projectDir, path).split(sep).join('/')}`] = hashOf(readFileSync(path, 'utf8'))
    } catch {
      // a folder, or missing: reported when it is read
    }
  }
  for (const file of new Set(files)) {
    if (!isAbsolute(file)) continue
    try {
      const name = relative(projectDir, file).split(sep).join('/')
      hashes[`file ${name}`] = readPluginGraph(file, { root: projectDir }).hash
    } catch {
      // it is missing or no code
    }
  }
  return hashes
}

/** What a run does around its data: keeps rows and tokens in the caches of the project, and writes the preview. */
function createRunData(
  { project_dir: projectDir, run_dir, config, benchmarks }: RunAssignment,
  { hashOf: codeHash }: OpenRegistry,
  signal: AbortSignal,
): RunData & Disposable {
  const preview = createPreviewWriter(run_dir)
  const sources: TokenSource[] = []
  const opened: Disposable[] = []
  return {
    projectDir,
    cache: { dir: rowCacheFolder(projectDir), seed: config.seed, codeHash },
    leaks: () => droppedQuestions(benchmarks),
    onBatch: preview.batch,
    async onLoaded({ rows, hash, manifest }) {
      await preview.loaded(manifest)
      if (manifest.format !== 'chat_messages') return
      sources.push({ rows: rows.flatMap((row) => ('messages' in row ? [row] : [])), hash })
    },
    async withTokens(renderer, { plugin, backend: { tokenizer, chatTemplate } }) {
      const code = codeHash(plugin)
      const start = code === builtInHash(plugin) ? startOf(config, plugin.kind) : undefined
      const cached = await cachedRenderer(renderer, {
        projectDir,
        sources,
        rendererId: `${plugin.kind} ${code}`,
        tokenizer,
        signal,
        chatTemplate,
        start,
      })
      opened.push(cached)
      return cached
    },
    [Symbol.dispose]() {
      for (const each of opened) each[Symbol.dispose]()
    },
  }
}

// A thread opens the text of a model by its name. What a service calls its tokenizer is known to the backend alone.
function startOf({ backend, model }: RunAssignment['config'], renderer: string): RenderStart | undefined {
  if (backend.kind === 'mock') return { renderer, model: model.name, arch: 'bigram' }
  if (backend.kind !== 'local') return undefined
  return { renderer, model: model.name, arch: backend.params.engine === 'mock' ? 'bigram' : undefined }
}

const burst = 500
const perSecond = 20
const longestText = 10_000

/**
 * What plugins log becomes events of their run, so many and no more: a line in a hot loop must not bury the record. What is left
 * out is counted and reported.
 */
export function createPluginLog(
  { report }: Pick<RunReporter, 'report'>,
  bound: RateBound = createRateBound({ burst, perSecond }),
) {
  let dropped = 0
  // A segment that cannot be written fails the run at the next event that it waits for.
  const write = (level: LogLevel, text: string) => void report({ type: 'log', level, text }).catch(() => {})
  const reportDropped = () => {
    if (dropped === 0) return
    write('warn', `${dropped} more log ${dropped === 1 ? 'line was' : 'lines were'} left out: they came too fast`)
    dropped = 0
  }
  return {
    log(level: LogLevel, text: string) {
      if (!bound.take(1)) {
        dropped += 1
        return
      }
      reportDropped()
      write(levels.has(level) ? level : 'info', cut(String(text)))
    },
    /** Reports what was left out. */
    close: reportDropped,
  }
}

const levels: ReadonlySet<unknown> = new Set<LogLevel>(['debug', 'info', 'warn', 'error'])

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}... (${text.length} characters)`
}
