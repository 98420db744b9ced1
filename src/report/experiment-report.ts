// The report of an experiment: hypothesis, verdict, arms with their seeds, the claim in numbers, all runs. In the style of
// research reports, and as self-contained.
import type {
  ArmEvidence,
  ClaimEvidence,
  Evidence,
  ExperimentResult,
  ExperimentRow,
  RunRow,
} from '../contracts/index.ts'
import { countText, durationText, numberText, rangeText, signedText, usdText } from '../kernel/index.ts'
import type { OpenStore } from '../store/index.ts'
import { timeText } from './figures/value-text.ts'
import { type Content, capital, clipped, dataTable, factLine, html, type Markup, tile } from './html/markup.ts'
import { page, type Section } from './html/page.ts'
import { coordinate, linearScale, percent, plot, tickDecimals } from './html/plot.ts'
import { logReport } from './input/log-input.ts'
import { readSession } from './input/read-session.ts'
import { sessionInput } from './input/session-input.ts'
import { researchReport } from './research-report.ts'

/** Runs and scores that are listed. */
const mostRuns = 1_000
const mostScores = 2_000

/** Writes the report of any experiment of the record: a research session, an imported log, an ordinary experiment. */
export async function reportOfExperiment(store: OpenStore, experiment: ExperimentRow): Promise<string> {
  const session = await readSession(store, experiment)
  if (session !== undefined) return researchReport(sessionInput(session.state, { id: experiment.id }))
  const { evidenceOf, isLogImport, resultOf } = await import('../record/index.ts')
  if (isLogImport(experiment)) return researchReport(await logReport(experiment, await store.runs(experiment.id)))
  const { evidence, runs } = await evidenceOf(store, experiment)
  const result = await resultOf(store, experiment)
  return experimentReport({ ...experiment, result, evidence, runs: runs.map(({ run }) => run) })
}

/** Writes the report of an experiment as HTML. */
function experimentReport(input: ExperimentReportInput): string {
  const parts = [arms, scores, claim, runs, words, again]
  return page({
    title: `Experiment: ${input.result.name}`,
    header: overview(input),
    sections: parts.flatMap((part) => part(input) ?? []),
    footer: html`Experiment ${input.result.experiment_id}. Made by evsys from the record alone; this file loads nothing and runs nothing.`,
  })
}

function overview({ result, evidence, hypothesis, createdAt, tags }: ExperimentReportInput): Content {
  const { objective, conclusion, cost_usd, wall_s, best_arm } = result
  const best = result.arms.find(({ name }) => name === best_arm)
  const aim = objective && `${objective.metric}, ${objective.direction === 'min' ? 'lower' : 'higher'} is better`
  return html`<p class="kicker">Experiment</p>
<h1>${result.name}</h1>
${factLine([
  ['objective', aim ?? undefined],
  ['made', timeText(createdAt)],
  ['tags', tags.length === 0 ? undefined : tags.join(', ')],
])}
<p>${hypothesis === undefined ? html`<span class="muted">No hypothesis was given.</span>` : clipped(hypothesis, 2000)}</p>
<p class="lead">${conclusion === null ? 'It has no conclusion yet.' : html`<b>${capital(conclusion.verdict)}.</b> ${clipped(conclusion.text, 3000)}`}</p>
<dl class="tiles">${[
    tile('best arm', scoreText(best?.score?.mean), clipped(best_arm ?? 'none has a score', 80)),
    evidence.claim === null ? undefined : effectTile(evidence.claim.overall),
    tile('runs', String(evidence.n_runs), `${evidence.n_completed} completed, ${evidence.n_invalid} taken out`),
    tile('took', durationText(wall_s), cost_usd === null ? 'cost unknown' : usdText(cost_usd)),
    tile('test evaluations', String(evidence.n_test_looks), 'in the loop'),
  ]}</dl>`
}

function effectTile({ effect, interval }: NonNullable<Evidence['claim']>['overall']): Content {
  return tile('effect', signedText(effect), interval === null ? 'no interval' : `90 % interval ${rangeText(interval)}`)
}

function arms({ evidence, result }: ExperimentReportInput): Section {
  const chart = armChart(evidence.arms)
  const table = dataTable(evidence.arms, [
    { title: 'arm', kind: 'words', cell: ({ name }) => (name === result.best_arm ? html`<b>${name}</b>` : name) },
    { title: 'mean', kind: 'n', cell: ({ score }) => html`<b>${scoreText(score?.mean)}</b>` },
    { title: 'interval', kind: 'n', cell: ({ score }) => (score?.ci == null ? '–' : rangeText(score.ci)) },
    { title: 'seeds', kind: 'n', cell: ({ by_seed }) => String(by_seed.length) },
    { title: 'failed', kind: 'n', cell: ({ n_failed }) => String(n_failed) },
    { title: 'why', kind: 'words', cell: ({ error }) => (error === undefined ? '' : clipped(error.message, 200)) },
  ])
  const caption = html`<figcaption>A dot is one seed, the line the interval of the mean.</figcaption>`
  return {
    id: 'arms',
    title: 'Arms',
    short: 'Arms',
    body: html`${chart === undefined ? undefined : html`<figure>${chart}${caption}</figure>`}${table}`,
  }
}

/** Val and test side by side, of the selected checkpoints. */
function scores({ evidence, result }: ExperimentReportInput): Section | undefined {
  const all = evidence.arms.flatMap(({ name, scores: own = [] }) => own.map((each) => ({ arm: name, ...each })))
  if (all.length === 0) return undefined
  const table = dataTable(all.slice(0, mostScores), [
    { title: 'arm', kind: 'words', cell: ({ arm }) => (arm === result.best_arm ? html`<b>${arm}</b>` : arm) },
    { title: 'benchmark', kind: 'words', cell: ({ benchmark }) => benchmark },
    { title: 'split', cell: ({ split, selects }) => (selects ? `${split}, selected` : split) },
    { title: 'metric', kind: 'words', cell: ({ metric }) => metric },
    { title: 'mean', kind: 'n', cell: ({ score }) => html`<b>${scoreText(score.mean)}</b>` },
    { title: 'interval', kind: 'n', cell: ({ score }) => (score.ci === null ? '–' : rangeText(score.ci)) },
    { title: 'by seed', kind: 'n', cell: ({ by_seed }) => by_seed.map(({ value }) => numberText(value)).join(', ') },
  ])
  const rest = all.length - mostScores
  const more = rest <= 0 ? undefined : html`<p class="muted">${countText(rest, 'more score')} are in the record.</p>`
  return {
    id: 'scores',
    title: 'Scores on all benchmarks',
    short: 'Scores',
    body: html`<p>Of the checkpoint that was selected in each run. What selected is marked: its score is that of a winner.</p>${table}${more}`,
  }
}

function claim({ evidence }: ExperimentReportInput): Section | undefined {
  if (evidence.claim === null) return undefined
  const { claims } = evidence
  if (claims !== undefined) return severalClaims(claims.flatMap((each) => each ?? []))
  const { pairs, overall, min_effect, benchmark, metric } = evidence.claim
  return {
    id: 'claim',
    title: 'Claim',
    short: 'Claim',
    body: html`<p>On ${benchmark}.${metric}, an effect above ${numberText(min_effect)} counts.</p>${dataTable(
      pairs.length === 0 ? [overall] : pairs,
      [
        { title: 'treatment', kind: 'words', cell: ({ treatment }) => treatment },
        { title: 'baseline', kind: 'words', cell: ({ baseline }) => baseline },
        { title: 'effect', kind: 'n', cell: ({ effect }) => html`<b>${signedText(effect)}</b>` },
        { title: 'interval', kind: 'n', cell: ({ interval }) => (interval === null ? '–' : rangeText(interval)) },
        { title: 'seeds', kind: 'n', cell: ({ n_seeds }) => String(n_seeds) },
        { title: 'verdict', cell: ({ verdict }) => verdict },
        {
          title: 'seeds still needed',
          kind: 'n',
          cell: ({ seeds_still_needed }) => (seeds_still_needed === null ? '–' : String(seeds_still_needed)),
        },
      ],
    )}`,
  }
}

function severalClaims(claims: readonly ClaimEvidence[]): Section {
  return {
    id: 'claim',
    title: 'Claims',
    short: 'Claims',
    body: html`<p>Verdicts and intervals are adjusted by Holm over all claims.</p>${dataTable(claims, [
      { title: 'metric', kind: 'words', cell: ({ benchmark, metric }) => `${benchmark}.${metric}` },
      { title: 'treatment', kind: 'words', cell: ({ overall }) => overall.treatment },
      { title: 'baseline', kind: 'words', cell: ({ overall }) => overall.baseline },
      { title: 'effect', kind: 'n', cell: ({ overall }) => html`<b>${signedText(overall.effect)}</b>` },
      {
        title: 'interval',
        kind: 'n',
        cell: ({ overall }) => (overall.interval === null ? '–' : rangeText(overall.interval)),
      },
      { title: 'p', kind: 'n', cell: ({ p = 1 }) => numberText(p) },
      { title: 'adjusted p', kind: 'n', cell: ({ p_adjusted = 1 }) => numberText(p_adjusted) },
      { title: 'verdict', cell: ({ overall }) => overall.verdict },
    ])}`,
  }
}

function runs({ runs: all, evidence }: ExperimentReportInput): Section {
  const scores = new Map(
    evidence.arms.flatMap(({ name, by_seed }) => by_seed.map(({ seed, value }) => [`${name} ${seed}`, value] as const)),
  )
  const shown = all.slice(0, mostRuns)
  const table = dataTable(shown, [
    { title: 'run', kind: 'words', cell: ({ name }) => name },
    { title: 'seed', kind: 'n', cell: ({ seed }) => String(seed) },
    { title: 'status', cell: ({ status, invalid }) => (invalid === undefined ? status : 'taken out') },
    { title: 'score', kind: 'n', cell: ({ arm, seed }) => scoreText(scores.get(`${arm} ${seed}`)) },
    { title: 'time', kind: 'n', cell: ({ wallS }) => (wallS === undefined ? '–' : durationText(wallS)) },
    { title: 'remark', kind: 'words', cell: ({ error, invalid }) => clipped(invalid ?? error?.message ?? '', 200) },
  ])
  const rest = all.length - shown.length
  return {
    id: 'runs',
    title: 'Runs',
    short: 'Runs',
    body: html`${table}${rest === 0 ? undefined : html`<p class="muted">${countText(rest, 'more run')} are in the record.</p>`}`,
  }
}

function words({ words: said }: ExperimentReportInput): Section | undefined {
  if (said.length === 0) return undefined
  const list = said.map(({ at, author, text }) => {
    return html`<li>${clipped(text, 2000)} <span class="muted">(${author}, ${timeText(at)})</span></li>`
  })
  return { id: 'words', title: 'What authors say', short: 'Words', body: html`<ul class="plain">${list}</ul>` }
}

function again({ result }: ExperimentReportInput): Section {
  return {
    id: 'reproduce',
    title: 'Reproduce',
    short: 'Reproduce',
    body: html`<pre class="wrap"><code>evsys repro ${result.experiment_id} -o again.yaml &amp;&amp; evsys run again.yaml --fresh</code></pre>`,
  }
}

function scoreText(value: number | undefined): string {
  return value === undefined ? '–' : numberText(value)
}

/** What the report of an experiment is made from: data alone. */
interface ExperimentReportInput extends ExperimentRow {
  readonly result: ExperimentResult
  readonly evidence: Evidence
  readonly runs: readonly RunRow[]
}

/** More would be no chart. */
const mostArms = 24

/** Arms side by side: every seed a dot, the interval of the mean a line. */
function armChart(arms: readonly ArmEvidence[]): Markup | undefined {
  const shown = arms.filter(({ by_seed }) => by_seed.length > 0).slice(0, mostArms)
  const values = shown.flatMap(({ by_seed, score }) => [...by_seed.map(({ value }) => value), ...(score?.ci ?? [])])
  if (values.length === 0) return undefined
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const margin = 0.06 * (high - low)
  const x = linearScale(low - margin, high + margin, 6)
  const decimals = tickDecimals(x)
  const at = (i: number) => (i + 0.62) / shown.length
  const drawing = shown.map(({ name, by_seed, score }, i) => {
    const y = coordinate(at(i))
    const line =
      score?.ci == null
        ? undefined
        : html`<path class="spent" d="M${coordinate(x.at(score.ci[0]))} ${y}H${coordinate(x.at(score.ci[1]))}"/>`
    const mean =
      score === null
        ? undefined
        : html`<g class="dot provisional"><path d="M${coordinate(x.at(score.mean))} ${y}h.01"/></g>`
    const dots = by_seed.map(
      ({ seed, value }) =>
        html`<path d="M${coordinate(x.at(value))} ${y}h.01"><title>${clipped(name, 80)}, seed ${seed}: ${value}</title></path>`,
    )
    return html`${line}<g class="dot discarded">${dots}</g>${mean}`
  })
  return plot({
    label: `Scores of ${shown.length} arms, seed by seed. The table below holds all numbers.`,
    drawing,
    over: shown.map(
      ({ name }, i) =>
        html`<span class="arm" style="top:${percent(at(i) - 0.42 / shown.length)}">${clipped(name, 60)}</span>`,
    ),
    xTicks: x.ticks.map((tick) => ({ at: x.at(tick), text: tick.toFixed(decimals) })),
    yTicks: [],
    xTitle: 'score',
    heightPx: 60 + 46 * shown.length,
  })
}
