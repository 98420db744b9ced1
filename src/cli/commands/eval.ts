// `evsys eval TARGET --benchmark B`: a model on a benchmark, outside of any experiment. The score is kept below `.evsys/evals`.
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Benchmark, samplesNamed } from '../../contracts/index.ts'
import { findBenchmark, readBenchmarkFolder } from '../../evaluate/index.ts'
import { checkValue, createIds, EvsysError, readSecretSource, systemClock, systemRandom } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import { evalText } from '../output/eval-text.ts'
import { shortPath } from '../output/text.ts'

export type ScoringOptions = {
  readonly metric?: readonly string[] | undefined
  readonly numSamples?: number | undefined
  readonly maxTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly limit?: number | undefined
  readonly concurrent?: number | undefined
  readonly systemPrompt?: string | undefined
  readonly breakdown?: readonly string[] | undefined
  readonly split?: 'val' | 'test' | undefined
}

export type EvalOptions = ScoringOptions & { readonly benchmark: string; readonly step?: number | undefined }

export async function evalCommand(context: CommandContext, target: string, options: EvalOptions): Promise<ExitCode> {
  const { output, signal, cwd } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const { evaluateModel, keepEval, keptEvals, targetClient } = await loadLab()
    const place = await placeOf(options.benchmark, { cwd, project, signal })
    const { label, client, run, agent } = await targetClient(store, target, {
      projectDir: project,
      cwd,
      step: options.step,
    })
    const benchmark = { ...benchmarkOf(place.name, options), ...(agent && { agent }) }
    const secretSource = await readSecretSource({ projectDir: project, env: context.env })
    const { evalAnswersFile } = await import('../../record/index.ts')
    const eval_id = createIds({ clock: systemClock, random: systemRandom }).next('eval')
    const answers = evalAnswersFile(project, eval_id)
    let answered = 0
    const evaluated = await context.holding(`the evaluation of ${label}`, () =>
      evaluateModel({
        benchmark,
        folder: place.folder,
        client,
        projectDir: project,
        plugins: [],
        secretSource,
        answersFile: answers,
        signal,
        onAnswer() {
          answered += 1
          if (answered % 100 === 0) output.say(`${answered} answers`)
        },
      }),
    )
    const { scored, usage, predictions } = evaluated
    const kept = {
      version: 1 as const,
      eval_id,
      at: new Date(systemClock.now()).toISOString(),
      model: label,
      run_id: run?.id,
      step: run?.step,
      benchmark,
      folder: place.folder,
      scored,
      cost_usd: usage.unpriced > 0 ? null : usage.costUsd,
    }
    await keepEval(project, kept, predictions)
    const looks = (await keptEvals(project)).filter(({ folder, benchmark: each }) => {
      return each.name === benchmark.name && folder === place.folder
    }).length
    const { rewards: _rewards, ...summary } = scored
    const document = {
      eval_id: kept.eval_id,
      model: label,
      benchmark: { name: benchmark.name, folder: place.folder, split: benchmark.split, looks },
      ...summary,
      answers: shortPath(answers, cwd),
      cost_usd: kept.cost_usd,
      usage: { prompt_tokens: usage.promptTokens, completion_tokens: usage.completionTokens, calls: usage.calls },
    }
    output.result(document, () => evalText(document, { ...output, folder: shortPath(place.folder, cwd) }))
    return scored.error === undefined ? exitCodes.done : exitCodes.failed
  })
}

/** The folder of a benchmark that is named by its path or by its name in the project. */
async function placeOf(
  reference: string,
  { cwd, project, signal }: { cwd: string; project: string; signal: AbortSignal },
): Promise<{ folder: string; name: string }> {
  const folder = resolve(cwd, reference)
  if (await isFolder(folder)) return { folder, name: (await readBenchmarkFolder(folder, { signal })).name }
  const { folder: stored, name } = await findBenchmark(project, reference)
  return { folder: stored, name }
}

function benchmarkOf(name: string, options: ScoringOptions): Benchmark {
  const { metric, numSamples, maxTokens, temperature, limit, concurrent, systemPrompt, breakdown, split } = options
  const checked = checkValue(Benchmark, {
    name: name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80) || 'benchmark',
    split: split ?? 'test',
    metrics: metric,
    num_samples: numSamples ?? samplesNamed(metric ?? []),
    max_tokens: maxTokens,
    temperature,
    limit,
    n_concurrent: concurrent,
    breakdown_keys: breakdown,
    chat_template: systemPrompt === undefined ? undefined : { system_prompt: systemPrompt },
  })
  if (checked.ok) return checked.value
  const [issue] = checked.issues
  throw new EvsysError('CLI_USAGE', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}`)
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
