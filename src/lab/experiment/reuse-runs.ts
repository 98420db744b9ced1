// Runs that the record holds already are not trained again. A run is reused where all that could change its numbers is known to be
// the same: configuration and seed, settings of the experiment, code and plugins, rows, engine, scorers, and the runs whose weights
// it takes. What is not known counts as different.

import { constants } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { extname, isAbsolute, join } from 'node:path'
import {
  type Item,
  type Plan,
  type PlannedRun,
  type RecordedPlan,
  type RunEvent,
  referencedArms,
  type TrainingRun,
  type TrainingRunRow,
} from '../../contracts/index.ts'
import { announceWait, fileError, isMapping, systemCode, temporaryFolder } from '../../kernel/index.ts'
import { exportRun, heldRuns, originDirOf, pointItems, projectPlugins, runFolder } from '../../record/index.ts'
import type { EvalRow, RunRow } from '../../store/index.ts'
import { recipeHashes } from '../workers/recipe-hashes.ts'
import type { WorkerSandbox } from '../workers/worker-sandbox.ts'
import { callbacksOf } from './check-experiment.ts'
import type { ExperimentSession } from './experiment-session.ts'

type Cards = ExperimentSession['checked']['cards']

/** What reuse takes of the session of an experiment, or of a host of candidates. */
type ReusingSession = Pick<
  ExperimentSession,
  'store' | 'experiment' | 'projectDir' | 'plugins' | 'benchmarks' | 'signal' | 'clock' | 'lease' | 'outputDir'
> & {
  readonly seal: Pick<ExperimentSession['seal'], 'hidden'>
  readonly sealed: Pick<ExperimentSession['sealed'], 'hash'>
  readonly checked: Pick<ExperimentSession['checked'], 'cards' | 'shutIn'>
  readonly options: { onNotice?: ((text: string) => void) | undefined }
}

/** Runs of a plan that have not begun, and what today's answers are compared with. */
interface ReuseQuestion
  extends Pick<ReusingSession, 'store' | 'projectDir' | 'plugins' | 'seal' | 'sealed' | 'benchmarks' | 'signal'> {
  readonly plan: Plan | RecordedPlan
  readonly runs: readonly TrainingRun[]
  readonly cards: Cards
  /** How recipe code is shut in; absent: it is not. */
  readonly sandbox?: WorkerSandbox | undefined
  /** Experiment whose own runs are none to take. */
  readonly except?: string | undefined
  readonly onNotice?: ((text: string) => void) | undefined
}

/**
 * By the id of a run that has not begun: the earlier run to take in its place. `only`: of one run, whose experiment may hold it already, as
 * that of a research session does.
 */
export async function reusableRuns(session: ReusingSession, only?: RunRow): Promise<Map<string, TrainingRunRow>> {
  const { store, experiment, checked, options } = session
  const rows = only === undefined ? await store.runs(experiment.id) : [only]
  const waiting = new Set<string>()
  for (const { id, name, status } of rows) {
    if (status === 'pending' && (await store.cursor(`run:${id}`)).nextItem <= 1) waiting.add(name)
  }
  const { plan } = experiment
  const found = await runsToTake({
    ...sharedBy(session),
    plan,
    runs: trainingRuns(plan).filter(({ name }) => waiting.has(name)),
    cards: checked.cards,
    sandbox: checked.shutIn?.sandbox,
    except: only === undefined ? experiment.id : undefined,
    onNotice: options.onNotice,
  })
  return new Map(rows.flatMap(({ id, name }) => (found.has(name) ? [[id, found.get(name) as TrainingRunRow]] : []))) // it is there
}

// Fields of a class are no properties that a spread would copy with their types.
function sharedBy({ store, projectDir, plugins, seal, sealed, benchmarks, signal }: ReusingSession) {
  return { store, projectDir, plugins, seal, sealed, benchmarks, signal }
}

function trainingRuns(plan: Plan | RecordedPlan): TrainingRun[] {
  const runs: readonly PlannedRun[] = plan.runs
  return runs.flatMap((run) => ('config' in run ? [run] : []))
}

/** By the name of a run: the earlier run that is taken in its place when the plan is run now. Nothing is recorded. */
export async function runsToTake(question: ReuseQuestion): Promise<Map<string, TrainingRunRow>> {
  const { store, plan, runs, projectDir, cards, except } = question
  const held = await heldRuns(store, { ...plan, runs: [...runs] }, { projectDir, except })
  const candidates: { planned: TrainingRun; run: TrainingRunRow }[] = []
  for (const planned of runs) {
    if (readsFiles(planned, plan)) continue
    for (const { run, experiment: origin } of held.get(planned.name) ?? []) {
      if (!samePlugins(usedKinds(planned, plan), projectPlugins(origin), cards)) continue
      if (!sameScorers(await store.evals(run.id), question)) continue
      candidates.push({ planned, run })
    }
  }
  if (candidates.length === 0) return new Map()
  const now = await hashesNow(question, [...new Set(candidates.map(({ planned }) => planned))])
  const found = new Map<string, TrainingRunRow>()
  for (const { planned, run } of candidates) {
    const hashes = now.get(planned.name)
    if (found.has(planned.name) || hashes === undefined || hashes.error !== undefined) continue
    const { code_hash, data_hash, engine_id } = hashes
    if (code_hash === undefined || code_hash !== run.codeHash || data_hash !== run.dataHash) continue
    if (engine_id === undefined || engine_id !== run.engineId || !isContentId(engine_id)) continue
    found.set(planned.name, run)
  }
  return withPredecessors(found, trainingRuns(plan))
}

// Weights that a run starts from or is taught by must be those of then: its predecessors are reused too, from the same experiment.
function withPredecessors(
  found: Map<string, TrainingRunRow>,
  planned: readonly TrainingRun[],
): Map<string, TrainingRunRow> {
  for (let changed = true; changed; ) {
    changed = false
    for (const [name, origin] of found) {
      const run = planned.find((each) => each.name === name)
      const needed = run === undefined ? [] : predecessors(run, planned)
      if (needed.every((each) => found.get(each.name)?.experimentId === origin.experimentId)) continue
      found.delete(name)
      changed = true
    }
  }
  return found
}

function predecessors({ after, config, seed }: TrainingRun, planned: readonly TrainingRun[]): TrainingRun[] {
  const arms = referencedArms(config)
  return planned.filter((each) => each.name === after || (arms.includes(each.arm) && each.seed === seed))
}

// Engines of evsys are named after their source; a service that names none is called by its kind, which says nothing.
function isContentId(engineId: string): boolean {
  return /-[0-9a-f]{16}(-|$)/.test(engineId)
}

function sameScorers(
  evals: readonly EvalRow[],
  { sealed, benchmarks }: Pick<ReuseQuestion, 'sealed' | 'benchmarks'>,
): boolean {
  const isSame = (each: EvalRow) =>
    each.error === undefined && each.nInfraFailed === 0 && each.scorerHash === sealed.hash(each.benchmark)
  const names = benchmarks.map(({ name }) => name)
  return (
    names.every((name) => evals.some((each) => each.benchmark === name)) &&
    evals.every((each) => !names.includes(each.benchmark) || isSame(each))
  )
}

/** Plugins of the project by what they are called: those that the run, its benchmarks or its callbacks could mean. */
function samePlugins(used: ReadonlySet<string>, then: Record<string, string> | undefined, cards: Cards): boolean {
  if (then === undefined) return false
  const kindOf = (name: string) => name.slice(name.indexOf(' ') + 1)
  const now = Object.fromEntries(cards.map(({ type, kind, hash }) => [`${type} ${kind}`, hash]))
  const named = [...new Set([...Object.keys(then), ...Object.keys(now)])].filter((name) => used.has(kindOf(name)))
  return named.every((name) => then[name] === now[name])
}

function usedKinds({ config }: TrainingRun, { experiment }: Plan | RecordedPlan): Set<string> {
  const { callbacks, log_store, metadata } = experiment
  return new Set(texts([config, callbacks, log_store, metadata.benchmark]))
}

// Files that no hash covers: models and checkpoints by path, programs of agents that are no JavaScript.
function readsFiles({ config }: TrainingRun, { experiment }: Plan | RecordedPlan): boolean {
  const { data: _data, mix: _mix, agent, ...rest } = config
  const asked = experiment.metadata.benchmark.map(({ agent: own, inference, environment }) => [
    own,
    inference,
    environment,
  ])
  const isCode = (path: string) => /^\.[cm]?[jt]s$/.test(extname(path.split('#')[0] ?? ''))
  return (
    texts([rest, asked]).some((text) => isAbsolute(text)) ||
    texts(agent).some((text) => isAbsolute(text) && !isCode(text))
  )
}

function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(texts)
  return isMapping(value) ? Object.values(value).flatMap(texts) : []
}

/** What the runs would be made by today, by their names: code, rows and engine, found out in a process that may load recipe code. */
async function hashesNow(question: ReuseQuestion, runs: readonly TrainingRun[]) {
  const { projectDir, plugins, seal, sandbox, signal, plan, onNotice } = question
  const engineDir = temporaryFolder('reuse')
  using _waiting = announceWait((seconds) =>
    onNotice?.(`code, data and engine of ${runs.length} runs that the record holds are compared, for ${seconds} s`),
  )
  try {
    const callbacks = callbacksOf(plan)
    const { log_store } = plan.experiment
    const benchmarks = [...question.benchmarks]
    const recipes = runs.map(({ name, config }) => {
      return { key: name, config, callbacks, log_store, benchmarks, engine_dir: join(engineDir, 'engine') }
    })
    const found = await recipeHashes(recipes, { projectDir, plugins, hidden: seal.hidden, sandbox, signal })
    return new Map(found.map((each) => [each.key, each]))
  } finally {
    await rm(engineDir, { recursive: true, force: true })
  }
}

/** Takes an earlier run in place of `row`: its events, points and artifacts, at no cost. True: it counts as completed. */
export async function reuseRun(
  row: RunRow,
  origin: TrainingRunRow,
  session: ReusingSession,
  onItem?: (row: RunRow, item: Item) => void,
): Promise<boolean> {
  const { store, clock, lease } = session
  const at = new Date(clock.now()).toISOString()
  const { events, points, artifacts } = await exportRun(store, origin)
  const from = await store.experiment(origin.experimentId)
  const text = `reused from ${from?.name ?? origin.experimentId}/${origin.name} (${origin.experimentId}): nothing was trained`
  const first = {
    type: 'notice' as const,
    text,
    reused_from: { experiment_id: origin.experimentId, run_id: origin.id },
  }
  // What is not asked of this run is not learnt from that one: a candidate in a race has no test score.
  const asked = session.benchmarks.map(({ name }) => name)
  const isAsked = (event: RunEvent) => event.type !== 'eval.finished' || asked.includes(event.benchmark)
  const kept = [first, ...events.filter((event) => event.type !== 'log' && isAsked(event)).map(withoutCost)]
  const copies = kept.map((event, i) => ({ ...event, seq: i + 1, at, run_id: row.id }) as RunEvent) // numbered anew
  const items: Item[] = [...copies, ...pointItems({ id: row.id, points, events: copies })]
  // A run of research says what it was for, and where it came from in its first event.
  if (row.mode === undefined) await store.verdicts.note(row.id, { mode: 'reused', parentRun: origin.id })
  await store.push({ stream: `run:${row.id}`, fromSeq: 1, items }, lease)
  for (const artifact of artifacts) await store.keepArtifact(row.id, artifact)
  await copyLogs(origin, runFolder(session.outputDir, row.name), session)
  for (const event of copies) onItem?.(row, event)
  return true
}

/** Its logs too: who opens the folder of the run finds what is in that of every other. */
async function copyLogs(
  origin: TrainingRunRow,
  runDir: string,
  { store, projectDir }: Pick<ExperimentSession, 'store' | 'projectDir'>,
): Promise<void> {
  const from = await originDirOf(store, origin, projectDir)
  if (from === undefined) return
  const to = join(runDir, 'logs')
  try {
    await cp(join(from, 'logs'), to, { recursive: true, mode: constants.COPYFILE_FICLONE })
  } catch (cause) {
    if (systemCode(cause) !== 'ENOENT') throw fileError('write', to, cause)
  }
}

function withoutCost(event: RunEvent): RunEvent {
  if (event.type === 'run.finished') return { ...event, cost_usd: 0, tokens: 0, wall_s: 0 }
  if (event.type !== 'eval.finished' || event.judge === undefined) return event
  return { ...event, judge: { ...event.judge, cost_usd: 0 } }
}
