// The baseline of a task by itself: a first look before anything is spent.
import type { AttemptFailure, CandidateFiles, Metrics, ResearchTask } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { openExecutor } from '../execute/open-executor.ts'
import { freshSeeds, openBank, openNoise } from '../judge/index.ts'
import { applyPatch } from '../propose/code/apply-patch.ts'
import { loadResearchTask } from '../tasks/load-research-task.ts'

export interface BaselineScoreOf {
  readonly seed: number
  readonly value: number
  readonly secondary: Metrics
  readonly wallS: number
  readonly peakMemoryBytes?: number
}

export interface MeasuredBaseline {
  readonly task: ResearchTask
  readonly scores: readonly BaselineScoreOf[]
  readonly mean?: number
  /** Present from two seeds on. */
  readonly seedSd?: number
  readonly failure?: AttemptFailure
}

export async function measureBaseline(options: {
  readonly task: string
  readonly projectDir: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** How many, or which. */
  readonly seeds: number | readonly number[]
  readonly trainSeconds?: number
  /** Unified diffs, in their order; the candidate is the baseline with them. */
  readonly patches?: readonly { readonly name: string; readonly text: string }[]
  onNotice?(text: string): void
  onScore?(score: BaselineScoreOf): void
}): Promise<MeasuredBaseline> {
  const { projectDir, cwd, env, signal, trainSeconds, seeds } = options
  const task = await loadResearchTask(options.task, {
    projectDir,
    cwd,
    env,
    signal,
    ...(trainSeconds === undefined ? {} : { trainSeconds }),
    onNotice: (text) => options.onNotice?.(text),
  })
  const files = patched(task.baseline, options.patches ?? [])
  await using executor = await openExecutor(task, { onNotice: (text) => options.onNotice?.(text) })
  const [problem] = await executor.check(files, signal)
  const scores: BaselineScoreOf[] = []
  if (problem !== undefined) return { task, scores, failure: problem }
  const chosen = typeof seeds === 'number' ? firstSeeds(task, seeds) : seeds
  for (const seed of chosen) {
    const outcome = await executor.run({ files, seed, split: 'val', trainSeconds: task.trainSeconds }, signal)
    if (outcome.status === 'failed') return { task, scores, failure: outcome.failure }
    if (outcome.status === 'killed') continue
    const { value, secondary, wallS, peakMemoryBytes } = outcome
    const score = { seed, value, secondary, wallS, ...(peakMemoryBytes === undefined ? {} : { peakMemoryBytes }) }
    scores.push(score)
    options.onScore?.(score)
  }
  const mean = scores.reduce((sum, { value }) => sum + value / scores.length, 0)
  return { task, scores, mean, ...(scores.length > 1 ? { seedSd: openNoise(scores).seedSd } : {}) }
}

// Those of the races first.
function firstSeeds(task: ResearchTask, count: number): readonly number[] {
  const own = [...new Set([...openBank(task.seeds, 0), ...task.seeds])]
  const more = freshSeeds({ sessionSeed: 0, path: ['baseline'], count: Math.max(0, count - own.length), used: own })
  return [...own, ...more].slice(0, count)
}

function patched(baseline: CandidateFiles, patches: readonly { name: string; text: string }[]): CandidateFiles {
  return patches.reduce<CandidateFiles>((files, { name, text }) => {
    const result = applyPatch(files, text)
    if ('files' in result) return result.files
    throw new EvsysError('CONFIG_INVALID', `${name} does not fit the baseline: ${result.problems.join('; ')}`, {
      fix: 'give the patches that it needs before it, in their order: the README beside it names them.',
    })
  }, baseline)
}
