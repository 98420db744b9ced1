// `evsys task init NAME | validate NAME-OR-FILE | list`: tasks for the research loop.
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { loadTask } from '../../config/index.ts'
import { EvsysError, shellWord, suggest } from '../../kernel/index.ts'
import {
  bundledTasks,
  checkResearchTask,
  findTask,
  isResearchTask,
  loadResearchLoop,
  loadResearchTask,
  taskCards,
} from '../../research/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { projectOf } from '../context/project.ts'
import { taskText } from '../output/plan-text.ts'
import { table } from '../output/table.ts'
import { durationText, shortPath } from '../output/text.ts'
import { claimFolder, writeScaffold } from '../scaffold/write-scaffold.ts'

const actions = ['init', 'validate', 'list'] as const

export type TaskOptions = { readonly deep?: true | undefined; readonly runtime?: 'node' | 'python' | undefined }

export async function task(
  context: CommandContext,
  action: string,
  name: string | undefined,
  { deep, runtime = 'node' }: TaskOptions,
): Promise<ExitCode> {
  if (action === 'list') return await listTasks(context)
  if (action !== 'init' && action !== 'validate')
    throw new EvsysError('CLI_USAGE', `there is no "task ${action}"`, { fix: suggest(action, actions) })
  if (name === undefined) {
    throw new EvsysError('CLI_USAGE', `task ${action} needs a name`, { fix: `write \`evsys task ${action} NAME\`.` })
  }
  return action === 'init' ? await initTask(context, name, runtime) : await validateTask(context, name, deep === true)
}

async function initTask(context: CommandContext, name: string, runtime: 'node' | 'python'): Promise<ExitCode> {
  if (!/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/.test(name) || name.length > 80) {
    throw new EvsysError('CLI_USAGE', `"${name}" cannot name a task`, {
      fix: 'use lower case letters, digits, - and _, at most 80 of them.',
    })
  }
  // A task is a folder that runs anywhere; in a project its name is enough.
  const found = await projectOf(context)
  const project = found ?? context.cwd
  const folder = found === undefined ? name : join('tasks', name)
  await claimFolder(join(project, folder), 'choose another name.')
  const files = (await scaffoldOf(runtime)).map(({ file, text }) => ({
    path: join(folder, file),
    text: file === 'task.yaml' ? text.replace('NAME', name) : text,
  }))
  const { created } = await writeScaffold(project, files)
  const place = shellWord(found === undefined ? `./${name}` : name)
  context.output.result({ project, created }, () => {
    const { colors, quiet } = context.output
    const made = `${colors.green('made')} ${shortPath(join(project, folder), context.cwd)}`
    const next = `  evsys task validate ${place} --deep\n  evsys research baseline --task ${place}\n  evsys research run --task ${place} --max-experiments 12`
    return quiet ? made : `${made}\n\n${colors.bold('Next:')} put your own problem into it; as it is, it runs\n${next}`
  })
  return exitCodes.done
}

// Splits and scorer are the same whatever candidates are written in.
async function scaffoldOf(runtime: 'node' | 'python'): Promise<{ file: string; text: string }[]> {
  const shared = join(bundledTasks, 'shared')
  const own = join(shared, runtime === 'node' ? 'scaffold' : 'scaffold-python')
  const common = ['prepare.mjs', 'scorer.mjs']
  const places = (await readdir(own)).map((file) => ({ file, path: join(own, file) }))
  for (const file of common)
    if (!places.some((place) => place.file === file)) places.push({ file, path: join(shared, 'scaffold', file) })
  places.sort((a, b) => (a.file < b.file ? -1 : 1))
  return await Promise.all(places.map(async ({ file, path }) => ({ file, text: await readFile(path, 'utf8') })))
}

async function validateTask(context: CommandContext, name: string, deep: boolean): Promise<ExitCode> {
  const { cwd, env, signal, output } = context
  const projectDir = await projectOf(context)
  const { place, variant } = await findTask(name, { projectDir, cwd })
  const loaded = await loadTask({ file: relative(cwd, place.file) || place.file }, { cwd, signal })
  const isResearch = isResearchTask(loaded.task)
  const problems = isResearch ? await checkResearchTask(loaded) : []
  if (problems.length > 0) throw EvsysError.many(problems)
  const onNotice = (text: string) => output.notice(text)
  const options = { projectDir: projectDir ?? cwd, cwd, env, signal, onNotice }
  const reference = place.origin === 'path' ? place.file : name
  const ready = deep && isResearch ? await loadResearchTask(reference, options) : undefined
  if (ready !== undefined) await tryTask(context, ready, { ...options, task: reference })
  const document = {
    valid: true,
    file: loaded.name,
    deep,
    name: loaded.task.name,
    kind: isResearch ? 'research' : 'job',
    variant,
    task_hash: ready?.hash,
    task: loaded.task,
  }
  output.result(document, () => {
    const first = `${output.colors.green('valid')}: ${loaded.name}, a ${document.kind} task${deep ? ', checked deeply' : ''}`
    return output.quiet ? first : `${first}\n\n${taskText(loaded.task, output)}`
  })
  return exitCodes.done
}

/** Longest training of a check. */
const triedSeconds = 10

// The baseline as a session would run it, with the scorer, for a short time: only this shows that answers and scorer fit together.
async function tryTask(
  context: CommandContext,
  { name, trainSeconds }: { readonly name: string; readonly trainSeconds: number },
  options: { task: string; projectDir: string; cwd: string; env: CommandContext['env']; signal: AbortSignal },
): Promise<void> {
  const seconds = Math.min(trainSeconds, triedSeconds)
  context.output.notice(
    `running the baseline of ${name} once, about ${durationText(seconds)} of training and its scoring`,
  )
  const { measureBaseline } = await loadResearchLoop()
  const { failure } = await context.holding(`the baseline of ${name}`, () =>
    measureBaseline({ ...options, seeds: 1, trainSeconds: seconds }),
  )
  if (failure === undefined) return
  const log = failure.log === undefined ? '' : `\n${failure.log}`
  throw new EvsysError('CONFIG_INVALID', `the baseline of ${name} fails: ${failure.class}: ${failure.reason}${log}`, {
    fix: `mend the program or its scorer; \`evsys research baseline --task ${options.task}\` runs it whole.`,
  })
}

async function listTasks(context: CommandContext): Promise<ExitCode> {
  const { cwd, signal, output } = context
  const tasks = await taskCards({ projectDir: await projectOf(context), cwd, signal })
  output.result({ tasks }, () => {
    const rows = tasks.map(({ name, origin, metric, direction, train_seconds, variants, description, errors }) => [
      [name, ...variants.map((variant) => `${name}/${variant}`)].join(', '),
      metric === undefined ? '' : `${metric} (${direction})`,
      train_seconds === undefined ? '' : `${train_seconds} s`,
      origin,
      errors[0]?.message ?? description ?? '',
    ])
    const head = ['TASK', 'METRIC', 'TRAINS', 'FROM', 'WHAT']
    return table(rows, { head, width: output.width, paintHead: output.colors.bold })
  })
  return tasks.some(({ errors }) => errors.length > 0) ? exitCodes.wrongInput : exitCodes.done
}
