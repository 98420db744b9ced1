// `evsys benchmark run --path FOLDER`, where the folder is a Harbor task, or holds such tasks: an agent attempts them, their tests score.
import { basename, join, resolve } from 'node:path'
import type { PluginSpec } from '../../contracts/index.ts'
import { EvsysError, messageOf, readSecretSource, systemClock } from '../../kernel/index.ts'
import { type JobFile, loadLab } from '../../lab/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { projectOf, withRecord } from '../context/project.ts'
import { decimalText, scoresTable } from '../output/eval-text.ts'
import type { Output } from '../output/output.ts'
import { table } from '../output/table.ts'
import { shortPath } from '../output/text.ts'
import type { ScoringOptions } from './eval.ts'

export type FolderOptions = ScoringOptions & {
  readonly model?: string | undefined
  readonly agent?: string | undefined
  readonly agentParams?: string | undefined
  readonly environment?: string | undefined
  readonly output?: string | undefined
  readonly maxTurns?: number | undefined
  readonly retries?: number | undefined
}

/** A job file of Harbor: what the command line says wins over it. */
export async function runJobFile(context: CommandContext, file: string, options: FolderOptions): Promise<ExitCode> {
  const { readJobFile } = await loadLab()
  const job = await readJobFile(resolve(context.cwd, file), context.cwd)
  const { model, limit, output, numSamples, concurrent } = job
  const kinds = { agent: job.agent.kind, environment: job.environment.kind }
  const written = { model, limit, output, numSamples, concurrent, ...kinds, ...options }
  return await runFolders(context, job.path, written, job)
}

export async function runFolders(
  context: CommandContext,
  path: string,
  options: FolderOptions,
  file?: JobFile,
): Promise<ExitCode> {
  const { output, cwd, signal } = context
  const { agent: kind = options.model === undefined ? undefined : 'shell_loop' } = options
  if (kind === undefined) {
    throw new EvsysError('CLI_USAGE', 'benchmark run needs a model, or an agent that asks none', {
      fix: 'add --model claude-sonnet-4-6, or --agent oracle to see whether the tasks can be solved.',
    })
  }
  const own = kind === file?.agent.kind ? file.agent.params : {}
  const agent: PluginSpec = { kind, params: { ...own, ...paramsOf(options.agentParams) } }
  const place = options.environment ?? 'auto'
  const project = await projectOf(context)
  const model = await modelOf(context, options.model)
  const { newJobFolder, runTaskFolders } = await loadLab()
  const base = project === undefined ? join(cwd, 'jobs') : join(project, '.evsys', 'jobs')
  const outputDir =
    options.output === undefined ? newJobFolder(base, new Date(systemClock.now())) : resolve(cwd, options.output)
  const secretSource = await readSecretSource({ projectDir: project ?? cwd, env: context.env })
  const run = await context.holding('the trials', () =>
    runTaskFolders({
      path: resolve(cwd, path),
      outputDir,
      agent,
      secretSource,
      signal,
      hostEnv: context.env,
      model,
      environment: { kind: place, params: place === file?.environment.kind ? file.environment.params : {} },
      job: file && retried(file.job, options),
      jobAgent: file?.jobAgent,
      sampling: { maxTokens: options.maxTokens ?? 4096, temperature: options.temperature ?? 0 },
      maxTurns: options.maxTurns,
      numSamples: options.numSamples ?? 1,
      limit: options.limit,
      concurrent: options.concurrent ?? 4,
      maxRetries: options.retries ?? 1,
      metrics: options.metric ?? ['mean_reward', 'pass_rate'],
      onNotice: (text) => output.notice(text),
      onTrial: ({ result, reward, error }, done, total) =>
        output.say(`${done}/${total} ${result.task_name}: ${reward ?? error?.message ?? 'no score'}`),
    }),
  )
  const asked = { folder: outputDir, agent: kind, model: options.model ?? null, path: resolve(cwd, path) }
  const document = foldersDocument(run, asked)
  output.result(document, () => foldersText(document, { ...output, place: shortPath(outputDir, cwd) }))
  const isBlank = document.n_infra_failed === run.nTasks * (options.numSamples ?? 1)
  return isBlank || document.aborted !== undefined ? exitCodes.failed : exitCodes.done
}

type FoldersRun = Awaited<ReturnType<Awaited<ReturnType<typeof loadLab>>['runTaskFolders']>>

function foldersDocument(
  { end, score, failures, benchmarkHash, nTasks }: FoldersRun,
  { folder, agent, model, path }: { folder: string; agent: string; model: string | null; path: string },
) {
  const unlessEmpty = <T extends object>(value: T) => (Object.keys(value).length === 0 ? undefined : value)
  return {
    job_id: end.result.id,
    folder,
    agent,
    model,
    benchmark: { name: basename(path), folder: path },
    benchmark_hash: benchmarkHash,
    n_tasks: nTasks,
    n_trials: end.trials.length,
    n_kept: end.trials.filter(({ isKept }) => isKept).length,
    metrics: score.metrics,
    intervals: unlessEmpty(score.intervals),
    bounds: unlessEmpty(score.bounds),
    n_infra_failed: score.n_infra_failed,
    failures: unlessEmpty(failures.slice(0, 5)),
    aborted: end.aborted,
    trials: end.trials.map(({ result, reward, error, planned }) => ({
      task: result.task_name,
      attempt: planned.attempt,
      trial: result.trial_name,
      reward: reward ?? null,
      steps: result.step_results?.map(({ step_name: name, verifier_result: verified }) => {
        return { name, rewards: verified?.rewards ?? null }
      }),
      error,
    })),
    cost_usd: end.result.stats.cost_usd,
  }
}

// What --retries says wins over the file.
function retried(job: JobFile['job'], { retries }: FolderOptions): JobFile['job'] {
  return retries === undefined ? job : { ...job, retry: { ...Object(job.retry), max_retries: retries } }
}

// A run of this project, or any model by its name: outside of a project there are no runs to look among.
async function modelOf(context: CommandContext, name: string | undefined) {
  if (name === undefined) return undefined
  const { modelTarget, targetClient } = await loadLab()
  const project = await projectOf(context)
  if (project === undefined) return modelTarget(name)
  return withRecord(context, { project }, ({ store }) => targetClient(store, name, { projectDir: project }))
}

function paramsOf(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch (cause) {
    throw new EvsysError('CLI_USAGE', `--agent-params is no JSON: ${messageOf(cause)}`, { cause })
  }
  throw new EvsysError('CLI_USAGE', '--agent-params is no object', { fix: `write it as '{"max_turns": 20}'.` })
}

const mostTrials = 20

/** The score of an agent on task folders, as a person reads it. */
function foldersText(
  shown: ReturnType<typeof foldersDocument>,
  { colors, width, place }: Pick<Output, 'colors' | 'width'> & { place: string },
): string {
  const { agent, model, benchmark, n_tasks, n_trials, n_kept, failures = [], trials, cost_usd } = shown
  const who = model === null ? agent : `${agent} with ${model}`
  const rows = trials
    .slice(0, mostTrials)
    .map((each) => [each.task, each.trial, each.reward === null ? 'open' : decimalText(each.reward)])
  const more = trials.length - rows.length
  return [
    `${colors.bold(who)} on ${benchmark.name}: ${n_tasks} tasks, ${n_trials} trials${n_kept === 0 ? '' : `, ${n_kept} of them from before`}`,
    table(rows, { head: ['TASK', 'TRIAL', 'REWARD'], width, paintHead: colors.bold }),
    ...(more > 0 ? [`and ${more} more`] : []),
    scoresTable(shown, { colors, width }),
    ...(shown.n_infra_failed === 0
      ? []
      : [
          `${shown.n_infra_failed} attempts have no score and count as the worst: ${failures.map(({ message, count }) => `${message} (${count})`).join('; ')}`,
        ]),
    ...(shown.aborted === undefined ? [] : [`stopped early: ${shown.aborted}`]),
    ...(cost_usd === null || cost_usd === 0 ? [] : [`cost ${decimalText(cost_usd)} USD`]),
    `kept in ${place}; with --output ${place} it resumes from there`,
  ].join('\n')
}
