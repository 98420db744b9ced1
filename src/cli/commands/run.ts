// `evsys run FILE`: an experiment from its file to its conclusion. It watches and prints; the lab does the work.
import { dirname, join, resolve } from 'node:path'
import { findProject, loadExperiment } from '../../config/index.ts'
import type { ExperimentResult, Plan } from '../../contracts/index.ts'
import { EvsysError, shellWord, systemClock } from '../../kernel/index.ts'
import { loadLab, runExperiment, weightsOfRecord } from '../../lab/index.ts'
import type { PlanForecast } from '../../record/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { requireProject, withRecord } from '../context/project.ts'
import { colorsFor } from '../output/colors.ts'
import { armTable, verdictPaint } from '../output/experiment-text.ts'
import { type NextOptions, nextSteps, nextText } from '../output/next-steps.ts'
import type { Output } from '../output/output.ts'
import { forecastText, planText } from '../output/plan-text.ts'
import { createRunWatch } from '../output/run-watch.ts'
import { type Fact, labelledLines } from '../output/table.ts'
import { countText, durationText, noticeText, shortPath } from '../output/text.ts'

export type RunOptions = {
  readonly dry?: true | undefined
  readonly steps?: number | undefined
  readonly set?: readonly string[] | undefined
  readonly resume?: true | undefined
  readonly fresh?: true | undefined
  readonly maxConcurrent?: number | undefined
  readonly strict?: true | undefined
  readonly seal?: 'auto' | 'required' | 'off' | undefined
  readonly limit?: readonly string[] | undefined
  readonly sandbox?: 'auto' | 'bubblewrap' | 'chroot' | 'process' | undefined
}

interface Asked {
  readonly file: string
  readonly options: RunOptions
  readonly project: string
}

export async function run(context: CommandContext, file: string, options: RunOptions): Promise<ExitCode> {
  const { output, cwd } = context
  const project =
    context.project === undefined ? await findProject(dirname(resolve(cwd, file))) : await requireProject(context)
  const asked: Asked = { file, options, project }
  const held = options.dry === true ? await announce(context, asked) : new Set<string>()
  const { result, outputDir } = await conduct(context, asked)
  await withRecord(context, { project }, async ({ store }) => {
    const { conclusionLines, outputDirOf, storedEvidence } = await import('../../record/index.ts')
    const experiment = await store.experiment(result.experiment_id)
    const evidence = experiment === undefined ? undefined : storedEvidence(experiment)
    // Without a plan nothing was run: what was to be resumed has its end already.
    if (outputDir === '') output.notice(`${result.experiment_id} has finished already, and nothing is run again`)
    const folder = outputDir !== '' || experiment === undefined ? outputDir : outputDirOf(experiment, project)
    const page = shortPath(join(folder, 'experiment.md'), cwd)
    const dry = options.dry === true
    const commandWith = (...sets: readonly string[]) => commandOf(context, asked, sets)
    const text = () => resultText(result, { ...output, evidence, commandWith, page, dry, conclusionLines })
    if (!dry || experiment === undefined) return output.result(result, text)
    const [{ firstOfArms, previewsOf }, { dataTexts }] = await loadPreviews()
    const data = await previewsOf(experiment, firstOfArms(await store.runs(experiment.id)), project)
    const { planForecast, planPower } = await import('../../record/index.ts')
    const plan = await wholePlan(context, asked)
    const power = await planPower(store, plan, context.signal)
    // After the trial the pace is known.
    const forecast = await planForecast(store, remaining(plan, held), options)
    output.result({ ...result, data, reusable: held.size, power, forecast: forecastJson(forecast) }, () =>
      [text(), ...(output.quiet ? [] : dataTexts(data, output))].join('\n\n'),
    )
    if (output.quiet || forecast.runs === 0) return
    const what = held.size === 0 ? 'The whole plan' : 'What is not in the record yet'
    output.say(`\n${what}, by the pace of this trial:\n${forecastText(forecast, output)}`)
  })
  const unfinished = (result.runs ?? []).filter(({ status }) => status !== 'completed').length
  if (result.status === 'failed' || (unfinished > 0 && options.strict === true)) return exitCodes.failed
  if (unfinished > 0) {
    output.notice(`${unfinished} of ${result.runs?.length} runs did not complete; --strict makes that exit code 1`)
  }
  return exitCodes.done
}

function loadPreviews() {
  return Promise.all([import('./show.ts'), import('../output/data-text.ts')])
}

async function conduct(context: CommandContext, asked: Asked) {
  const { output, live, env, signal, cwd } = context
  const { file, project, options } = asked
  const { dry, steps, set, resume, fresh, maxConcurrent, seal, sandbox } = options
  const limits = limitsOf(options.limit)
  const colors = colorsFor(live, env)
  let outputDir = ''
  const notices: string[] = []
  using watch = createRunWatch({ live, quiet: output.quiet, colors, env, clock: systemClock, signal })
  try {
    const asIs = { projectDir: project, cwd, signal, steps, set, maxConcurrent, seal, sandbox, limits }
    const result = await context.holding(
      `the runs of ${file}`,
      () =>
        runExperiment(
          { file },
          {
            ...asIs,
            dry: dry === true,
            resume: resume === true,
            fresh: fresh === true,
            onPlan(prepared) {
              outputDir = prepared.outputDir
              for (const notice of prepared.notices) {
                output.notice(noticeText(notice, cwd))
                notices.push(noticeText(notice, cwd))
              }
              watch.begin(prepared.plan, prepared.runs)
            },
            onItem: (row, item) => watch.follow(row, item),
            onNotice: (text) => watch.say(text),
          },
        ),
      { onEnd: ', which save first' },
    )
    return { result: { ...result, notices: [...notices, ...(result.notices ?? [])] }, outputDir }
  } catch (error) {
    // Nothing is in the record before the plan is.
    if (signal.aborted && outputDir !== '' && !output.json) {
      const trial = dry === true ? ' --dry' : ''
      const again = fresh === true ? ' --fresh' : ''
      output.complain(`what is finished is kept; resume with\n  ${commandOf(context, asked)}${trial}${again} --resume`)
    }
    throw error
  }
}

const limitNames = { memory_mb: 'memoryMb', processes: 'processes', disk_mb: 'diskMb' } as const

/** Limits as they are written: `memory_mb=8192`. */
export function limitsOf(
  written: readonly string[] = [],
): Partial<Record<'memoryMb' | 'processes' | 'diskMb', number>> {
  return Object.fromEntries(
    written.map((text) => {
      const [, name = '', value = ''] = /^([a-z_]+)=([1-9]\d{0,8})$/.exec(text) ?? []
      const known = Object.entries(limitNames).find(([each]) => each === name)
      if (known !== undefined) return [known[1], Number(value)]
      throw new EvsysError('CLI_USAGE', `--limit ${text} is no limit`, {
        fix: `write one of ${Object.keys(limitNames).join(', ')}, such as --limit memory_mb=8192.`,
      })
    }),
  )
}

/** The same command again, without --dry, --fresh and --resume; `more` values are set in place of those that it set before. */
function commandOf({ project, cwd }: CommandContext, { file, options }: Asked, more: readonly string[] = []): string {
  const { steps, set = [], maxConcurrent, limit = [], seal, sandbox } = options
  const keyOf = (each: string) => each.split('=')[0]
  const kept = set.filter((each) => !more.some((other) => keyOf(other) === keyOf(each)))
  const words = [
    'evsys run',
    shellWord(file),
    ...(steps === undefined ? [] : [`--steps ${steps}`]),
    ...[...kept, ...more].map((each) => `--set ${shellWord(each)}`),
    ...(maxConcurrent === undefined ? [] : [`--max-concurrent ${maxConcurrent}`]),
    ...(seal === undefined ? [] : [`--seal ${seal}`]),
    ...limit.map((each) => `--limit ${each}`),
    ...(sandbox === undefined ? [] : [`--sandbox ${sandbox}`]),
    ...(project === undefined ? [] : [`--project ${shellWord(shortPath(project, cwd))}`]),
  ]
  return words.join(' ')
}

/** Says what the plan, uncapped, is, what it can find out and what it will take. Returns the runs that are in the record already. */
async function announce(context: CommandContext, asked: Asked): Promise<ReadonlySet<string>> {
  const { output, signal } = context
  // What is wrong with the file is reported by the run, which also asks its plugins.
  const plan = await wholePlan(context, asked).catch(() => undefined)
  if (plan === undefined) return new Set()
  const held = await heldOf(context, asked, plan)
  if (output.quiet) return held.now
  const { planForecast, planPower } = await import('../../record/index.ts')
  const text = await withRecord(context, { project: asked.project }, async ({ store }) => {
    const forecastOf = (each: Plan) => planForecast(store, each, asked.options)
    const whole = { power: await planPower(store, plan, signal), forecast: await forecastOf(plan) }
    const lines = forecastText(await forecastOf(remaining(plan, held.now)), output, whole)
    return held.once === 0 ? lines : `${lines}\n${labelledLines([['reuse', reuseText(held, plan)]], output)}`
  })
  const trial = 'A trial follows: a few steps of every run. It counts as no evidence.'
  output.say(`${planText(plan, output)}\n\n${text}\n\n${trial}\n`)
  return held.now
}

interface Held {
  /** Runs that a run of the file takes from the record. */
  readonly now: ReadonlySet<string>
  /** Those that the record has under the same configuration, whatever has changed around them. */
  readonly once: number
}

/** What of the plan, uncapped, the record holds: by the comparison of the run itself, which loads code, data and engine. */
async function heldOf(context: CommandContext, { file, options, project }: Asked, plan: Plan): Promise<Held> {
  if (options.fresh === true) return { now: new Set(), once: 0 }
  const { heldRuns } = await import('../../record/index.ts')
  const { size } = await withRecord(context, { project }, ({ store }) => heldRuns(store, plan, { projectDir: project }))
  if (size === 0) return { now: new Set(), once: 0 }
  const { output, signal, cwd } = context
  const { runsInRecord } = await loadLab()
  const asked = { cwd, set: options.set, projectDir: project, signal, onNotice: (text: string) => output.notice(text) }
  try {
    return { now: new Set(await runsInRecord({ file }, asked)), once: size }
  } catch (error) {
    if (signal.aborted) throw error
    return { now: new Set(), once: size } // the run, which comes next, reports it
  }
}

/** The plan with the runs alone that are still to be trained. */
function remaining(plan: Plan, held: ReadonlySet<string>): Plan {
  return { ...plan, runs: plan.runs.filter(({ name }) => !held.has(name)) }
}

function forecastJson(forecast: PlanForecast): NonNullable<ExperimentResult['forecast']> {
  const { runs, steps, evals, tokens, wallS, costUsd, maxConcurrent, measuredOn } = forecast
  return {
    ...{ runs, steps, evals, tokens, wall_s: wallS, cost_usd: costUsd },
    ...{ max_concurrent: maxConcurrent, measured_on: measuredOn },
  }
}

function reuseText({ now, once }: Held, { runs }: Plan): string {
  const [changed, rest] = [once - now.size, runs.length - now.size]
  const others =
    changed === 0
      ? ''
      : `; ${countText(changed, 'other')} ${changed === 1 ? 'is' : 'are'} there too, made by other code, data, engine or scorers, and ${changed === 1 ? 'is' : 'are'} trained again`
  const forecast = rest === 0 || now.size === 0 ? '' : `; the forecast is of the ${rest} that are left`
  return `${now.size} of ${countText(runs.length, 'run')} ${now.size === 1 ? 'is' : 'are'} in the record and will not be trained again${now.size === 0 ? '' : ' (--fresh trains all)'}${others}${forecast}`
}

async function wholePlan({ cwd, signal }: CommandContext, asked: Asked): Promise<Plan> {
  const { file, options, project } = asked
  const findWeights = weightsOfRecord(project, signal)
  return (await loadExperiment({ file }, { cwd, signal, set: options.set, findWeights })).plan
}

// The end of an experiment, as people read it: what came out, on which arms, where the files are, what to do next.
interface ResultTextOptions extends Pick<Output, 'colors' | 'width' | 'quiet'>, NextOptions {
  /** Page to open first, as the user would type it. */
  readonly page: string
  conclusionLines(text: string): readonly string[]
}

export function resultText(result: ExperimentResult, options: ResultTextOptions): string {
  const { colors, quiet } = options
  const { name, experiment_id, conclusion, wall_s } = result
  const verdict = conclusion?.verdict ?? 'failed'
  const first = `${verdictPaint(verdict, colors)(verdict)}: ${name} (${experiment_id}) in ${durationText(wall_s)}`
  if (quiet) return first
  const facts: Fact[] = [
    ['conclusion', options.conclusionLines(conclusion?.text ?? '').join('\n')],
    ['files', options.page],
    ...reuseFacts(result),
  ]
  const show = options.dry ? [] : [`evsys show ${experiment_id}`]
  return [
    first,
    labelledLines(facts, options),
    armTable(result, options),
    nextText([...show, ...nextSteps(result, options)], colors),
  ].join('\n\n')
}

// Scores that were known before are no fresh evidence, whatever the verdict on them says.
function reuseFacts({ runs = [] }: ExperimentResult): Fact[] {
  const reused = runs.flatMap(({ reused_from }) => reused_from ?? [])
  if (reused.length === 0) return []
  const from = [...new Set(reused.map(({ experiment_id }) => experiment_id))].join(', ')
  return [
    [
      'reused',
      `${reused.length} of ${countText(runs.length, 'run')} from ${from}, at no cost; they are no fresh seeds`,
    ],
  ]
}
