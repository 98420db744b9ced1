import { describe, expectTypeOf, it } from 'vitest'
import type { RolloutError } from './error.ts'
import type {
  ComputeProvider,
  ExecResult,
  JobState,
  Level,
  PolicyRef,
  Rollout,
  Sandbox,
  Trajectory,
  Turn,
} from './execution.ts'
import type { HarborTask } from './rows.ts'
import type { StateRef, Weights } from './training-service.ts'

declare const policy: PolicyRef
declare const turn: Turn
declare const trajectory: Trajectory
declare const rollout: Rollout
declare const sandbox: Sandbox
declare const task: HarborTask
declare const signal: AbortSignal
declare const state: StateRef

describe('a policy', () => {
  it('is weights that are served here, or a model behind an API', () => {
    if ('weights' in policy) expectTypeOf(policy.weights).toEqualTypeOf<Weights>()
    else expectTypeOf(policy.client.kind).toEqualTypeOf<string>()
    expectTypeOf({ weights: { baseModel: 'evsys/tiny' } }).toExtend<PolicyRef>()
    expectTypeOf({ weights: state }).not.toExtend<PolicyRef>()
  })
})

describe('a turn', () => {
  it('is trained on only where its exact tokens and their policy are known', () => {
    // @ts-expect-error a model behind an API does not tell its tokens
    turn.tokens.logprobs
    if (turn.tokens !== undefined) {
      expectTypeOf(turn.tokens.logprobs).toEqualTypeOf<Float64Array>()
      expectTypeOf(turn.tokens.policyVersion).toEqualTypeOf<number>()
    }
  })
})

describe('a trajectory', () => {
  it('without a reward is no trajectory with reward zero', () => {
    expectTypeOf(trajectory.reward).toEqualTypeOf<number | undefined>()
    expectTypeOf(trajectory.error).toEqualTypeOf<RolloutError | undefined>()
    const usage = { promptTokens: 0, completionTokens: 0, latencyS: 0 }
    const error = { code: 'BACKEND_FAILED', message: 'gone', infra: true } as const
    expectTypeOf({ taskId: 't', sample: 0, turns: [], usage, error }).toExtend<Trajectory>()
  })

  it('comes of a rollout that says how answers are drawn', () => {
    const request = { task, agent: { kind: 'chat', params: {} }, policy, seedPath: ['rollout', 1, 't', 0], sample: 0 }
    const sampling = { maxTokens: 8, temperature: 0 }
    expectTypeOf(rollout({ ...request, sampling }, signal)).resolves.toEqualTypeOf<Trajectory>()
    // @ts-expect-error nothing is assumed about sampling
    void rollout(request, signal)
  })
})

describe('a sandbox', () => {
  it('says how strong it is and which limit ended a command', () => {
    expectTypeOf(sandbox.level).toEqualTypeOf<Level>()
    expectTypeOf<ExecResult['limitHit']>().toEqualTypeOf<
      'timeoutMs' | 'memoryBytes' | 'outputBytes' | 'processes' | 'diskBytes' | undefined
    >()
    const limits = { timeoutMs: 1, memoryBytes: 1, outputBytes: 1, processes: 1, diskBytes: 1 }
    void sandbox.exec({ argv: ['true'], limits }, signal)
    // @ts-expect-error every limit is stated
    void sandbox.exec({ argv: ['true'], limits: { timeoutMs: 1 } }, signal)
  })
})

describe('a compute provider', () => {
  it('can say that it does not know', () => {
    expectTypeOf<'unknown'>().toExtend<JobState>()
    expectTypeOf<ComputeProvider['poll']>().returns.resolves.items.toHaveProperty('state')
  })
})
