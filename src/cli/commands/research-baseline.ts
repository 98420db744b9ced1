// `evsys research baseline`: the baseline of a task on a few seeds. No key is needed, and nothing is recorded.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileError, systemClock } from '../../kernel/index.ts'
import { loadResearchLoop } from '../../research/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { projectOrHere } from '../context/project.ts'
import { bytesText, durationText, numberText } from '../output/text.ts'
import { USUAL_TASK } from './research-run.ts'

export type ResearchBaselineOptions = {
  readonly task?: string | undefined
  readonly trainSeconds?: number | undefined
  /** How many, or which. */
  readonly seeds?: number | readonly number[] | undefined
  /** Files. */
  readonly patch?: readonly string[] | undefined
}

export async function researchBaseline(
  context: CommandContext,
  { task: reference = USUAL_TASK, trainSeconds, seeds, patch = [] }: ResearchBaselineOptions,
): Promise<ExitCode> {
  const { output, cwd, env, signal } = context
  const projectDir = await projectOrHere(context)
  const patches = await Promise.all(patch.map((file) => readPatch(resolve(cwd, file), file)))
  const { measureBaseline } = await loadResearchLoop()
  const started = systemClock.now()
  const asked = { task: reference, projectDir, cwd, env, signal, seeds, patches, trainSeconds }
  const measured = await context.holding(`the baseline of ${reference}`, () =>
    measureBaseline({
      ...asked,
      onNotice: (text) => output.notice(text),
      onScore: ({ seed, value, wallS, peakMemoryBytes }) => {
        const memory = peakMemoryBytes === undefined ? '' : `, ${bytesText(peakMemoryBytes)} of memory`
        if (!output.quiet) output.complain(`seed ${seed}: ${numberText(value)} in ${durationText(wallS)}${memory}`)
      },
    }),
  )
  const { task, scores, failure, mean, seedSd } = measured
  const document = {
    task: task.name,
    metric: task.metric,
    patches: patch.length === 0 ? undefined : patch,
    accelerator: task.program?.accelerator?.name,
    direction: task.direction,
    train_seconds: task.trainSeconds,
    score: mean === undefined ? null : { mean, n: scores.length, seed_sd: seedSd },
    by_seed: scores.map(({ seed, value, secondary, wallS, peakMemoryBytes }) => ({
      seed,
      value,
      secondary,
      wall_s: wallS,
      memory_gb: peakMemoryBytes === undefined ? undefined : peakMemoryBytes / 1e9,
    })),
    failure: failure ?? null,
    wall_s: (systemClock.now() - started) / 1000,
  }
  output.result(document, () => {
    if (failure !== undefined)
      return `${output.colors.red('failed')} ${failure.class}: ${failure.reason}${failure.log === undefined ? '' : `\n\n${failure.log}`}`
    // Equal scores have a spread of a rounding error.
    const isEqual = seedSd !== undefined && seedSd <= 1e-9 * Math.abs(mean ?? 0)
    const differ = isEqual ? ', equal on all seeds' : `, seeds differ by ${numberText(seedSd ?? 0)} (one sigma)`
    const unknown = task.table === undefined ? ', noise not measured: it takes two seeds, --seeds 2' : ''
    const spread = seedSd === undefined ? unknown : differ
    const better = task.direction === 'min' ? 'lower' : 'higher'
    const changed = patch.length === 0 ? '' : ` with ${patch.join(', ')}`
    return `${output.colors.bold(task.name)}${changed}: ${task.metric} ${numberText(mean ?? Number.NaN)} (${better} is better)${spread}`
  })
  return failure === undefined ? exitCodes.done : exitCodes.failed
}

async function readPatch(path: string, name: string): Promise<{ name: string; text: string }> {
  try {
    return { name, text: await readFile(path, 'utf8') }
  } catch (cause) {
    throw fileError('read', name, cause)
  }
}
