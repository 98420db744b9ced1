import { describe, expect, it } from 'vitest'
import { EvsysError } from '../../kernel/index.ts'
import { trialName } from '../job/plan-trials.ts'
import { TaskConfig } from '../task/task-config.ts'
import { phaseLimits } from './deadlines.ts'
import { combineSteps, meetsGate, scalarReward } from './rewards.ts'
import { TrialConfig } from './trial-config.ts'
import { exceptionName, isVerifiedAfter, rolloutError, trialError } from './trial-error.ts'

const part = (agentSec: number | undefined, verifierSec: number) => ({
  agent: agentSec === undefined ? {} : { timeout_sec: agentSec },
  verification: {
    mode: 'shared' as const,
    timeoutSec: verifierSec,
    env: {},
    network: { mode: 'public' as const, hosts: [] },
    collect: [],
  },
})
const task = { config: TaskConfig.parse({}) }
const config = (given: Record<string, unknown>) => TrialConfig.parse({ task: { path: '/t' }, ...given })

describe('limits of phases', () => {
  it('are min(base, max) x multiplier; a specific multiplier replaces the general one (HAR-36)', () => {
    expect(phaseLimits(config({}), task, part(undefined, 600))).toEqual({
      environmentMs: 600_000,
      agentSetupMs: 360_000,
      verifierMs: 600_000,
    })
    const given = config({
      timeout_multiplier: 2,
      agent_timeout_multiplier: 3,
      agent: { max_timeout_sec: 50, override_setup_timeout_sec: 10 },
      verifier: { override_timeout_sec: 30, max_timeout_sec: 20 },
    })
    expect(phaseLimits(given, task, part(100, 600))).toEqual({
      environmentMs: 1_200_000,
      agentSetupMs: 20_000,
      agentMs: 150_000,
      verifierMs: 40_000,
    })
  })

  it('0 is not set, and a cap alone is a limit (HAR-36)', () => {
    expect(phaseLimits(config({ agent: { override_timeout_sec: 0 } }), task, part(7, 600)).agentMs).toBe(7_000)
    expect(phaseLimits(config({ agent: { max_timeout_sec: 9 } }), task, part(undefined, 600)).agentMs).toBe(9_000)
    const unlimited = phaseLimits(config({ agent_timeout_multiplier: 5 }), task, part(undefined, 600))
    expect(unlimited.agentMs).toBeUndefined()
  })
})

describe('names of trials', () => {
  it('hold 32 characters of the short name and 7 that tell them apart, the same for the same place (HAR-40)', () => {
    expect(trialName('org/hello-world', 'job', 1)).toMatch(/^hello-world__[0-9A-Za-z]{7}$/)
    expect(trialName('org/hello-world', 'job', 1)).toBe(trialName('org/hello-world', 'job', 1))
    expect(trialName(`org/${'x'.repeat(31)}__y`, 'job', 1)).toMatch(/^x{31}__\w{7}$/)
    expect(trialName('org/../..', 'job')).toMatch(/^task__\w{7}$/)
    const names = new Set(Array.from({ length: 5000 }, (_, n) => trialName('t', 'job', n)))
    expect(names.size).toBe(5000)
  })
})

describe('rewards of steps', () => {
  const step = (rewards?: Record<string, number>) => ({ verifier_result: rewards === undefined ? null : { rewards } })

  it('mean leaves out steps without a result and counts a missing key as 0; final takes the last (HAR-46)', () => {
    const steps = [step({ reward: 1, style: 1 }), step(), step({ reward: 0.5 })]
    expect(combineSteps(steps, 'mean')).toEqual({ reward: 0.75, style: 0.5 })
    expect(combineSteps(steps, 'final')).toEqual({ reward: 0.5 })
    expect(combineSteps([step({ reward: 1 }), step()], 'final')).toBeUndefined()
    expect(combineSteps([step()], 'mean')).toBeUndefined()
  })

  it('a gate is met by what reaches it; what is missing is below it (HAR-45)', () => {
    expect(meetsGate(undefined, undefined)).toBe(true)
    expect(meetsGate(1, { reward: 1 })).toBe(true)
    expect(meetsGate(1, { reward: 0 })).toBe(false)
    expect(meetsGate(0, null)).toBe(false)
    expect(meetsGate(1, { other: 1 })).toBe(false)
    expect(meetsGate({ a: 0.5, b: 0 }, { a: 0.5, b: 0 })).toBe(true)
    expect(meetsGate({ a: 0.5, b: 0 }, { a: 1 })).toBe(false)
  })

  it('the number that counts is `reward`, else the only one, else none (HAR-31)', () => {
    expect([{ reward: 0, a: 1 }, { a: 0.5 }, { a: 1, b: 1 }, undefined].map(scalarReward)).toEqual([
      0,
      0.5,
      undefined,
      undefined,
    ])
  })
})

describe('failures', () => {
  it('have the names that filters go by, and say whether the answer is to blame (HAR-34)', () => {
    expect(rolloutError(trialError('AgentTimeoutError', 'late'))).toEqual({
      code: 'AGENT_TIMEOUT',
      message: 'late',
      infra: false,
    })
    expect(rolloutError(trialError('VerifierTimeoutError', 'late'))).toMatchObject({
      code: 'VERIFIER_FAILED',
      infra: true,
    })
    expect(rolloutError(new TypeError('a bug'))).toEqual({ code: 'AGENT_FAILED', message: 'a bug', infra: true })
    expect(rolloutError({ code: 'PLUGIN_FAILED', message: 'told', infra: false })).toMatchObject({ infra: false })
    expect(exceptionName(new EvsysError('INFERENCE_FAILED', 'overloaded'))).toBe('ApiError')
    expect(exceptionName(new EvsysError('PLUGIN_FAILED', 'NonZeroAgentExitCodeError: 7'))).toBe(
      'NonZeroAgentExitCodeError',
    )
    expect(exceptionName(new EvsysError('PLUGIN_FAILED', 'constructor: x'))).toBe('RuntimeError')
    expect([new TypeError('x'), new Error('x'), 'text', undefined, { name: 'a b' }].map(exceptionName)).toEqual([
      'TypeError',
      'RuntimeError',
      'RuntimeError',
      'RuntimeError',
      'RuntimeError',
    ])
  })

  it('of the agent are verified after where they are its own end, not where its harness broke (HAR-38)', () => {
    expect(isVerifiedAfter(trialError('AgentTimeoutError', ''))).toBe(true)
    expect(isVerifiedAfter(trialError('NonZeroAgentExitCodeError', ''))).toBe(true)
    expect(isVerifiedAfter(trialError('ApiRateLimitError', ''))).toBe(false)
    expect(isVerifiedAfter(new Error('bug'))).toBe(false)
  })
})
