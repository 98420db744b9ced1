// The runs behind the scores: loss curves, every attempt seed by seed, and which knobs the scores move with.
import { durationText } from '../../kernel/index.ts'
import { knobImportance } from '../../research/index.ts'
import { isKept, type PlacedAttempt } from '../figures/placed-attempt.ts'
import { type Content, clipped, dataTable, html, type Markup } from '../html/markup.ts'
import type { Section } from '../html/page.ts'
import { coordinate, linearScale, plot, stackedBar, tickDecimals } from '../html/plot.ts'
import type { ReportedRun } from '../input/report-input.ts'
import { outcomeLabel, type ReportContext } from './report-context.ts'

/** Curves of attempts that were not kept, the newest. */
const mostOthers = 60
/** Attempts that are shown run by run: what was kept, and the newest. */
const mostAttempts = 240
/** Of those, which show their curves as well: what was kept, and the newest. */
const mostWithCurves = 60
const mostPoints = 24

interface Curve {
  readonly kind: string
  readonly points: NonNullable<ReportedRun['curve']>
}

/** One curve of every attempt: what was kept in colour, all else behind it. */
export function lossCurves({ figures }: ReportContext): Section | undefined {
  const all = figures.placed.flatMap((each): (Curve & { number: number })[] => {
    const points = each.reported.runs?.find(({ curve }) => (curve?.length ?? 0) > 1)?.curve
    return points === undefined
      ? []
      : [{ kind: kindOf(each, figures.champion?.attempt.id), points, number: each.attempt.number }]
  })
  if (all.length === 0) return undefined
  const others = all.filter(({ kind }) => kind === 'other').slice(-mostOthers)
  const front = ['kept', 'baseline', 'best'].flatMap((kind) => all.filter((each) => each.kind === kind))
  const kinds = [
    ['baseline', 'baseline'],
    ['kept', 'kept'],
    ['best', 'the best'],
    ['other', 'not kept'],
  ] as const
  const shown = [...others, ...front]
  const legend = kinds
    .filter(([kind]) => shown.some((each) => each.kind === kind))
    .map(
      ([kind, word]) =>
        html`<li><svg viewBox="0 0 24 12" aria-hidden="true"><path class="line ${kind}" d="M1 6H23"/></svg>${word}</li>`,
    )
  const left = all.length - shown.length
  return {
    id: 'curves',
    title: 'Loss curves',
    short: 'Curves',
    body: html`<figure>${curvePlot(shown, { heightPx: 260, label: `Training loss of ${shown.length} attempts over seconds.` })}
<ul class="legend">${legend}</ul>
<figcaption>As candidates report it while they train, on their first seed: a claim of theirs, which steers what is ended early and never counts as a score.${left > 0 ? ` ${left} older curves of attempts that were not kept are left out.` : ''}</figcaption></figure>`,
  }
}

function kindOf(each: PlacedAttempt, champion: string | undefined): string {
  if (each.outcome === 'baseline') return 'baseline'
  if (each.attempt.id === champion) return 'best'
  return isKept(each) ? 'kept' : 'other'
}

/** Every attempt by its seeds, beside what the best of its time scored on them. */
export function attemptRuns({ figures, words, input }: ReportContext): Section | undefined {
  const known = figures.placed.filter(({ reported }) => (reported.runs?.length ?? 0) > 0)
  if (known.length === 0) return undefined
  const rest = known.filter((each) => !isKept(each) && each.outcome !== 'baseline')
  const left = new Set(rest.slice(0, Math.max(0, known.length - mostAttempts)))
  const shown = known.filter((each) => !left.has(each))
  const rivals = rivalsOf(figures.placed, input.succession)
  const plain = new Set(rest.slice(0, Math.max(0, rest.length - mostWithCurves)))
  const articles = shown.map((each) => {
    const { attempt, outcome, score, reported } = each
    const rival = rivals.get(attempt.id)
    return html`<details id="runs-${attempt.number}"><summary><span>${attempt.number} ${clipped(attempt.title, 90)}</span> ${outcomeLabel(outcome)} <span class="muted">${words.score(score)}</span></summary>
${seedTable(reported.runs ?? [], rival, words)}${plain.has(each) ? undefined : seedCurves(reported.runs ?? [], rival, attempt.number)}</details>`
  })
  return {
    id: 'runs',
    title: 'Seed by seed',
    short: 'Seeds',
    body: html`<p class="muted">Each attempt on each of its seeds, against the best of its time on the same seed.${left.size > 0 ? ` ${left.size} early attempts that were not kept are left out.` : ''}</p>
<div class="runs">${articles}</div>`,
  }
}

// The incumbent when an attempt was decided: the last one that was kept before it.
function rivalsOf(placed: readonly PlacedAttempt[], succession: readonly string[] = []): Map<string, PlacedAttempt> {
  const rivals = new Map<string, PlacedAttempt>()
  const isBest = (each: PlacedAttempt) =>
    each.outcome === 'baseline' || (isKept(each) && (succession.length === 0 || succession.includes(each.attempt.id)))
  let best: PlacedAttempt | undefined
  for (const each of placed) {
    if (best !== undefined) rivals.set(each.attempt.id, best)
    if (isBest(each)) best = each
  }
  return rivals
}

function seedTable(
  runs: readonly ReportedRun[],
  rival: PlacedAttempt | undefined,
  words: ReportContext['words'],
): Content {
  const before = new Map((rival?.reported.runs ?? []).map((run) => [run.seed, run.value]))
  const other =
    rival === undefined ? '' : rival.attempt.number === 0 ? 'the baseline' : `attempt ${rival.attempt.number}`
  return dataTable(runs, [
    { title: 'seed', cell: ({ seed }) => String(seed) },
    {
      title: 'score',
      kind: 'n',
      cell: ({ value, failure }) => (value === undefined ? clipped(failure ?? '–', 80) : words.score(value)),
    },
    ...(rival === undefined
      ? []
      : [{ title: other, kind: 'n' as const, cell: ({ seed }: ReportedRun) => words.score(before.get(seed)) }]),
    { title: 'time', kind: 'n', cell: ({ wallS }) => (wallS === undefined ? '–' : durationText(wallS)) },
    {
      title: 'memory',
      kind: 'n',
      cell: ({ peakMemoryBytes: bytes }) => (bytes === undefined ? '–' : `${(bytes / 1e9).toFixed(2)} GB`),
    },
  ])
}

function seedCurves(runs: readonly ReportedRun[], rival: PlacedAttempt | undefined, number: number): Content {
  const own = runs.flatMap(({ curve, seed }) =>
    (curve?.length ?? 0) > 1 ? [{ kind: 'own', points: curve ?? [], seed }] : [],
  )
  if (own.length === 0) return undefined
  const seeds = new Set(own.map(({ seed }) => seed))
  const others = (rival?.reported.runs ?? []).flatMap(({ curve, seed }) =>
    seeds.has(seed) && (curve?.length ?? 0) > 1 ? [{ kind: 'rival', points: curve ?? [] }] : [],
  )
  const label = `Training loss of attempt ${number} on ${own.length} seeds${others.length > 0 ? ', dashed: the best of its time on the same seeds' : ''}.`
  return html`<figure>${curvePlot([...others, ...own], { heightPx: 150, label })}<figcaption>${label}</figcaption></figure>`
}

function curvePlot(curves: readonly Curve[], { heightPx, label }: { heightPx: number; label: string }): Markup {
  const points = curves.flatMap((curve) => curve.points)
  const values = points.map(({ value }) => value).sort((a, b) => a - b)
  // The first losses are many times the last: the axis ends where nearly all points have their place.
  const high = values[Math.floor(0.95 * (values.length - 1))] ?? 1
  const y = linearScale(values[0] ?? 0, high, 4)
  const x = linearScale(0, Math.max(...points.map(({ seconds }) => seconds), 1e-9), 6)
  const digits = tickDecimals(y)
  const path = ({ points: all }: Curve) => {
    const every = Math.ceil(all.length / mostPoints)
    const shown = all.filter((_, i) => (all.length - 1 - i) % every === 0)
    return `M${shown.map(({ seconds, value }) => `${coordinate(x.at(seconds))} ${coordinate(1 - y.at(value))}`).join('L')}`
  }
  return plot({
    label,
    drawing: curves.map((curve) => html`<path class="curve ${curve.kind}" d="${path(curve)}"/>`),
    xTicks: x.ticks.map((tick) => ({ at: x.at(tick), text: String(Number(tick.toPrecision(6))) })),
    yTicks: y.ticks.map((tick) => ({ at: y.at(tick), text: tick.toFixed(digits) })),
    xTitle: 'seconds of training',
    heightPx,
  })
}

/** Which knobs the scores move with. */
export function knobs({ figures, input, words }: ReportContext): Section | undefined {
  const tried = figures.placed.flatMap(({ attempt, score }) =>
    score === undefined ? [] : [{ knobs: attempt.knobs, value: score, seeds: attempt.scores.length }],
  )
  const found = knobImportance(input.task.knobs ?? {}, tried, figures.noise.seedSd)
  if (found === undefined) return undefined
  const sign = input.task.direction === 'max' ? -1 : 1
  const best = (effects: (typeof found)[number]['effects']) =>
    effects
      .toSorted((a, b) => sign * (a.mean - b.mean))
      .map(({ value, mean }) => ({ value: clipped(String(value), 30), mean }))
  return {
    id: 'knobs',
    title: 'Which knobs matter',
    short: 'Knobs',
    body: html`${dataTable(found, [
      { title: 'knob', cell: ({ name }) => html`<code>${name}</code>` },
      {
        title: 'share of what scores differ by',
        kind: 'wide',
        cell: ({ share }) => stackedBar([{ kind: 'share', size: share }], 1),
      },
      { title: '', kind: 'n', cell: ({ share }) => `${Math.round(100 * share)} %` },
      {
        title: 'best at',
        kind: 'n',
        cell: ({ effects }) => {
          const [first] = best(effects)
          return first === undefined ? '–' : html`<b>${first.value}</b> (${words.score(first.mean)})`
        },
      },
      {
        title: 'worst at',
        kind: 'n',
        cell: ({ effects }) => {
          const last = best(effects).at(-1)
          return last === undefined ? '–' : `${last.value} (${words.score(last.mean)})`
        },
      },
    ])}<p class="muted">By a surrogate of the ${tried.length} attempts that have a score: how much of its variance one knob moves by itself, everything else as it was tried. What knobs do together is in no row, so shares need not add up to all.</p>`,
  }
}
