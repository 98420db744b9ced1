// A log of research into the record: every row a run with the run it was derived from. Its scores are claims of the author of
// the log, and never count as measured. Doing it again, also after a crash in the middle, leaves one experiment.
import { basename } from 'node:path'
import {
  type Direction,
  type ImportResult,
  Name,
  RecordedExperiment,
  type RecordedPlan,
  type RunEvent,
  type RunRow,
} from '../../contracts/index.ts'
import { type Clock, createIds, hashOf, systemRandom } from '../../kernel/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { concludeLog, LogSource, logGains } from './conclude-log.ts'
import type { LogRow, ResultsLog } from './read-results-log.ts'

interface ImportLogOptions {
  /** Path of the log, as the record names it. */
  readonly file: string
  /** Name of the experiment; absent: the file's. */
  readonly name?: string | undefined
  readonly direction?: Direction | undefined
  readonly clock: Clock
}

export interface Imported extends ImportResult {
  readonly name: string
  readonly conclusion: string
  /** It was in the record before, as a whole. */
  readonly wasThere: boolean
}

/** Mode of imported runs. */
const FOREIGN = 'imported'

export async function importLog(store: OpenStore, log: ResultsLog, options: ImportLogOptions): Promise<Imported> {
  const plan = planOf(log, options)
  const [known] = await store.experiments({ limit: 1, configHash: plan.config_hash })
  const experiment = known ?? (await create(store, plan, log, options))
  const runs = await store.runs(experiment.id)
  const isWhole = known?.verdict !== undefined
  if (!isWhole) {
    await record(store, runs, log.rows, new Date(options.clock.now()).toISOString())
    await concludeLog(store, experiment, options.clock)
  }
  const now = (await store.experiment(experiment.id)) ?? experiment
  return {
    experiment_id: experiment.id,
    n_runs: runs.length,
    n_kept: log.rows.filter(({ status }) => status === 'keep').length,
    name: now.name,
    conclusion: now.conclusion ?? '',
    wasThere: isWhole,
  }
}

function planOf(log: ResultsLog, { file, name, direction }: ImportLogOptions): RecordedPlan {
  const { rows, metric } = log
  const scored = rows.map((row) => ({ ...row, score: row.values[metric] }))
  const gains = logGains(scored, metric, direction)
  const names = runNames(rows)
  const experiment = RecordedExperiment.parse({
    name: name ?? fileName(file),
    description: `Imported from ${basename(file)}.`,
    metadata: { tags: ['imported'] },
    runs: [],
  })
  const content = rows.map(({ line: _line, ...row }) => row)
  return {
    experiment,
    config_hash: hashOf({ imported: content, metric, direction: gains.direction, name: experiment.name }),
    objective: { benchmark: 'log', metric, direction: gains.direction },
    arms: names.map((each) => ({ name: each, params: {}, seeds: [0] })),
    runs: rows.map((row, i) => ({
      kind: 'candidate' as const,
      name: names[i] ?? '',
      arm: names[i] ?? '',
      seed: 0,
      candidate: { title: row.name, columns: { ...row.texts } },
      config_hash: hashOf({ imported: content[i] }),
    })),
    notices: [],
  }
}

function fileName(file: string): string {
  const stem = basename(file).replace(/\.[^.]+$/, '')
  return Name.safeParse(stem).success ? stem : 'imported-log'
}

// The log's own names where they can name a folder and are used once.
function runNames(rows: readonly LogRow[]): string[] {
  const taken = new Set<string>()
  return rows.map((row, i) => {
    const isUsable = Name.safeParse(row.name).success && !taken.has(row.name)
    let name = isUsable ? row.name : `row-${i + 1}`
    while (taken.has(name)) name += '-again'
    taken.add(name)
    return name
  })
}

async function create(
  store: OpenStore,
  plan: RecordedPlan,
  log: ResultsLog,
  { file, clock }: ImportLogOptions,
): Promise<ExperimentRow> {
  const ids = createIds({ clock, random: systemRandom })
  const experimentId = ids.next('exp')
  const provenance: LogSource = { imported: { kind: 'log', file: basename(file), decimals: log.decimals } }
  await store.createExperiment({
    experimentId,
    at: new Date(clock.now()).toISOString(),
    plan,
    runIds: plan.runs.map(() => ids.next('run')),
    provenance: LogSource.parse(provenance),
  })
  return await store.findExperiment(experimentId)
}

async function record(store: OpenStore, runs: readonly RunRow[], rows: readonly LogRow[], at: string): Promise<void> {
  let incumbent: string | undefined
  for (const [i, row] of rows.entries()) {
    const run = runs[i]
    if (run === undefined) continue
    await store.push({ stream: `run:${run.id}`, fromSeq: 1, items: eventsOf(run, row, at) })
    await store.verdicts.note(run.id, {
      mode: FOREIGN,
      kept: row.status === 'keep',
      description: row.description,
      claimed: row.values,
      parentRun: incumbent,
    })
    if (row.status === 'keep') incumbent = run.id
  }
}

function eventsOf(run: RunRow, { status }: LogRow, at: string): RunEvent[] {
  const base = { at, run_id: run.id }
  const failure = { reason: 'the log says that it crashed' }
  return [
    { ...base, seq: 1, type: 'run.started', config_hash: run.configHash, attempt: 1 },
    status === 'crash'
      ? { ...base, seq: 2, type: 'run.finished', status: 'failed', metrics: {}, failure }
      : { ...base, seq: 2, type: 'run.finished', status: 'completed', metrics: {} },
  ]
}
