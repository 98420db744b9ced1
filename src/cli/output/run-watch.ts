// How a person follows an experiment: a block that is drawn again and again on a terminal, lines elsewhere, nothing when quiet.
import { type Item, type Plan, type RunRow, tripText } from '../../contracts/index.ts'
import { type Clock, visibleText } from '../../kernel/index.ts'
import type { Colors } from './colors.ts'
import type { LiveSink } from './output.ts'
import {
  beginProgress,
  followProgress,
  hasEnded,
  lastScore,
  lossOf,
  type ProgressState,
  progressLines,
} from './progress.ts'
import { countText, durationText, numberText } from './text.ts'

interface RunWatch extends Disposable {
  begin(plan: Plan, runs: readonly RunRow[]): void
  follow(run: RunRow, item: Item): void
  /** A line of its own. */
  say(text: string): void
}

interface RunWatchOptions {
  readonly live: LiveSink
  readonly quiet: boolean
  readonly colors: Colors
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Pick<Clock, 'now'>
  readonly signal: AbortSignal
}

/** Fast enough to look alive, slow enough to cost nothing. */
const drawEveryMs = 100

export function createRunWatch(options: RunWatchOptions): RunWatch {
  const { live, quiet, clock, signal } = options
  if (quiet) return { begin() {}, follow() {}, say() {}, [Symbol.dispose]() {} }
  let progress: ProgressState | undefined
  const losses = createLossMemory()
  /** Runs whose events are those of an earlier one: what happened then is not shown as if it happened now. */
  const reused = new Set<string>()
  const startedMs = clock.now()
  const draw = () => {
    if (progress === undefined) return
    const { columns, rows } = live
    const times = { nowMs: clock.now(), startedMs, stopping: signal.aborted }
    const style = { columns, rows, colors: options.colors, blocks: showsBlocks(options.env) }
    live.show(progressLines(progress, { ...style, ...times }))
  }
  const timer = live.isTTY ? setInterval(draw, drawEveryMs) : undefined
  return {
    begin(plan, runs) {
      progress = beginProgress(plan, runs)
      if (live.isTTY) draw()
      else live.write(`${beginText(plan, runs)}\n`)
    },
    follow(run, item) {
      if (progress === undefined) return
      followProgress(progress, run, item)
      const loss = losses.follow(run, item)
      if (item.type === 'notice' && 'reused_from' in item && item.reused_from !== undefined) reused.add(run.id)
      if (reused.has(run.id) && item.type !== 'notice' && item.type !== 'run.finished') return
      for (const line of live.isTTY ? asideLines(run, item) : plainLines(progress, run, item, loss)) {
        live.write(`${visibleText(line)}\n`)
      }
    },
    say: (text) => live.write(`${visibleText(text)}\n`),
    [Symbol.dispose]() {
      clearInterval(timer)
      live.show([])
    },
  }
}

function beginText(plan: Plan, runs: readonly RunRow[]): string {
  const done = runs.filter(({ status }) => status === 'completed').length
  const kept = done === 0 ? '' : `, ${done} of them done before`
  return visibleText(`${plan.experiment.name}: ${countText(runs.length, 'run')}${kept}`)
}

// What a block of progress does not show.
function asideLines({ name }: RunRow, item: Item): string[] {
  switch (item.type) {
    case 'notice':
      return [`${name}: ${item.text}`]
    case 'log':
      return item.level === 'debug' ? [] : [`${name}: ${item.text}`]
    case 'guard.tripped':
      return [`${name}: ${tripText({ ...item, action: item.action ?? 'roll_back' })}`]
    case 'run.finished':
      return item.error === undefined ? [] : [`${name}: ${item.status}: ${item.error.code}: ${item.error.message}`]
    default:
      return []
  }
}

function plainLines(progress: ProgressState, run: RunRow, item: Item, loss: number | undefined): string[] {
  const state = progress.runs.get(run.id)?.state
  if (state === undefined) return []
  if (item.type === 'run.started') {
    const steps = item.num_steps === undefined ? '' : `, ${countText(item.num_steps, 'step')}`
    const from = item.resumed_from_step === undefined ? '' : `, from step ${item.resumed_from_step + 2}`
    return [`${run.name}: started${steps}${from}`]
  }
  if (item.type === 'eval.finished') {
    const at = item.step === undefined ? 'after training' : `step ${item.step + 1}`
    const all = Object.entries(item.metrics)
    const whole = all.filter(([name]) => !name.includes('/')) // numbers of each class are for reports
    const shown = whole.length === 0 ? all : whole
    const scores = shown.map(([name, value]) => `${item.benchmark}.${name} ${numberText(value)}`)
    const parts = [...scores, ...(loss === undefined ? [] : [`loss ${numberText(loss)}`])]
    return [`${run.name}: ${at}: ${item.error === undefined ? parts.join(', ') : `no score: ${item.error.message}`}`]
  }
  if (item.type === 'run.finished' && item.error === undefined) {
    const all = [...progress.runs.values()]
    const score = lastScore(state, progress.objective)
    const parts = [
      item.wall_s === undefined ? item.status : `${item.status} in ${durationText(item.wall_s)}`,
      ...(score === undefined ? [] : [`${score.name} ${numberText(score.value)}`]),
    ]
    return [`${run.name}: ${parts.join(', ')} (${all.filter(hasEnded).length} of ${all.length} done)`]
  }
  return asideLines(run, item)
}

// Training continues while a step is evaluated: the loss that belongs to the score is that of its step, not the newest.
function createLossMemory() {
  const byRun = new Map<string, Map<number, number>>()
  return {
    /** The loss of the step that an evaluation is about. */
    follow({ id }: RunRow, item: Item): number | undefined {
      const known = byRun.get(id) ?? new Map<number, number>()
      byRun.set(id, known)
      if (item.type === 'step.finished') {
        const loss = lossOf(item)
        if (loss !== undefined) known.set(item.step, loss)
      }
      if (item.type !== 'eval.finished' || item.step === undefined) return undefined
      const { step } = item
      for (const older of known.keys()) if (older < step) known.delete(older)
      return known.get(step)
    },
  }
}

// A console that is not set to Unicode shows question marks instead.
function showsBlocks({ LC_ALL, LC_CTYPE, LANG, TERM }: RunWatchOptions['env']): boolean {
  if (TERM === 'dumb' || TERM === 'linux') return false
  const locale = [LC_ALL, LC_CTYPE, LANG].find((each) => each !== undefined && each !== '')
  return process.platform === 'win32' || locale === undefined || /utf-?8/i.test(locale)
}
