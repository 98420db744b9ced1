// Runs that the record holds already are not trained again. A run is reused where all that could change its numbers is known to be
// the same: configuration and seed, settings of the experiment, code and plugins, rows, engine, scorers, and the runs whose weights
// it takes. What is not known counts as different.

import { constants } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { extname, isAbsolute, join } from 'node:path'
import {
  type Item,
  type RecordedPlan,
  type RunEvent,
  referencedArms,
  type TrainingRunRow,
} from '../../contracts/index.ts'
import { announceWait, fileError, isMapping, systemCode, temporaryFolder } from '../../kernel/index.ts'
import { exportRun, heldRuns, originDirOf, pointItems, projectPlugins, runFolder } from '../../record/index.ts'
import { type EvalRow, type RunRow, requireTraining } from '../../store/index.ts'
import { recipeHashes } from '../workers/recipe-hashes.ts'
import { callbacksOf } from './check-experiment.ts'
import type { ExperimentSession } from './experiment-session.ts'

/** By the id of a run that has not begun: the earlier run to take in its place. */
export async function reusableRuns(session: ExperimentSession): Promise<Map<string, TrainingRunRow>> {
  const { store, experiment, projectDir, checked } = session
  const plan = experiment.plan
  const rows = (await store.runs(experiment.id)).filter(({ status }) => status === 'pending').map(requireTraining)
  const held = await heldRuns(store, plan, { projectDir, except: experiment.id })
  const candidates: { row: TrainingRunRow; run: TrainingRunRow }[] = []
  for (const row of rows) {
    if ((await store.cursor(`run:${row.id}`)).nextItem > 1 || readsFiles(row, plan)) continue
    for (const { run, experiment: origin } of held.get(row.name) ?? []) {
      if (!samePlugins(usedKinds(row, plan), projectPlugins(origin), checked.cards)) continue
      if (!sameScorers(await store.evals(run.id), session)) continue
      candidates.push({ row, run })
    }
  }
  if (candidates.length === 0) return new Map()
  const now = await hashesNow(session, [...new Set(candidates.map(({ row }) => row))])
  const found = new Map<string, TrainingRunRow>()
  for (const { row, run } of candidates) {
    const hashes = now.get(row.id)
    if (found.has(row.id) || hashes === undefined || hashes.error !== undefined) continue
    const { code_hash, data_hash, engine_id } = hashes
    if (code_hash === undefined || code_hash !== run.codeHash || data_hash !== run.dataHash) continue
    if (engine_id === undefined || engine_id !== run.engineId || !isContentId(engine_id)) continue
    found.set(row.id, run)
  }
  return await withPredecessors(session, found)
}

// Weights that a run starts from or is taught by must be those of then: its predecessors are reused too, from the same experiment.
async function withPredecessors(
  { store, experiment }: ExperimentSession,
  found: Map<string, TrainingRunRow>,
): Promise<Map<string, TrainingRunRow>> {
  const rows = await store.runs(experiment.id)
  for (let changed = true; changed; ) {
    changed = false
    for (const [id, origin] of found) {
      const row = rows.find((each) => each.id === id)
      const needed = row === undefined ? [] : predecessors(requireTraining(row), rows)
      if (needed.every((each) => found.get(each.id)?.experimentId === origin.experimentId)) continue
      found.delete(id)
      changed = true
    }
  }
  return found
}

function predecessors({ afterRun, config, seed }: TrainingRunRow, rows: readonly RunRow[]): RunRow[] {
  const arms = referencedArms(config)
  return rows.filter((each) => each.id === afterRun || (arms.includes(each.arm) && each.seed === seed))
}

// Engines of evsys are named after their source; a service that names none is called by its kind, which says nothing.
function isContentId(engineId: string): boolean {
  return /-[0-9a-f]{16}(-|$)/.test(engineId)
}

function sameScorers(evals: readonly EvalRow[], { sealed, benchmarks }: ExperimentSession): boolean {
  const isSame = (each: EvalRow) =>
    each.error === undefined && each.nInfraFailed === 0 && each.scorerHash === sealed.hash(each.benchmark)
  const names = benchmarks.map(({ name }) => name)
  return (
    names.every((name) => evals.some((each) => each.benchmark === name)) &&
    evals.every((each) => names.includes(each.benchmark) && isSame(each))
  )
}

type Cards = ExperimentSession['checked']['cards']

/** Plugins of the project by what they are called: those that the run, its benchmarks or its callbacks could mean. */
function samePlugins(used: ReadonlySet<string>, then: Record<string, string> | undefined, cards: Cards): boolean {
  if (then === undefined) return false
  const kindOf = (name: string) => name.slice(name.indexOf(' ') + 1)
  const now = Object.fromEntries(cards.map(({ type, kind, hash }) => [`${type} ${kind}`, hash]))
  const named = [...new Set([...Object.keys(then), ...Object.keys(now)])].filter((name) => used.has(kindOf(name)))
  return named.every((name) => then[name] === now[name])
}

function usedKinds({ config }: TrainingRunRow, { experiment }: RecordedPlan): Set<string> {
  const { callbacks, log_store, metadata } = experiment
  return new Set(texts([config, callbacks, log_store, metadata.benchmark]))
}

// Files that no hash covers: models and checkpoints by path, programs of agents that are no JavaScript.
function readsFiles({ config }: TrainingRunRow, { experiment }: RecordedPlan): boolean {
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

/** What the runs would be made by today: code, rows and engine, found out in a process that may load recipe code. */
async function hashesNow(session: ExperimentSession, rows: readonly TrainingRunRow[]) {
  const { projectDir, plugins, seal, signal, experiment, options } = session
  const engineDir = temporaryFolder('reuse')
  using _waiting = announceWait((seconds) =>
    options.onNotice?.(
      `code, data and engine of ${rows.length} runs that the record holds are compared, for ${seconds} s`,
    ),
  )
  try {
    const callbacks = callbacksOf(experiment.plan)
    const { log_store } = experiment.plan.experiment
    const benchmarks = [...session.benchmarks]
    const recipes = rows.map(({ id, config }) => {
      return { key: id, config, callbacks, log_store, benchmarks, engine_dir: join(engineDir, 'engine') }
    })
    const found = await recipeHashes(recipes, {
      projectDir,
      plugins,
      hidden: seal.hidden,
      sandbox: session.checked.shutIn?.sandbox,
      signal,
    })
    return new Map(found.map((each) => [each.key, each]))
  } finally {
    await rm(engineDir, { recursive: true, force: true })
  }
}

/** Takes an earlier run in place of `row`: its events, points and artifacts, at no cost. True: it counts as completed. */
export async function reuseRun(row: RunRow, origin: TrainingRunRow, session: ExperimentSession): Promise<boolean> {
  const { store, clock, lease, options } = session
  const at = new Date(clock.now()).toISOString()
  const { events, points, artifacts } = await exportRun(store, origin)
  const from = await store.experiment(origin.experimentId)
  const text = `reused from ${from?.name ?? origin.experimentId}/${origin.name} (${origin.experimentId}): nothing was trained`
  const first = {
    type: 'notice' as const,
    text,
    reused_from: { experiment_id: origin.experimentId, run_id: origin.id },
  }
  const kept = [first, ...events.filter(({ type }) => type !== 'log').map(withoutCost)]
  const copies = kept.map((event, i) => ({ ...event, seq: i + 1, at, run_id: row.id }) as RunEvent) // numbered anew
  const items: Item[] = [...copies, ...pointItems({ id: row.id, points, events: copies })]
  await store.verdicts.note(row.id, { mode: 'reused', parentRun: origin.id })
  await store.push({ stream: `run:${row.id}`, fromSeq: 1, items }, lease)
  for (const artifact of artifacts) await store.keepArtifact(row.id, artifact)
  await copyLogs(origin, runFolder(session.outputDir, row.name), session)
  for (const event of copies) options.onItem?.(row, event)
  return true
}

/** Its logs too: who opens the folder of the run finds what is in that of every other. */
async function copyLogs(
  origin: TrainingRunRow,
  runDir: string,
  { store, projectDir }: ExperimentSession,
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
