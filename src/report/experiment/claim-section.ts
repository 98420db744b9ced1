// Claims in numbers: where each effect and its interval lie between nothing and what was claimed.
import type { ClaimEvidence, PairEvidence, Verdict } from '../../contracts/index.ts'
import { numberText, rangeText, signedText } from '../../kernel/index.ts'
import { claimedMetric, mixSentence, roughText } from '../../record/index.ts'
import { dataTable, html, type Markup } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { coordinate, linearScale, type Scale } from '../html/plot.ts'
import type { Judged } from './arm-sections.ts'
import { shortName } from './arm-styles.ts'

const outcomes: Readonly<Record<Verdict, string>> = {
  supported: 'confirmed',
  refuted: 'failed',
  inconclusive: 'inconclusive',
  exploratory: 'discarded',
  failed: 'failed',
}

/** A verdict by its colour and its word. */
export function verdictMark(verdict: Verdict): Markup {
  return html`<span class="outcome ${outcomes[verdict]}">${verdict}</span>`
}

interface Compared {
  readonly claim: ClaimEvidence
  readonly pair: PairEvidence
}

export function claimSection({ evidence, styles }: Judged): Section | undefined {
  const { claim, claims } = evidence
  if (claim === null && claims === undefined) return undefined
  const several = claims?.flatMap((each) => each ?? [])
  const shown: Compared[] =
    several?.map((each) => ({ claim: each, pair: each.overall })) ??
    (claim === null ? [] : (claim.pairs.length === 0 ? [claim.overall] : claim.pairs).map((pair) => ({ claim, pair })))
  const lost = (claims?.length ?? 0) - (several?.length ?? 0)
  const intro =
    several !== undefined
      ? `Verdicts and intervals are adjusted by Holm over all ${claims?.length} claims; p is one-sided, of “no better than what was claimed”.`
      : claim === null
        ? ''
        : `On ${claimedMetric(claim)}, ${countsText(claim.min_effect)} counts.`
  const x = effectScale(shown)
  const table = dataTable(shown, [
    ...(several === undefined ? [] : [{ title: 'metric', cell: ({ claim }: Compared) => claimedMetric(claim) }]),
    {
      title: 'treatment against baseline',
      kind: 'words',
      cell: ({ pair }) =>
        html`<b>${shortName(styles, pair.treatment)}</b> <span class="muted">against</span> ${shortName(styles, pair.baseline)}`,
    },
    { title: 'worse … better', kind: 'wide', cell: (each) => effectStrip(each, x) },
    { title: 'effect', kind: 'n', cell: ({ pair }) => html`<b>${signedText(pair.effect)}</b>` },
    {
      title: 'interval',
      kind: 'n',
      cell: ({ pair: { interval, too_few } }) =>
        interval === null
          ? '–'
          : html`${rangeText(interval)}${too_few === undefined ? undefined : html` <span class="muted">not calibrated: ${roughText(too_few)}</span>`}`,
    },
    ...(several === undefined
      ? [{ title: 'seeds', kind: 'n' as const, cell: ({ pair }: Compared) => String(pair.n_seeds) }]
      : [
          { title: 'p', kind: 'n' as const, cell: ({ claim: { p } }: Compared) => chance(p) },
          {
            title: 'adjusted p',
            kind: 'n' as const,
            cell: ({ claim: { p_adjusted } }: Compared) => chance(p_adjusted),
          },
        ]),
    { title: 'verdict', cell: ({ pair }) => verdictMark(pair.verdict) },
  ])
  const mixes = (several ?? (claim === null ? [] : [claim])).flatMap((each) => {
    const text = mixSentence(each).trim()
    return text === ''
      ? []
      : [
          html`<p>${each.overall.treatment} against ${each.overall.baseline}: ${signedText(each.overall.effect)}. ${text}</p>`,
        ]
  })
  const note =
    lost > 0 ? html`<p class="muted">${lost} of the claims have arms without scores in common.</p>` : undefined
  return {
    id: 'claim',
    title: several === undefined ? 'Claim' : 'Claims',
    short: several === undefined ? 'Claim' : 'Claims',
    body: html`<p class="muted">${intro} The bar is the interval, the solid line no effect, the dotted one what was claimed.</p>${table}${mixes}${note}`,
  }
}

function countsText(minEffect: number): string {
  return minEffect < 0 ? `a drop of less than ${numberText(-minEffect)}` : `an effect above ${numberText(minEffect)}`
}

/** Smaller than this is not told apart. */
const smallestChance = 0.0001

function chance(p: number | undefined): string {
  if (p === undefined) return '–'
  return p < smallestChance ? `< ${smallestChance}` : numberText(Number(p.toPrecision(2)))
}

function effectScale(shown: readonly Compared[]): Scale {
  const values = shown.flatMap(({ claim, pair }) => [0, claim.min_effect, pair.effect, ...(pair.interval ?? [])])
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const margin = 0.08 * (high - low)
  return linearScale(low - margin, high + margin, 4)
}

function effectStrip({ claim, pair }: Compared, x: Scale): Markup {
  const at = (value: number) => coordinate(x.at(value))
  const kind = outcomes[pair.verdict]
  const bar =
    pair.interval === null
      ? undefined
      : html`<path class="span of-${kind}" d="M${at(pair.interval[0])} 500H${at(pair.interval[1])}"/>`
  const claimed = claim.min_effect === 0 ? undefined : html`<path class="claimed" d="M${at(claim.min_effect)} 0V1000"/>`
  return html`<svg class="strip" viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true"><path class="zero" d="M${at(0)} 0V1000"/>${claimed}${bar}<path class="mean" d="M${at(pair.effect)} 120V880"/></svg>`
}
