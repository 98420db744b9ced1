import { describe, expect, it } from 'vitest'
import { createSlots, EvsysError } from '../../kernel/index.ts'
import type { TrialResult } from '../trial/trial-result.ts'
import { JobConfig, refuseJobFields } from './job-config.ts'
import { isRetried, retryWaitMs } from './job-schedule.ts'
import { aggregate, evalKey, jobStats } from './job-stats.ts'
import { concurrencyKey, planTrials } from './plan-trials.ts'

const { signal } = new AbortController()
const progress = { total: 0, running: 0, retries: 0, metrics: [] }

function trial(given: {
  task?: string | undefined
  rewards?: Record<string, number> | undefined
  error?: string | undefined
  infra?: boolean | undefined
  agent?: string | undefined
  model?: string | undefined
  source?: string | undefined
  name?: string | undefined
}): TrialResult {
  const { task = 't', rewards, error, infra = true, agent = 'a', model, source, name = 'n' } = given
  return {
    ...{
      id: 'x',
      task_name: task,
      trial_name: name,
      trial_uri: '',
      task_id: {},
      source: source ?? null,
      task_checksum: '',
      config: {},
    },
    agent_info: { name: agent, version: '1', model_info: model === undefined ? null : { name: model, provider: null } },
    agent_result: {
      n_input_tokens: 2,
      n_cache_tokens: null,
      n_output_tokens: 1,
      cost_usd: 0.5,
      rollout_details: null,
      metadata: null,
    },
    verifier_result: rewards === undefined ? null : { rewards },
    verifier_environment_mode: null,
    exception_info:
      error === undefined
        ? null
        : { exception_type: error, exception_message: '', exception_traceback: '', occurred_at: '' },
    ...{
      started_at: null,
      finished_at: null,
      environment_setup: null,
      agent_setup: null,
      agent_execution: null,
      verifier: null,
      step_results: null,
    },
    ...(error === undefined
      ? {}
      : {
          evsys: {
            status: 'failed' as const,
            warnings: [],
            error: { code: 'AGENT_FAILED' as const, message: '', infra },
          },
        }),
  }
}

describe('a job file', () => {
  it('has the defaults of Harbor (HAR-49)', () => {
    expect(JobConfig.parse({})).toMatchObject({
      n_attempts: 1,
      n_concurrent_trials: 4,
      jobs_dir: 'jobs',
      agents: [{ name: 'oracle' }],
      retry: { max_retries: 0, min_wait_sec: 1, wait_multiplier: 1, max_wait_sec: 60 },
    })
    expect(JobConfig.safeParse({ agents: [{ name: 'a', n_concurrent: 9 }] }).error?.issues[0]?.path).toEqual([
      'agents',
      0,
      'n_concurrent',
    ])
  })

  it('may wrap its orchestration in the deprecated block (HAR-50)', () => {
    const job = JobConfig.parse({
      orchestrator: { type: 'local', n_concurrent_trials: 7, quiet: true, retry: { max_retries: 2 } },
      unknown: 1,
    })
    expect(job).toMatchObject({ n_concurrent_trials: 7, quiet: true, retry: { max_retries: 2 }, unknown: 1 })
    expect(job).not.toHaveProperty('orchestrator')
    expect(
      JobConfig.parse({ n_concurrent_trials: 3, orchestrator: { n_concurrent_trials: 7 } }).n_concurrent_trials,
    ).toBe(3)
  })

  it('is planned attempt by attempt, then task by task, then agent by agent (HAR-49)', () => {
    const config = JobConfig.parse({ n_attempts: 2, agents: [{ name: 'x' }, { name: 'y' }] })
    const tasks = ['p', 'q'].map((name) => ({ path: `/${name}`, name }))
    const planned = planTrials('job', config, tasks)
    expect(planned.map(({ attempt, jobTask, agent }) => `${attempt}${jobTask.name}${agent.name}`)).toEqual([
      '1px',
      '1py',
      '1qx',
      '1qy',
      '2px',
      '2py',
      '2qx',
      '2qy',
    ])
    expect(new Set(planned.map((each) => each.config.trial_name)).size).toBe(8)
    expect(planTrials('job', config, tasks)).toEqual(planned)
  })

  it('agents share a cap by group, else by being the same (HAR-49)', () => {
    const [a, b, c, d] = JobConfig.parse({
      agents: [
        { name: 'x', n_concurrent: 1 },
        { name: 'x' },
        { name: 'y', concurrency_group: 'g' },
        { name: 'z', concurrency_group: 'g' },
      ],
    }).agents.map(concurrencyKey)
    expect([a === b, c === d, a === c]).toEqual([true, true, false])
  })
})

describe('statistics of a job', () => {
  it('have the keys, counts and means of Harbor (HAR-54)', () => {
    const results = [
      trial({ rewards: { reward: 1 }, name: 'n1', agent: 'terminus', model: 'm', source: 'set' }),
      trial({
        rewards: { reward: 0 },
        name: 'n2',
        agent: 'terminus',
        model: 'm',
        source: 'set',
        error: 'AgentTimeoutError',
      }),
      trial({ error: 'CancelledError', name: 'n3', agent: 'terminus', model: 'm', source: 'set' }),
      trial({ rewards: { a: 1, b: 0.5 }, name: 'n4', agent: 'nop' }),
    ]
    expect(jobStats(results, { total: 6, running: 1, retries: 2, metrics: [] })).toEqual({
      n_completed_trials: 4,
      n_errored_trials: 2,
      n_running_trials: 1,
      n_pending_trials: 1,
      n_cancelled_trials: 1,
      n_retries: 2,
      n_input_tokens: 8,
      n_cache_tokens: null,
      n_output_tokens: 4,
      cost_usd: 2,
      evals: {
        terminus__m__set: {
          n_trials: 2,
          n_errors: 2,
          metrics: [{ mean: 1 / 3 }],
          pass_at_k: { 2: expect.closeTo(2 / 3) },
          reward_stats: { reward: { '1.0': ['n1'], '0.0': ['n2'] } },
          exception_stats: { AgentTimeoutError: ['n2'], CancelledError: ['n3'] },
        },
        nop__adhoc: {
          n_trials: 1,
          n_errors: 0,
          metrics: [{ a: 1, b: 0.5 }],
          pass_at_k: {},
          reward_stats: { a: { '1.0': ['n4'] }, b: { '0.5': ['n4'] } },
          exception_stats: {},
        },
      },
    })
    expect(evalKey(trial({}))).toBe('a__adhoc')
  })

  it('name one number after the metric and several after their keys; null is 0 (HAR-54)', () => {
    expect(aggregate([{ reward: 1 }, null], 'mean')).toEqual({ mean: 0.5 })
    expect(aggregate([null, null], 'mean')).toEqual({ mean: 0 })
    expect(aggregate([{ a: 1 }, { b: 3 }, null], 'max')).toEqual({ a: 1, b: 3 })
    expect([aggregate([{ a: 2 }, { a: -1 }], 'min'), aggregate([{ a: 2 }, { a: 3 }], 'sum')]).toEqual([
      { min: -1 },
      { sum: 5 },
    ])
  })

  it('pass@k is the unbiased estimator, over tasks, for rewards of 0 and 1 alone (HAR-55)', () => {
    const passes = (...rewards: number[]) => rewards.map((reward) => trial({ rewards: { reward } }))
    const passAt = (results: TrialResult[]) => jobStats(results, progress).evals.a__adhoc?.pass_at_k
    expect(passAt(passes(1, 0, 0, 0))).toEqual({ 2: 0.5, 4: 1 })
    expect(passAt(passes(1, 0.5, 0, 0))).toEqual({})
    expect(Object.keys(passAt(passes(...Array.from({ length: 16 }, (_, n) => n % 2))) ?? {})).toEqual([
      '2',
      '4',
      '5',
      '8',
      '10',
      '15',
      '16',
    ])
    const twoTasks = [...passes(1, 1), trial({ task: 'u', rewards: { reward: 0 } }), trial({ task: 'u', error: 'X' })]
    expect(passAt(twoTasks)).toEqual({ 2: 0.5 })
  })
})

describe('repeating', () => {
  const { retry } = JobConfig.parse({ retry: { max_retries: 2 } })

  it('is for included names that are not excluded, and as often as allowed (HAR-51)', () => {
    const failed = trial({ error: 'HealthcheckError' })
    expect([0, 1, 2].map((before) => isRetried(failed, before, retry))).toEqual([true, true, false])
    expect(isRetried(trial({ error: 'AgentTimeoutError' }), 0, retry)).toBe(false)
    expect(isRetried(trial({}), 0, retry)).toBe(false)
    const named = { ...retry, include_exceptions: ['X', 'AgentTimeoutError'] }
    expect(isRetried(trial({ error: 'X' }), 0, named)).toBe(true)
    expect(isRetried(failed, 0, named)).toBe(false)
    expect(isRetried(trial({ error: 'AgentTimeoutError' }), 0, named)).toBe(false)
  })

  it('an agent that failed by itself is not asked until it succeeds, unless its failure is named (HAR-51)', () => {
    const own = trial({ error: 'NonZeroAgentExitCodeError', infra: false, rewards: { reward: 0 } })
    expect(isRetried(own, 0, retry)).toBe(false)
    expect(isRetried(own, 0, { ...retry, include_exceptions: ['NonZeroAgentExitCodeError'] })).toBe(true)
  })

  it('waits longer each time, up to a limit (HAR-52)', () => {
    const waits = { ...retry, min_wait_sec: 1, wait_multiplier: 3, max_wait_sec: 5 }
    expect([0, 1, 2].map((before) => retryWaitMs(before, waits))).toEqual([1000, 3000, 5000])
  })
})

describe('places', () => {
  it('go to who came first; one who leaves the line gets none (HAR-49)', async () => {
    const slots = createSlots(1)
    const first = await slots.take(signal)
    const stop = new AbortController()
    const order: string[] = []
    const gone = slots.take(stop.signal).catch(() => order.push('left'))
    const second = slots.take(signal).then((place) => {
      order.push('second')
      return place
    })
    const third = slots.take(signal).then(() => order.push('third'))
    stop.abort()
    await gone
    first[Symbol.dispose]()
    first[Symbol.dispose]() // giving it back twice frees no second place
    ;(await second)[Symbol.dispose]()
    await third
    expect([order, slots.taken]).toEqual([['left', 'second', 'third'], 1])
  })
})

describe('a job file with fields that are not supported', () => {
  it('is refused for what nothing here does, all at once and by name (HAR-82)', () => {
    const job = {
      user_agent: { name: 'x' },
      source_jobs: ['old'],
      agents: [{ name: 'oracle' }, { name: 'chat', skills: ['s'], load_trajectory: 'x.json' }],
      environment: { mounts: [{}], import_path: 'a:B' },
      verifier: { import_path: 'a:B' },
    }
    const problems = (() => {
      try {
        refuseJobFields(job)
        return []
      } catch (error) {
        return EvsysError.is(error) ? error.problems.map(({ code, message }) => [code, message.split(':')[0]]) : []
      }
    })()
    expect(problems).toEqual(
      [
        ...['user_agent', 'source_jobs', 'agents.1.skills', 'agents.1.load_trajectory'],
        ...['environment.import_path', 'environment.mounts', 'verifier.import_path'],
      ].map((field) => ['CONFIG_INVALID', field]),
    )
  })

  it('may name such fields without setting them (HAR-82)', () => {
    refuseJobFields({ user_agent: null, source_jobs: [], install_only: false, agents: [{ name: 'nop', skills: [] }] })
    refuseJobFields({})
  })
})
