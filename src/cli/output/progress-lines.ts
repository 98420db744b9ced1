// The progress of an experiment as a block of lines for a terminal: one for each active run, one for the whole.
import { textWidth, visibleText } from '../../kernel/index.ts'
import type { Colors } from './colors.ts'
import {
  hasEnded,
  isActive,
  lastScore,
  lossOf,
  type ProgressState,
  type RunProgress,
  stepsDone,
  stepsInAll,
} from './progress-state.ts'
import { countText, durationText, numberText, usdText } from './quantity-text.ts'

export interface ProgressLinesOptions {
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
  return [
    ...layOut(
      shown.map((run) => cellsOf(run, progress, options)),
      width,
      options,
    ),
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
