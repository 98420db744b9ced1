// What is known of the runs of an experiment while they train: a fold over their events, the same that a dashboard makes.
import { type Item, initialRunState, type Plan, type RunRow, type RunState, reduceRun } from '../../contracts/index.ts'
import { textWidth, visibleText } from '../../kernel/index.ts'
import type { Colors } from './colors.ts'
import { countText, durationText, numberText, usdText } from './text.ts'

interface RunProgress {
  readonly name: string
  readonly state: RunState
  /** Steps by the plan; the run reports them once it has read its data. */
  readonly plannedSteps: number | undefined
  /** Where this process saw it begin: steps done by then, and when. */
  readonly began: { readonly step: number; readonly atMs: number } | undefined
  /** Time of its last event. */
  readonly atMs: number | undefined
}

export interface ProgressState {
  readonly objective: Plan['objective']
  readonly runs: Map<string, RunProgress>
}

/** The runs as the record has them before anything starts. */
export function beginProgress({ objective, arms, experiment }: Plan, rows: readonly RunRow[]): ProgressState {
  // Arms of a matrix all begin with the name of the experiment, which says nothing here.
  const prefix = `${experiment.name}__`
  const isShared = rows.every(({ name }) => name.startsWith(prefix) && name.length > prefix.length)
  const runs = new Map<string, RunProgress>()
  for (const { id, name, arm, status } of rows) {
    const plannedSteps = arms.find((each) => each.name === arm)?.max_steps
    const isDone = status === 'completed'
    const state: RunState = { ...initialRunState, status: isDone ? status : 'pending', seq: UNKNOWN_SEQ }
    const shown = isShared ? name.slice(prefix.length) : name
    runs.set(id, { name: shown, state, plannedSteps, began: undefined, atMs: undefined })
  }
  return { objective, runs }
}

/** A resumed run continues with the number after its last event, which only its next event holds. */
const UNKNOWN_SEQ = -1

/** Takes in one more item of a run. */
export function followProgress({ runs }: ProgressState, { id }: Pick<RunRow, 'id'>, item: Item): void {
  const run = runs.get(id)
  if (run === undefined || item.type === 'points' || 'experiment_id' in item) return
  const known = run.state.seq === UNKNOWN_SEQ ? { ...run.state, seq: item.seq - 1 } : run.state
  const state = reduceRun(known, item)
  const atMs = Date.parse(item.at)
  const began = item.type === 'run.started' ? { step: stepsDone(state), atMs } : run.began
  runs.set(id, { ...run, state, began, atMs })
}

/** Steps that a run has behind it. */
function stepsDone({ step }: RunState): number {
  return step === undefined ? 0 : step + 1
}

/** Steps that a run takes in all, as far as is known. */
function stepsInAll({ state, plannedSteps }: RunProgress): number | undefined {
  return state.num_steps ?? plannedSteps
}

function isActive({ state }: RunProgress): boolean {
  return state.status === 'running'
}

export function hasEnded({ state }: RunProgress): boolean {
  return state.status !== 'running' && state.status !== 'pending'
}

/** The loss of a step, or of a run's last one. */
export function lossOf({ metrics }: Pick<RunState, 'metrics'>): number | undefined {
  return metrics.train_mean_nll ?? metrics['train/mean_loss'] ?? metrics.loss ?? metrics['loss:sum']
}

/**
 * The score of a run: on the objective's benchmark if it has one, else its first metric. The newest while it runs; at its end
 * that of the checkpoint that was chosen, which is what counts.
 */
export function lastScore(
  { evals, best_step }: RunState,
  objective: ProgressState['objective'],
): { name: string; value: number } | undefined {
  const own = evals.filter(({ error }) => error === undefined)
  const judged = own.filter(({ benchmark }) => benchmark === objective?.benchmark)
  const chosen = judged.find(({ step }) => step === undefined) ?? judged.find(({ step }) => step === best_step)
  const last = (best_step === undefined ? undefined : chosen) ?? judged.at(-1) ?? own.at(-1)
  if (last === undefined) return undefined
  const metric = objective?.metric !== undefined && objective.metric in last.metrics ? objective.metric : undefined
  const name = metric ?? Object.keys(last.metrics)[0]
  const value = name === undefined ? undefined : last.metrics[name]
  return value === undefined ? undefined : { name: `${last.benchmark}.${name}`, value }
}

// The progress of an experiment as a block of lines for a terminal: one for each active run, one for the whole.
interface ProgressLinesOptions {
  readonly columns: number
  readonly rows: number
  readonly nowMs: number
  readonly startedMs: number
  readonly colors: Colors
  /** Whether the terminal shows block characters. */
  readonly blocks: boolean
  /** The user asked it to stop. */
  readonly stopping: boolean
}

/** Lines that fit the terminal, each narrower than it and together lower. */
export function progressLines(progress: ProgressState, options: ProgressLinesOptions): string[] {
  const width = Math.max(10, options.columns - 1)
  const most = Math.max(1, options.rows - 3) // the line of the cursor, the line of the whole, the line of what is hidden
  const active = [...progress.runs.values()].filter(isActive)
  const shown = active.slice(0, most)
  const hidden = active.length - shown.length
  const cells = shown.map((run) => cellsOf(run, progress, options))
  return [
    ...layOut(cells, width, options),
    ...(hidden > 0 ? [options.colors.dim(cut(`... and ${countText(hidden, 'more run')}`, width))] : []),
    options.colors.bold(cut(totalText(progress, options), width)),
  ]
}

interface Cells {
  readonly name: string
  readonly share: number | undefined
  /** Steps, loss, score, time left. */
  readonly facts: readonly string[]
}

function cellsOf(run: RunProgress, progress: ProgressState, { nowMs, stopping }: ProgressLinesOptions): Cells {
  const { state } = run
  const done = stepsDone(state)
  const all = stepsInAll(run)
  const loss = lossOf(state)
  const score = lastScore(state, progress.objective)
  const left = secondsLeft(run, nowMs)
  const going = left === undefined ? '' : `${durationText(Math.ceil(left))} left`
  return {
    name: visibleText(run.name),
    share: all === undefined ? undefined : done / all,
    facts: [
      all === undefined ? countText(done, 'step') : `${done}/${all}`,
      loss === undefined ? '' : `loss ${numberText(loss)}`,
      score === undefined ? '' : visibleText(`${score.name} ${numberText(score.value)}`),
      stopping ? 'saving' : state.running_evals > 0 ? 'scoring' : going,
    ],
  }
}

// Columns of one width in all lines. What is left beside the facts is for the name, and for a bar if there is room for one.
function layOut(rows: readonly Cells[], width: number, options: ProgressLinesOptions): string[] {
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(textWidth))
  const widths = [0, 1, 2, 3].map((i) => widest(rows.map(({ facts }) => facts[i] ?? '')))
  const taken = widths.reduce((sum, each) => sum + (each === 0 ? 0 : each + gap.length), 0)
  const natural = widest(rows.map(({ name }) => name))
  const hasBar = width - taken - barWidth - gap.length >= Math.min(natural, 20)
  const nameWidth = Math.min(natural, Math.max(8, width - taken - (hasBar ? barWidth + gap.length : 0)))
  return rows.map(({ name, share, facts }) => {
    const parts = [
      padded(cut(name, nameWidth), nameWidth),
      ...(hasBar ? [share === undefined ? ' '.repeat(barWidth) : bar(share, options.blocks)] : []),
      ...facts.flatMap((fact, i) => (widths[i] === 0 ? [] : [padded(fact, widths[i] ?? 0)])),
    ]
    return painted(cut(parts.join(gap).trimEnd(), width), options)
  })
}

const gap = '  '
const barWidth = 16

function bar(share: number, blocks: boolean): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * barWidth)
  const [on, off] = blocks ? ['█', '░'] : ['#', '-']
  return on.repeat(full) + off.repeat(barWidth - full)
}

// By the pace since this process saw the run begin; the time since its last event counts too.
function secondsLeft(run: RunProgress, nowMs: number): number | undefined {
  const { state, began, atMs } = run
  const all = stepsInAll(run)
  if (began === undefined || atMs === undefined || all === undefined) return undefined
  const done = stepsDone(state)
  const made = done - began.step
  if (made < 1 || done >= all) return undefined
  const perStep = (atMs - began.atMs) / made
  return Math.max(0, (perStep * (all - done) - Math.max(0, nowMs - atMs)) / 1000)
}

function totalText(progress: ProgressState, { nowMs, startedMs, stopping }: ProgressLinesOptions): string {
  const runs = [...progress.runs.values()]
  const ended = runs.filter(hasEnded)
  const failed = ended.filter(({ state }) => state.status === 'failed').length
  const elapsed = Math.max(0, nowMs - startedMs) / 1000
  const left = stopping ? undefined : totalLeft(runs, elapsed)
  const cost = runs.flatMap(({ state }) => state.cost_usd ?? [])
  return [
    `${ended.length} of ${countText(runs.length, 'run')} done${failed === 0 ? '' : `, ${failed} failed`}`,
    durationText(Math.floor(elapsed)),
    ...(left === undefined ? [] : [`about ${durationText(Math.ceil(left))} left`]),
    ...(cost.length === 0 ? [] : [usdText(cost.reduce((sum, each) => sum + each, 0))]),
    ...(stopping ? ['runs save and leave; Ctrl-C again ends at once'] : []),
  ].join(', ')
}

// All steps that are still to do, at the pace of all steps that were made here.
function totalLeft(runs: readonly RunProgress[], elapsed: number): number | undefined {
  const known = runs.flatMap((run) => stepsInAll(run) ?? [])
  const usual = known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0) / known.length
  if (usual === undefined) return undefined
  const made = runs.reduce(
    (sum, { state, began }) => sum + (began === undefined ? 0 : stepsDone(state) - began.step),
    0,
  )
  if (made < 1 || elapsed < 1) return undefined
  const going = runs.filter((run) => !hasEnded(run))
  if (going.length === 0) return undefined
  const left = going.reduce((sum, run) => sum + Math.max(0, (stepsInAll(run) ?? usual) - stepsDone(run.state)), 0)
  return (left * elapsed) / made
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)))
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** At most `width` columns of a text. */
function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let kept = ''
  let used = 0
  for (const { segment } of segmenter.segment(text)) {
    const next = textWidth(segment)
    if (used + next > width - 1) break
    kept += segment
    used += next
  }
  return `${kept}…`
}

function painted(line: string, { colors, blocks }: ProgressLinesOptions): string {
  return blocks ? line.replace(/█+/, (full) => colors.green(full)).replace(/░+/, (rest) => colors.dim(rest)) : line
}
