// `evsys validate FILE`: everything that is wrong with it at once, or the plan of what it would do.
import { constants, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  type ConfigSource,
  checkDraft,
  type DeepOptions,
  type ExperimentDraft,
  type LoadedExperiment,
  loadExperiment,
  loadTask,
  pluginReferences,
} from '../../config/index.ts'
import { ExperimentFile, TaskFile, type ValidateReport } from '../../contracts/index.ts'
import { type Catalog, EvsysError, type Problem, readSecretSource, type SecretSource } from '../../kernel/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { readStdin } from '../context/read-stdin.ts'
import { planText, taskText } from '../output/plan-text.ts'
import { noticeText } from '../output/text.ts'

export type ValidateOptions = {
  readonly deep?: true | undefined
  readonly set?: readonly string[] | undefined
  readonly dry?: true | undefined
  readonly steps?: number | undefined
  readonly task?: true | undefined
}

export async function validate(context: CommandContext, file: string, options: ValidateOptions): Promise<ExitCode> {
  const source = await readSource(context, file)
  const isTask = options.task === true || isTaskShaped(source.text ?? (await peek(resolve(context.cwd, file))))
  return isTask ? await validateTask(context, source, options) : await validateExperiment(context, source, options)
}

async function validateExperiment(
  context: CommandContext,
  source: { file: string },
  { deep, set = [], dry, steps }: ValidateOptions,
): Promise<ExitCode> {
  const { cwd, signal, output } = context
  const loaded = await loadExperiment(source, {
    cwd,
    signal,
    set,
    dry: dry === true,
    steps,
    refuseUnused: true,
    findWeights: async (name, kind, project, base) => {
      const { weightsOfRecord } = await import('../../lab/index.ts')
      const projectDir = context.project === undefined ? project : await projectOfRecord(context)
      return await weightsOfRecord(projectDir, signal)(name, kind, project, base)
    },
    furtherProblems: deep === true ? (draft) => draftProblems(context, draft) : undefined,
  })
  const checked = deep === true ? await checkDeeply(context, loaded) : undefined
  const { plan, notices, leaks } = checked ?? { plan: loaded.plan, notices: loaded.plan.notices, leaks: [] }
  const report: ValidateReport = {
    valid: true,
    file: loaded.name,
    deep: deep === true,
    name: plan.experiment.name,
    config_hash: plan.config_hash,
    objective: plan.objective,
    n_runs: plan.runs.length,
    arms: plan.arms,
    notices: [...notices],
    ...(leaks.length === 0 ? {} : { leaks: [...leaks] }),
  }
  const within = (first: string) => (output.quiet ? first : `${first}\n\n${planText(plan, output)}`)
  output.result(report, () => {
    const { green } = output.colors
    if (deep === true) return within(`${green('valid')}: ${loaded.name}, checked deeply`)
    const first = `${green('valid in form')}: ${loaded.name}`
    return within(output.quiet ? first : `${first}\nnot checked: plugins, files, data; --deep does`)
  })
  for (const notice of notices) output.notice(noticeText(notice, cwd))
  return exitCodes.done
}

async function projectOfRecord(context: CommandContext): Promise<string> {
  const { requireProject } = await import('../context/project.ts')
  return await requireProject(context)
}

async function draftProblems(context: CommandContext, draft: ExperimentDraft): Promise<readonly Problem[]> {
  return await withDeepCheck(context, draft, async ({ catalog, options }) => {
    const { problems } = await checkDraft(draft, catalog, options)
    return [...catalog.problems, ...problems]
  })
}

interface DeepCheck {
  readonly catalog: Catalog
  readonly projectDir: string
  readonly options: DeepOptions & { readonly secrets: SecretSource }
}

async function withDeepCheck<T>(
  context: CommandContext,
  draft: ExperimentDraft,
  use: (check: DeepCheck) => Promise<T>,
): Promise<T> {
  const { requireProject, withCatalog } = await import('../context/project.ts')
  const projectDir = context.project === undefined ? draft.project : await requireProject(context)
  return await withCatalog(context, { projectDir, plugins: pluginReferences(draft) }, async (catalog) => {
    const secrets = await readSecretSource({ projectDir, env: context.env })
    return use({ catalog, projectDir, options: { signal: context.signal, secrets } })
  })
}

/** Refuses what `run` would refuse, by the same checks. */
async function checkDeeply(context: CommandContext, loaded: LoadedExperiment) {
  return await withDeepCheck(context, loaded, async ({ catalog, projectDir, options }) => {
    const { loadLab } = await import('../../lab/index.ts')
    const { checkRunnable } = await loadLab()
    const { signal, secrets: secretSource } = options
    return await checkRunnable(loaded, catalog, { projectDir, secretSource, signal })
  })
}

async function validateTask(
  { cwd, signal, output }: CommandContext,
  source: ConfigSource,
  { deep, set, dry, steps }: ValidateOptions,
): Promise<ExitCode> {
  const misplaced = [set && '--set', dry && '--dry', steps && '--steps'].find((each) => typeof each === 'string')
  if (misplaced !== undefined) {
    throw new EvsysError('CLI_USAGE', `${misplaced} is for experiments, and this is a task file`, {
      fix: `leave ${misplaced} away.`,
    })
  }
  const { task, name } = await loadTask(source, { cwd, signal })
  output.result({ valid: true, file: name, deep: deep === true, name: task.name, task }, () => {
    const first = `${output.colors.green('valid')}: ${name}, a task file`
    return output.quiet ? first : `${first}\n\n${taskText(task, output)}`
  })
  return exitCodes.done
}

async function readSource(context: CommandContext, file: string): Promise<{ file: string; text?: string | undefined }> {
  return file === '-' ? { file: '<stdin>', text: await readStdin(context) } : { file }
}

/** Keys stand near the start; nothing more is read to find out what a file is. */
const peekedBytes = 1_000_000

// What cannot be read is reported by the loader. A pipe or a device is not even waited for.
async function peek(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    if (!(await file.stat()).isFile()) return ''
    const { buffer, bytesRead } = await file.read(Buffer.alloc(peekedBytes), 0, peekedBytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return ''
  }
}

// Task files and experiment files are both YAML with a name. Their keys tell them apart, also while they are broken.
/** Whether a text is meant to be a task file. In doubt it is an experiment. */
export function isTaskShaped(text: string): boolean {
  const keys = new Map<string, string>()
  for (const [, key = '', value = ''] of text.matchAll(/^["']?([A-Za-z_$]\w*)["']?[ \t]*:(?:[ \t]+(.*))?$/gm))
    keys.set(key, value)
  const run = keys.get('run')
  // A command is text; the run of an experiment is a mapping, in the lines below or in braces.
  const isCommand = run !== undefined && /^[^\s{[#&*!]/.test(run.trim())
  const names = [...keys.keys()]
  const isExperiment = names.some((key) => isKeyOf(ExperimentFile, key) && !isKeyOf(TaskFile, key))
  const isTask = names.some((key) => isKeyOf(TaskFile, key) && !isKeyOf(ExperimentFile, key))
  return isCommand ? !isExperiment : isTask && !isExperiment && run === undefined
}

function isKeyOf({ shape }: { shape: object }, key: string): boolean {
  return Object.hasOwn(shape, key)
}
