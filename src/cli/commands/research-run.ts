// `evsys research run`: a session of the research loop. It watches and prints; the loop does the work.
import { dirname, join, resolve } from 'node:path'
import { findProject } from '../../config/index.ts'
import { Params, ResearchBudget } from '../../contracts/index.ts'
import { EvsysError, messageOf, shellWord, systemClock } from '../../kernel/index.ts'
import { loadResearchLoop, type WrittenWinner } from '../../research/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { projectOrHere, withRecord } from '../context/project.ts'
import { colorsFor } from '../output/colors.ts'
import { researchDocument, researchResultText } from '../output/research-text.ts'
import { createResearchWatch } from '../output/research-watch.ts'

export type ResearchRunOptions = {
  readonly task?: string | undefined
  /** An experiment file in place of a task. */
  readonly experiment?: string | undefined
  readonly maxExperiments?: number | undefined
  readonly trainSeconds?: number | undefined
  readonly model?: string | undefined
  readonly proposer?: string | undefined
  readonly proposerParams?: string | undefined
  readonly strategy?: string | undefined
  readonly keepRule?: string | undefined
  readonly preset?: 'explore' | 'balanced' | 'strict' | undefined
  readonly workers?: number | undefined
  readonly budget?: readonly string[] | undefined
  readonly seed?: number | undefined
  readonly sandbox?: 'auto' | 'bubblewrap' | 'chroot' | 'process' | undefined
  readonly resume?: true | undefined
  readonly session?: string | undefined
}

export const USUAL_TASK = 'shakespeare'

export async function researchRun(
  context: CommandContext,
  file: string | undefined,
  options: ResearchRunOptions,
): Promise<ExitCode> {
  const { output, live, env, signal, cwd } = context
  const { maxExperiments, budget, experiment: named, ...rest } = options
  const experiment = experimentOf(file, named, options)
  const task = experiment ?? options.task ?? USUAL_TASK
  const caps = readBudget(budget ?? [], maxExperiments)
  if (options.session !== undefined && options.resume !== true) {
    throw new EvsysError('CLI_USAGE', '--session names a session to resume', { fix: 'write --resume, too.' })
  }
  const project = experiment === undefined ? await projectOrHere(context) : await projectOfFile(context, experiment)
  return await withRecord(context, { create: true, project }, async ({ store }) => {
    const { startResearch, startExperimentResearch } = await loadResearchLoop()
    using watch = createResearchWatch({ live, quiet: output.quiet, colors: colorsFor(live, env), clock: systemClock })
    const { resume, trainSeconds, proposerParams, sandbox, task: _task, ...chosen } = rest
    const asked = { projectDir: project, cwd, env, store, signal, budget: caps, ...chosen }
    const result = await context.holding(
      `the session of ${task}`,
      () => {
        const session: Omit<Parameters<typeof startResearch>[0], 'task'> = {
          ...asked,
          resume: resume === true,
          proposerParams: proposerParams === undefined ? undefined : readParams(proposerParams),
          onNotice: (text) => output.notice(text),
          onBegin: (begun) => watch.begin(begun),
          onEntry: (entry, state) => watch.follow(entry, state),
        }
        return experiment === undefined
          ? startResearch({ ...session, task, trainSeconds })
          : startExperimentResearch({ ...session, file: experiment, sandbox })
      },
      { onEnd: ', which saves first' },
    )
    watch[Symbol.dispose]()
    if (result.status === 'interrupted') {
      const what = experiment === undefined ? `--task ${shellWord(task)}` : shellWord(task)
      const command = `evsys research run ${what} --resume${trainSeconds === undefined ? '' : ` --train-seconds ${trainSeconds}`}`
      output.complain(`everything is kept (${result.experimentId}); resume with\n  ${command}`)
      signal.throwIfAborted()
    }
    const session = researchDocument(result.experimentId, result.state, systemClock.now())
    const document = experiment === undefined ? session : { ...session, winner: result.winner ?? null }
    output.result(document, () => {
      const text = researchResultText(session, { ...output, task })
      return result.winner === undefined ? text : `${text}\n${winnerText(result.winner)}`
    })
    return result.state.end?.reason === 'failed' ? exitCodes.failed : exitCodes.done
  })
}

// As `evsys run FILE` finds it.
async function projectOfFile({ project, cwd }: CommandContext, file: string): Promise<string> {
  return project ?? (await findProject(dirname(resolve(cwd, file))))
}

function winnerText({ folder, adapter, reason }: WrittenWinner): string {
  const weights =
    adapter === undefined ? `no adapter: ${reason ?? 'none was exported'}` : `its adapter is in ${adapter}`
  return `winner: ${folder}; ${weights}\nagain: evsys run ${shellWord(join(folder, 'config.yaml'))}`
}

/** The experiment file that was asked for; undefined: a task was. */
function experimentOf(
  file: string | undefined,
  named: string | undefined,
  { task, trainSeconds, sandbox }: ResearchRunOptions,
): string | undefined {
  const experiment = file ?? named
  const both = [file, named, task].filter((each) => each !== undefined)
  if (both.length > 1) {
    throw new EvsysError('CLI_USAGE', `research runs over one thing, not over ${both.join(' and ')}`, {
      fix: 'name an experiment file, or a task with --task.',
    })
  }
  if (experiment !== undefined && trainSeconds !== undefined) {
    throw new EvsysError('CLI_USAGE', '--train-seconds is for tasks: an experiment file says how long it trains', {
      fix: 'leave it away; the file has algorithm.params.max_steps.',
    })
  }
  if (experiment === undefined && sandbox !== undefined) {
    throw new EvsysError('CLI_USAGE', '--sandbox is for experiment files: candidates of tasks are always shut in', {
      fix: 'leave it away.',
    })
  }
  return experiment
}

function readParams(text: string): Params {
  try {
    return Params.parse(JSON.parse(text))
  } catch (cause) {
    throw new EvsysError('CLI_USAGE', `--proposer-params is no JSON object: ${messageOf(cause)}`, {
      cause,
      fix: 'write it in quotes: --proposer-params \'{"file": "tape.jsonl"}\'. `evsys schema proposer KIND` prints what it takes.',
    })
  }
}

/** Caps as they were written: `wall=2h`, `usd=5`. */
function readBudget(words: readonly string[], maxExperiments: number | undefined): ResearchBudget {
  const pairs = words.flatMap((word) => word.split(',')).map((word) => word.split('='))
  const entries = pairs.map(([name = '', ...value]): [string, unknown] => {
    const text = value.join('=')
    return [name.trim(), /^\d+(?:\.\d+)?$|^\.\d+$/.test(text) ? Number(text) : text]
  })
  if (maxExperiments !== undefined) entries.push(['experiments', maxExperiments])
  const parsed = ResearchBudget.safeParse(Object.fromEntries(entries))
  if (parsed.success) return parsed.data
  const known = Object.keys(ResearchBudget.shape)
  const faults = entries.filter(([name]) => !known.includes(name)).map(([name]) => `there is no cap "${name}"`)
  const values = parsed.error.issues.flatMap(({ path: [name] }) =>
    typeof name === 'string'
      ? [`"${entries.find(([each]) => each === name)?.[1] ?? ''}" is no amount for the cap ${name}`]
      : [],
  )
  throw new EvsysError('CLI_USAGE', `--budget: ${[...faults, ...values].join('; ')}`, {
    fix: 'write --budget wall=2h, usd=5, tokens=1000000 or experiments=50.',
  })
}
