// The second opinion on rollouts: a verifier that the reward does not use scores the same answers. What it says is never trained on.
import { GuardParams } from '../../../algorithms/index.ts'
import type { HarborTask, Metrics, Trajectory } from '../../../contracts/index.ts'
import { verifyAnswer } from '../../../evaluate/index.ts'
import { equip, type RunServices } from '../run-context.ts'

/** Longest that it may take over one answer. */
const VERIFY_MS = 60_000

export interface HeldOut {
  /** Undefined where there is nothing to score or no verdict: that one counts for nothing. */
  score(task: HarborTask, trajectory: Trajectory, signal: AbortSignal): Promise<number | undefined>
}

/** The held-out verifier that the params of a recipe name; undefined: they name none. */
export function createHeldOut(services: RunServices, params: unknown): HeldOut | undefined {
  const spec = GuardParams.safeParse(params).data?.held_out_verifier
  if (spec === undefined) return undefined
  const equipped = equip('verifier', spec, services)
  return {
    async score(task, { sample, output, reward }, signal) {
      if (reward === undefined) return undefined
      const expected = task.verifier.kind === 'in_process' ? task.verifier.expected : undefined
      const answer = { task, output: output ?? '', expected, sample, timeoutMs: VERIFY_MS }
      const verified = await verifyAnswer(equipped, { ...answer, signal })
      if ('reward' in verified) return verified.reward
      services.log('warn', `held-out verifier, task "${task.task_id}": ${verified.failure}`)
      return undefined
    },
  }
}

/** `scores`: in the order of tasks and samples, so that sums are the same whoever was faster. */
export function heldOutMetrics(scores: readonly (number | undefined)[]): Metrics {
  const known = scores.flatMap((score) => score ?? [])
  if (known.length === 0) return {}
  return { 'heldout/mean': known.reduce((sum, score) => sum + score, 0) / known.length }
}
