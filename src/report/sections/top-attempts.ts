// The best attempts with what they changed.
import { countText } from '../../kernel/index.ts'
import { unifiedDiff } from '../../research/index.ts'
import { isKept, type PlacedAttempt } from '../figures/placed-attempt.ts'
import type { SessionFigures } from '../figures/session-figures.ts'
import { type Content, clipped, html, type Markup } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import type { ReportedAttempt, ResearchReportInput } from '../input/report-input.ts'
import { outcomeLabel, type ReportContext } from './report-context.ts'

export function topAttempts(context: ReportContext): Section | undefined {
  const best = topFive(context.figures)
  if (best.length === 0) return undefined
  return {
    id: 'top',
    title:
      best.length === 1 ? 'The best attempt' : `The ${['two', 'three', 'four', 'five'][best.length - 2]} best attempts`,
    short: 'Best',
    body: [best.map((each, i) => attemptMarkup(each, i, context)), wholeChange(context)],
  }
}

// What a reader who wants the best needs: all of it at once.
function wholeChange({ figures: { baseline, champion } }: ReportContext): Content {
  const [before, after] = [baseline?.reported.files, champion?.reported.files]
  if (before === undefined || after === undefined || champion?.attempt.parents[0] === baseline?.attempt.id)
    return undefined
  const diff = unifiedDiff(before, after)
  if (diff === '') return undefined
  const { added, removed } = diffSize(diff)
  return html`<article><details><summary>Everything between the baseline and the best: ${countText(added, 'line')} in, ${removed} out</summary>${diffMarkup(diff)}</details></article>`
}

// An idea may be written on one candidate, even a discarded one, and measured against another, the best of its time.
function opponentOf(id: string, { succession, attempts }: ResearchReportInput): ReportedAttempt | undefined {
  const place = succession?.lastIndexOf(id) ?? -1
  const before = place > 0 ? succession?.[place - 1] : undefined
  return attempts.find(({ attempt }) => attempt.id === before)
}

function opponent(id: string, input: ResearchReportInput): string {
  const number = opponentOf(id, input)?.attempt.number
  if (number === undefined) return 'the best of its time'
  return number === 0 ? 'the baseline' : `attempt ${number}, the best of its time`
}

function attemptMarkup(
  { attempt, outcome, score, reported }: PlacedAttempt,
  i: number,
  context: ReportContext,
): Content {
  const { words, input } = context
  const diff = diffOf(reported, input)
  const parent = input.attempts.find((each) => each.attempt.id === attempt.parents[0])?.attempt
  const base = opponentOf(attempt.id, input)?.attempt ?? parent
  const inherited = parent !== undefined && base !== undefined && parent.id !== base.id && parent.number !== 0
  const size = diff === undefined ? undefined : diffSize(diff)
  const facts: Content[] = [
    html`${outcomeLabel(outcome)}`,
    html`score <b>${words.score(score)}</b> over ${attempt.scores.length} ${attempt.scores.length === 1 ? 'seed' : 'seeds'}`,
    ...(attempt.gain === undefined
      ? []
      : [html`raw gain ${words.gain(attempt.gain.mean)} over ${opponent(attempt.id, input)}`]),
    html`${attempt.category}, ${clipped(attempt.family, 60)}`,
    ...(inherited ? [html`on top of ${parent.number}: ${clipped(parent.title, 80)} (${parent.category})`] : []),
  ]
  const summary =
    size === undefined
      ? undefined
      : `What it changed${base === undefined ? '' : ` against ${base.number === 0 ? 'the baseline' : `attempt ${base.number}`}`}: ${countText(size.added, 'line')} in, ${size.removed} out`
  return html`<article><h3>${i + 1}. ${clipped(attempt.title, 160)}</h3>
<p class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</p>
${attempt.hypothesis === '' ? undefined : html`<p>${clipped(attempt.hypothesis, 700)}</p>`}
${attempt.reason === undefined ? undefined : html`<p class="muted">${clipped(attempt.reason, 300)}</p>`}
${diff === undefined || diff === '' ? html`<p class="muted">Its change is not in the record.</p>` : html`<details${i === 0 ? html` open` : undefined}><summary>${summary}</summary>${diffMarkup(diff)}</details>`}
</article>`
}

/** The best of what was kept; where that is fewer than five, near misses follow. A lucky single score is no better than a keep. */
function topFive({ placed, direction }: Pick<SessionFigures, 'placed' | 'direction'>): PlacedAttempt[] {
  const sign = direction === 'max' ? 1 : -1
  const rank = (each: PlacedAttempt) => (isKept(each) ? 1 : 0)
  return placed
    .filter(
      ({ score, outcome }) =>
        score !== undefined &&
        outcome !== 'baseline' &&
        outcome !== 'discarded' &&
        outcome !== 'failed' &&
        outcome !== 'running',
    )
    .sort(
      (a, b) => rank(b) - rank(a) || sign * ((b.score ?? 0) - (a.score ?? 0)) || a.attempt.number - b.attempt.number,
    )
    .slice(0, 5)
}

/** What an attempt changed against what it was raced with, else against its base; undefined where the record does not hold it. */
function diffOf({ attempt, diff, files }: ReportedAttempt, input: ResearchReportInput): string | undefined {
  if (diff !== undefined) return diff
  const parent = input.attempts.find((each) => each.attempt.id === attempt.parents[0])
  const base = (opponentOf(attempt.id, input) ?? parent)?.files
  return files === undefined || base === undefined ? undefined : unifiedDiff(base, files)
}

const mostLines = 240
const mostColumns = 300

function diffMarkup(diff: string): Markup {
  const lines = diff.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const shown = lines.slice(0, mostLines).map(lineMarkup)
  const rest = lines.length - shown.length
  const more =
    rest > 0 ? html`<p class="muted">${rest} more lines are left out here; the exported patch has them.</p>` : undefined
  return html`<pre class="diff" tabindex="0" aria-label="Unified diff"><code>${shown}</code></pre>${more}`
}

/** Lines that a diff adds and takes away. */
function diffSize(diff: string): { added: number; removed: number } {
  const lines = diff.split('\n')
  return {
    added: lines.filter((line) => line.startsWith('+') && !line.startsWith('+++ ')).length,
    removed: lines.filter((line) => line.startsWith('-') && !line.startsWith('--- ')).length,
  }
}

function lineMarkup(line: string): Markup {
  const text = `${clipped(line, mostColumns)}\n`
  if (/^(?:diff --git|---|\+\+\+|new file|deleted file|index) /.test(line))
    return html`<span class="file">${text}</span>`
  if (line.startsWith('@@')) return html`<span class="hunk">${text}</span>`
  if (line.startsWith('+')) return html`<ins>${text}</ins>`
  if (line.startsWith('-')) return html`<del>${text}</del>`
  return html`${text}`
}
