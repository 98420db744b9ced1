// The report of an experiment: hypothesis, verdict, arms with their seeds, the claim in numbers, all runs. In the style of
// research reports, and as self-contained.
import type { Evidence, ExperimentRow, RunRow, Verdict } from '../contracts/index.ts'
import { countText, durationText, numberText, rangeText, signedText, usdText } from '../kernel/index.ts'
import { conclusionLines } from '../record/index.ts'
import type { OpenStore } from '../store/index.ts'
import { mistakesSection, tablesSection } from './experiment/answer-sections.ts'
import { armsSection, baselinesSection, type Judged, scoresSection } from './experiment/arm-sections.ts'
import { armStyles, shortName } from './experiment/arm-styles.ts'
import { claimSection, verdictMark } from './experiment/claim-section.ts'
import { curveSection } from './experiment/curve-section.ts'
import { timeText } from './figures/value-text.ts'
import { type Content, capital, clipped, dataTable, factLine, html, tile } from './html/markup.ts'
import { page, type Section } from './html/page.ts'
import { logReport } from './input/log-input.ts'
import { readSession } from './input/read-session.ts'
import { sessionInput } from './input/session-input.ts'
import { researchReport } from './research-report.ts'

/** Runs that are listed. */
const mostRuns = 1_000

/** Writes the report of any experiment of the record, with wrong answers where the project is given: a research session, an imported log, an ordinary experiment. */
export async function reportOfExperiment(
  store: OpenStore,
  experiment: ExperimentRow,
  projectDir?: string,
): Promise<string> {
  const session = await readSession(store, experiment)
  if (session !== undefined) return researchReport(sessionInput(session.state, { id: experiment.id }))
  const { evidenceOf, isLogImport, resultOf } = await import('../record/index.ts')
  if (isLogImport(experiment)) return researchReport(await logReport(experiment, await store.runs(experiment.id)))
  const { evidence, runs } = await evidenceOf(store, experiment)
  const result = await resultOf(store, experiment, projectDir)
  const styles = armStyles(evidence.arms)
  return experimentReport({ ...experiment, result, evidence, styles, runs: runs.map(({ run }) => run) })
}

/** Writes the report of an experiment as HTML. */
function experimentReport(input: ExperimentReportInput): string {
  const parts = [
    claimSection,
    armsSection,
    scoresSection,
    curveSection,
    tablesSection,
    mistakesSection,
    baselinesSection,
    runs,
    words,
    again,
  ]
  return page({
    title: `Experiment: ${input.result.name}`,
    header: overview(input),
    sections: parts.flatMap((part) => part(input) ?? []),
    footer: html`Experiment ${input.result.experiment_id}. Made by evsys from the record alone; this file loads nothing and runs nothing.`,
  })
}

function overview({
  result,
  evidence,
  hypothesis,
  createdAt,
  tags,
  styles,
  runs: all,
}: ExperimentReportInput): Content {
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
${conclusion === null ? html`<p class="lead">It has no conclusion yet.</p>` : concluded(conclusion)}
<dl class="tiles">${[
    tile(
      'best arm',
      scoreText(best?.score?.mean),
      best_arm === null ? 'none has a score' : shortName(styles, best_arm),
    ),
    evidence.claims !== undefined
      ? claimsTile(evidence.claims)
      : evidence.claim === null
        ? undefined
        : effectTile(evidence.claim.overall),
    tile(
      'runs',
      String(evidence.n_runs),
      `${evidence.n_completed} completed${evidence.n_invalid === 0 ? '' : `, ${evidence.n_invalid} taken out`}${reusedText(all)}`,
    ),
    tile('took', durationText(wall_s), cost_usd === null ? 'cost unknown' : usdText(cost_usd)),
    tile('test evaluations', String(evidence.n_test_looks), 'in the loop'),
  ]}</dl>`
}

function claimsTile(claims: NonNullable<Evidence['claims']>): Content {
  const supported = claims.filter((claim) => claim?.overall.verdict === 'supported').length
  return tile('claims', `${supported} of ${claims.length}`, 'supported, adjusted by Holm')
}

function reusedText(runs: readonly RunRow[]): string {
  const reused = runs.filter(({ mode }) => mode === 'reused').length
  return reused === 0 ? '' : `, ${reused} reused`
}

// The first sentence answers; the others say by what, each subject on a line of its own.
function concluded({ verdict, text }: { verdict: Verdict; text: string }): Content {
  const [claimed = '', ...others] = conclusionLines(clipped(withoutVerdict(text, verdict), 6000))
  const [first = '', ...rest] = claimed.split(/(?<=[.!?)]) (?=[A-Z0-9])/)
  const lines = [rest.join(' '), ...others].filter((line) => line !== '')
  const list = html`<ul class="plain rest">${lines.map((line) => html`<li>${line}</li>`)}</ul>`
  return html`<p class="lead">${verdictMark(verdict)} ${first}</p>${lines.length === 0 ? undefined : list}`
}

// The mark says it already. What follows may be the name of an arm, which keeps its letters.
function withoutVerdict(text: string, verdict: string): string {
  return text.startsWith(`${capital(verdict)}: `) ? text.slice(verdict.length + 2) : text
}

function effectTile({ effect, interval }: NonNullable<Evidence['claim']>['overall']): Content {
  return tile('effect', signedText(effect), interval === null ? 'no interval' : `90 % interval ${rangeText(interval)}`)
}

function runs({ runs: all, evidence }: ExperimentReportInput): Section {
  const scores = new Map(
    evidence.arms.flatMap(({ name, by_seed }) => by_seed.map(({ seed, value }) => [`${name} ${seed}`, value] as const)),
  )
  const shown = all.slice(0, mostRuns)
  const table = dataTable(shown, [
    { title: 'run', kind: 'words', cell: ({ name }) => name },
    { title: 'seed', kind: 'n', cell: ({ seed }) => String(seed) },
    {
      title: 'status',
      cell: ({ status, invalid, mode }) =>
        invalid !== undefined ? 'taken out' : mode === 'reused' ? 'reused' : status,
    },
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
interface ExperimentReportInput extends Omit<ExperimentRow, 'evidence'>, Judged {
  readonly runs: readonly RunRow[]
}
