// The head of a report: what was searched for and what came of it, in a sentence and in a few numbers.
import { countText, durationText, usdText } from '../../kernel/index.ts'
import { verdictMark } from '../experiment/claim-section.ts'
import { isKept } from '../figures/placed-attempt.ts'
import { timeText } from '../figures/value-text.ts'
import { type Content, factLine, html, type Markup, tile } from '../html/markup.ts'
import type { ReportContext } from './report-context.ts'

export function overview(context: ReportContext): Markup {
  const { input } = context
  const { task, session } = input
  const unit = task.unit === undefined ? '' : ` (${task.unit})`
  return html`<p class="kicker">Research report</p>
<h1>${task.name}</h1>
${factLine([
  ['metric', `${task.metric}${unit}, ${task.direction === 'min' ? 'lower' : 'higher'} is better`],
  ['training', task.trainSeconds === undefined ? undefined : `${durationText(task.trainSeconds)} each`],
  ...(session.settings ?? []),
  ['begun', session.startedAt && timeText(session.startedAt)],
  ['last entry', session.endedAt && timeText(session.endedAt)],
  ['status', session.status],
])}
<p class="lead">${headline(context)}</p>
${claimSentence(context)}
${session.claimedOnly === true ? html`<p class="warning">The scores of this log were written by the one who ran it. Nothing here measured them again, so none counts as evidence.</p>` : undefined}
<dl class="tiles">${tiles(context)}</dl>`
}

/** What came of the session, in words that claim no more than is known. */
function headline(context: ReportContext): Content {
  const { input, figures, words } = context
  const { baseline, champion, rawGain, shrunkenGain, kept } = figures
  const tried = figures.placed.filter(({ outcome }) => outcome !== 'baseline').length
  if (baseline?.score === undefined)
    return `${countText(tried, 'experiment')} and no baseline with a score: nothing can be said of progress.`
  if (champion === undefined || rawGain === undefined) {
    return html`No change was kept in ${countText(tried, 'experiment')}: the baseline, ${words.score(baseline.score)}, still stands.`
  }
  const confirmed = kept.filter(({ placed }) => placed.outcome === 'confirmed').length
  const share = baseline.score === 0 ? '' : ` (${percentText(rawGain / Math.abs(baseline.score))})`
  const sure =
    confirmed === 0
      ? 'None of them is confirmed on fresh seeds, so the gain is provisional.'
      : champion.outcome === 'confirmed'
        ? kept.length === 1
          ? 'It is confirmed on fresh seeds.'
          : 'Together they are confirmed on fresh seeds, the best against the baseline; each by itself is provisional.'
        : `${confirmed} of them ${confirmed === 1 ? 'is' : 'are'} confirmed on fresh seeds; the others are provisional.`
  const luck =
    shrunkenGain === undefined
      ? ''
      : shrunkenGain < rawGain
        ? ` Of ${words.gain(rawGain)} as measured, ${words.gain(shrunkenGain)} is the shrunken gain.`
        : ' Seeds that came later have corrected its races for luck already.'
  const verb = rawGain >= 0 === (input.task.direction === 'max') ? 'rose' : 'fell'
  return html`<b>${input.task.metric} ${verb} from ${words.score(baseline.score)} to ${words.score(champion.score)}</b>${share} over ${countText(tried, 'experiment')}, by ${countText(kept.length, 'kept change')}. ${sure}${luck}${freshSentence(context)}`
}

/** The computed claim, in the words of every other page. */
function claimSentence({ input: { claim, task }, words }: ReportContext): Content {
  if (claim === undefined) return undefined
  const { verdict, treatment, effect, interval, confidence, seeds, items, scores } = claim
  const mean = (value: number | null) => (value === null ? '–' : words.score(value))
  const over = `${countText(seeds.length, 'fresh seed')}${typeof items === 'number' ? ` and ${countText(items, 'task')}` : ''}`
  const size =
    effect === null || interval === null
      ? 'without an interval'
      : `by ${words.gain(effect)} (${Math.round(100 * confidence)} % interval ${words.range(interval)}, over ${over})`
  return html`<p>Claim: ${verdictMark(verdict)} ${treatment} is better than the baseline by ${task.metric} on the hidden split: ${mean(scores.treatment)} against ${mean(scores.baseline)}, ${size}.</p>`
}

// The most honest number there is: measured once, on seeds and data that took no part in the search.
function freshSentence({ input, figures, words }: ReportContext): string {
  const found = input.confirmations?.findLast(
    ({ attempt, passed, better = passed, gain }) =>
      better && gain !== undefined && attempt === figures.champion?.attempt.id,
  )
  if (found === undefined) return ''
  const range =
    found.interval === undefined
      ? ''
      : ` (${Math.round(100 * (found.confidence ?? 0.9))} % interval ${words.range(found.interval)})`
  const shrunken =
    found.shrunken === undefined ? '' : `, ${words.gain(found.shrunken)} when shrunken for having passed its test`
  const where = found.split === 'test' ? 'the hidden split' : 'fresh seeds'
  return ` On ${where}, ${words.gain(found.gain)}${range} was measured${shrunken}${found.passed ? '' : ': better on these items, and what other items would show is not covered'}.`
}

function tiles({ input: { testEvaluations: tests }, figures, words }: ReportContext): Content {
  const { champion, baseline, kept, placed, spending, expectedFalse, rawGain, shrunkenGain } = figures
  const tried = placed.filter(({ outcome }) => outcome !== 'baseline')
  const failed = tried.filter(({ outcome }) => outcome === 'failed').length
  const confirmed = kept.filter(({ placed: each }) => each.outcome === 'confirmed').length
  return [
    tile('best so far', words.score((champion ?? baseline)?.score), `baseline ${words.score(baseline?.score)}`),
    shrunkenGain === undefined
      ? tile('gain', words.gain(rawGain), 'as measured')
      : tile('gain, shrunken', words.gain(shrunkenGain), `raw ${words.gain(rawGain)}`),
    tile('experiments', tried.length.toLocaleString('en-US'), `${placed.filter(isKept).length} kept, ${failed} failed`),
    tile('confirmed', String(confirmed), `of ${countText(kept.length, 'kept change')}`),
    expectedFalse === undefined
      ? undefined
      : tile('expected false keeps', expectedFalse.toFixed(1), `of ${kept.length}`),
    spentTile(spending),
    tests &&
      tile('test evaluations', String(tests.used), tests.allowed ? `of ${tests.allowed} allowed` : 'each is metered'),
  ]
}

function spentTile({ totalUsd, totalSeconds }: ReportContext['figures']['spending']): Content {
  const unpaid = 'running candidates'
  if (totalSeconds === undefined) return totalUsd === undefined ? undefined : tile('spent', usdText(totalUsd), unpaid)
  return totalUsd === undefined || totalUsd === 0
    ? tile('spent', durationText(totalSeconds), unpaid)
    : tile('spent', usdText(totalUsd), `${durationText(totalSeconds)} of runs`)
}

function percentText(share: number): string {
  const percent = 100 * share
  return `${percent.toFixed(Math.abs(percent) < 10 ? 1 : 0)} % ${share >= 0 ? 'better' : 'worse'}`.replace('-', '')
}
