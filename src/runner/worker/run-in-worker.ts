// One assignment inside a worker: the services of the run over the loaded plugins, its segment, its questions to the scorer.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type AnyPlugin,
  agentOf,
  type Item,
  type PluginType,
  type Prediction,
  type RunAssignment,
  type Scored,
} from '../../contracts/index.ts'
import {
  createRedactor,
  EvsysError,
  fileError,
  hashOf,
  keyedRandom,
  type OpenRegistry,
  problemsOf,
  type Registry,
  systemClock,
  toRecord,
} from '../../kernel/index.ts'
import { type AskTrials, createRunReporter, type RunReporter } from '../train/run-scope.ts'
import { trainRun } from '../train/train-run.ts'
import { agentFileHashes } from './agent-files.ts'
import { createPluginLog } from './plugin-log.ts'
import { createRunData } from './run-data.ts'
import { openSegmentWriter } from './segment-writer.ts'

export interface WorkerRunOptions {
  readonly assignment: RunAssignment
  readonly secrets: Readonly<Record<string, string>>
  readonly plugins: OpenRegistry
  readonly stopping: AbortSignal
  readonly signal: AbortSignal
  /** The segment holds every item before this one. */
  onWritten(nextItem: number): void
  askScore(question: { benchmark: string; step?: number | undefined; predictions_file: string }): Promise<Scored>
  readonly askTrials: AskTrials
}

/** Does a run. What the run itself gets wrong is told in its segment; a segment that cannot be written is thrown. */
export async function runInWorker(options: WorkerRunOptions): Promise<'finished' | 'interrupted'> {
  const { assignment, secrets, plugins, signal, stopping } = options
  const redact = createRedactor(secrets)
  const used = usedPlugins(plugins, agentFileHashes(agentOf(assignment.config), assignment.project_dir))
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
      if (plugins.problems.length > 0) return await fail(reporter, EvsysError.many(plugins.problems))
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
          data,
        },
        askTrials: options.askTrials,
        askScore: ({ predictions, ...question }) => askWithFile(options, question, predictions),
      })
    } finally {
      log.close()
    }
  } finally {
    await segment.close()
  }
}

async function fail(reporter: RunReporter, error: EvsysError): Promise<'finished'> {
  const [problem] = problemsOf(error)
  const record = problem === undefined ? error.toRecord() : toRecord(problem)
  await reporter.tell({ type: 'run.finished', status: 'failed', metrics: {}, error: record, wall_s: 0 })
  return 'finished'
}

// A file, and not a message: the controller keeps it as a blob, and re-scores from it.
async function askWithFile(
  { assignment, askScore }: WorkerRunOptions,
  question: { benchmark: string; step?: number | undefined },
  predictions: readonly Prediction[],
): Promise<Scored> {
  const folder = join(assignment.run_dir, 'predictions')
  const file = join(folder, `${question.benchmark}-${question.step ?? 'final'}.jsonl`)
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(file, predictions.map((each) => `${JSON.stringify(each)}\n`).join(''))
  } catch (cause) {
    throw fileError('write', file, cause)
  }
  return askScore({ ...question, predictions_file: file })
}

function secretOf(secrets: Readonly<Record<string, string>>, name: string): string {
  const value = Object.hasOwn(secrets, name) ? secrets[name] : undefined
  if (value !== undefined) return value
  throw new EvsysError('SECRET_MISSING', `the secret ${name} is not set`, {
    fix: `set ${name} in the environment or in the project’s .env.`,
  })
}

/** Which plugins the run looks up, and which files its agent brings, so that it can say by whose code it was made. */
export function usedPlugins({ registry, hashOf: codeHash }: OpenRegistry, files: Readonly<Record<string, string>>) {
  const used = new Map<string, string>(Object.entries(files))
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
    sign(item: Item): Item {
      if (item.type !== 'run.started' || item.code_hash !== undefined) return item
      return { ...item, code_hash: hash() }
    },
  }
}
