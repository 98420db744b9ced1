// `evsys show ID`: everything that the record says of one experiment.
import {
  type EvalRow,
  type Evidence,
  type ExperimentResult,
  type ExperimentRow,
  type RunDataPreview,
  type RunRow,
  tripText,
} from '../../contracts/index.ts'
import { readPreview } from '../../data/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { ExperimentStatus } from '../../record/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import { dataTexts } from '../output/data-text.ts'
import { armTable, claimLines, runTable, type ShownRun, verdictPaint } from '../output/experiment-text.ts'
import { nextSteps, nextText } from '../output/next-steps.ts'
import { type Fact, labelledLines } from '../output/table.ts'
import { countText, durationText, shortPath, speedText, usdText } from '../output/text.ts'

type ShowOptions = { readonly data?: true | undefined }

export async function show(context: CommandContext, reference: string, { data }: ShowOptions): Promise<ExitCode> {
  if (data === true) return await showData(context, reference)
  const { output } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const experiment = await store.findExperiment(reference)
    const record = await import('../../record/index.ts')
    const { conclusionLines, evidenceOf, isDryRun, resultOf, selectedEval, experimentStatus } = record
    const found = await resultOf(store, experiment, project)
    const { evidence, runs } = await evidenceOf(store, experiment, project)
    const files = found.files ?? undefined
    const status = await experimentStatus(store, experiment)
    const result: ExperimentResult = status === 'interrupted' ? { ...found, interrupted: true } : found
    output.result(result, () => {
      const shown = runs.map(({ run, evals }) => ({ run, scores: scoresOf(run, evals, selectedEval) }))
      const { verdict } = experiment
      const facts: Fact[] = [
        ['name', `${experiment.name}  ${experiment.id}`],
        ...optional('hypothesis', experiment.hypothesis ?? 'none was given'),
        verdict === undefined
          ? ['verdict', status === 'interrupted' ? unfinished : `none yet: ${status}`]
          : ['verdict', `${verdict}${isDryRun(experiment) ? ' (trial)' : ''}`, verdictPaint(verdict, output.colors)],
        ...optional('conclusion', conclusionLines(experiment.conclusion ?? '').join('\n')),
        ...optional('claim', claimLines(evidence).join('\n')),
        ...experiment.words.map(({ at, author, text }): Fact => [author, `${text} (${at.slice(0, 10)})`]),
        ['made', madeText(experiment, result, runs.length)],
        ...optional('guards', guardText(result)),
        ...optional('code', codeText(result)),
        ...optional('engine', engineText(result)),
        ...optional('scored', scoredText(runs)),
        ...optional('tags', experiment.tags.join(', ')),
        ...optional('follows', experiment.parentId),
        ['files', files === undefined ? 'none on this machine' : shortPath(files, context.cwd)],
      ]
      if (output.quiet) return labelledLines(facts.slice(0, 4), output)
      const isLog = runs.some(({ run }) => run.kept !== undefined)
      const parts = [
        labelledLines(facts, output),
        ...(isLog ? [] : [armTable(result, output)]),
        runTable(shown, output),
        nextText(
          isLog ? [whatElse] : stepsAfter(result, { evidence, status, dry: isDryRun(experiment) }),
          output.colors,
        ),
      ]
      return parts.join('\n\n')
    })
    return exitCodes.done
  })
}

const whatElse = 'evsys history   # what else was tried'

// The record knows the plan and not the file that it came from.
function stepsAfter(
  result: ExperimentResult,
  { evidence, status, dry }: { evidence: Evidence; status: ExperimentStatus; dry: boolean },
): string[] {
  const { experiment_id, conclusion } = result
  const file = `evsys repro ${experiment_id}   # writes the plan as a file, if yours has changed`
  if (conclusion === null) return status === 'interrupted' ? ['evsys run FILE --resume', file] : [whatElse]
  const commandWith = (...sets: readonly string[]) => ['evsys run FILE', ...sets.map((set) => `--set ${set}`)].join(' ')
  return [...nextSteps(result, { evidence, commandWith, dry }), file]
}

const unfinished = 'none: it was interrupted; `evsys run FILE --resume` continues it'

function optional(label: string, text: string | undefined): Fact[] {
  return text === undefined || text === '' ? [] : [[label, text]]
}

function scoresOf(
  run: RunRow,
  evals: readonly EvalRow[],
  selectedEval: (run: RunRow, evals: readonly EvalRow[], benchmark: string) => EvalRow | undefined,
): ShownRun['scores'] {
  const benchmarks = [...new Set(evals.map(({ benchmark }) => benchmark))]
  const entries = benchmarks.flatMap((benchmark) => {
    const { metrics = {} } = selectedEval(run, evals, benchmark) ?? {}
    return Object.entries(metrics).map(([metric, value]) => [`${benchmark}.${metric}`, value])
  })
  return Object.fromEntries(entries)
}

function madeText(
  { createdAt, configHash }: ExperimentRow,
  { wall_s, cost_usd, arms }: { wall_s: number; cost_usd: number | null; arms: readonly unknown[] },
  runs: number,
): string {
  const cost = cost_usd === null ? 'cost unknown' : usdText(cost_usd)
  return `${createdAt.slice(0, 16).replace('T', ' ')} UTC; ${countText(arms.length, 'arm')}, ${countText(runs, 'run')}; ${durationText(wall_s)}; ${cost}; configuration ${configHash.slice(0, 12)}`
}

/** A sweep that goes wrong goes wrong many times. */
const shownTrips = 20

function guardText({ guards = [] }: ExperimentResult): string {
  const lines = guards.slice(0, shownTrips).map((trip) => `${trip.run}: ${tripText(trip)}`)
  const more = guards.length > shownTrips ? [`... and ${guards.length - shownTrips} more`] : []
  return [...lines, ...more].join('\n')
}

function codeText({ recipe_code: code }: ExperimentResult): string {
  if (code === undefined) return ''
  const { sandbox, network = [], seal } = code
  const parts = [
    sandbox === 'process' ? 'not shut in' : `shut in by ${sandbox}`,
    ...(network.length === 0 ? [] : [`with the network (${network.join(', ')})`]),
    ...(seal === undefined ? [] : [seal === 'none' ? 'answers not hidden' : 'answers hidden']),
  ]
  return parts.join(', ')
}

function engineText({ engines = [] }: ExperimentResult): string {
  return engines
    .map(({ id, threads, n_runs, gflops }) => {
      const speed = gflops === undefined ? '' : `, ${speedText(gflops)}`
      const on = `${threads === null ? '' : `, ${countText(threads, 'thread')}`}${speed}`
      return `${id}${on}${engines.length === 1 ? '' : ` (${countText(n_runs, 'run')})`}`
    })
    .join('\n')
}

function scoredText(runs: readonly { evals: readonly EvalRow[] }[]): string {
  const evals = runs.flatMap((each) => each.evals)
  const benchmarks = [...new Set(evals.map(({ benchmark }) => benchmark))]
  return benchmarks
    .map((name) => {
      const own = evals.filter(({ benchmark }) => benchmark === name)
      const hashes = [...new Set(own.map(({ scorerHash }) => scorerHash.slice(0, 12)))]
      const lost = own.reduce((sum, each) => sum + each.nInfraFailed, 0)
      return `${name} (${own[0]?.split}): ${countText(own.length, 'evaluation')}, ${countText(own[0]?.nTasks ?? 0, 'task')}, scorer ${hashes.join(', ')}${lost === 0 ? '' : `, ${countText(lost, 'answer')} without a score`}`
    })
    .join('\n')
}

// `evsys show ID --data`: what the runs of an experiment, or one run, were trained on.
async function showData(context: CommandContext, reference: string): Promise<ExitCode> {
  const { output } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const { experiment, runs } = await runsOf(store, reference)
    const shown = await previewsOf(experiment, runs, project)
    output.result({ experiment_id: experiment.id, runs: shown }, () => {
      const texts = dataTexts(shown, output)
      return texts.length === 0 ? 'no run of it has read data yet' : texts.join('\n\n')
    })
    return exitCodes.done
  })
}

/** The previews of runs, from their folders. */
export async function previewsOf(
  experiment: ExperimentRow,
  runs: readonly RunRow[],
  project: string,
): Promise<RunDataPreview[]> {
  const { filesOf, runFolder } = await import('../../record/index.ts')
  const folder = await filesOf(experiment, project)
  return await Promise.all(
    runs.map(async ({ id, name, arm, seed }) => ({
      run_id: id,
      name,
      arm,
      seed,
      preview: (folder === undefined ? undefined : await readPreview(runFolder(folder, name))) ?? null,
    })),
  )
}

// A run, or of an experiment the first run of each arm: seeds train on the same data.
async function runsOf(store: OpenStore, reference: string): Promise<{ experiment: ExperimentRow; runs: RunRow[] }> {
  try {
    const experiment = await store.findExperiment(reference)
    return { experiment, runs: firstOfArms(await store.runs(experiment.id)) }
  } catch (error) {
    if (!EvsysError.is(error) || error.code !== 'STORE_MISSING') throw error
    const run = await store.findRun(reference).catch((second: unknown) => {
      throw EvsysError.is(second) && second.code !== 'STORE_MISSING' ? second : error
    })
    const experiment = await store.experiment(run.experimentId)
    if (experiment === undefined) throw error
    return { experiment, runs: [run] }
  }
}

/** One run of each arm, in order. */
export function firstOfArms(runs: readonly RunRow[]): RunRow[] {
  const seen = new Set<string>()
  return runs.filter(({ arm }) => {
    const isFirst = !seen.has(arm)
    seen.add(arm)
    return isFirst
  })
}
