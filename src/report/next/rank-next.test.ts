import { describe, expect, it } from 'vitest'
import { generatedSession } from '../../../tests/generated-session.ts'
import { type Evidence, initialResearchState, type ResearchState } from '../../contracts/index.ts'
import { type NextStep, rankNext } from './next-step.ts'
import { experimentSteps, type OpenExperiment } from './open-steps.ts'
import { sessionSteps } from './session-steps.ts'

const step: NextStep = {
  kind: 'decide',
  title: 'a',
  why: 'b',
  experiment_id: 'exp_a',
  name: 'a',
  runs: 4,
  seconds: 3600,
  usd: 0,
  chance: 0.8,
}

describe('ranking', () => {
  it('puts what settles most for its cost first (RES-708)', () => {
    const cheap = { ...step, title: 'cheap', seconds: 600, chance: 0.4 }
    const dear = { ...step, title: 'dear', seconds: 3600, usd: 40 }
    const unknown = { ...step, title: 'unknown', seconds: null, usd: null, runs: 100 }
    const ranked = rankNext([dear, unknown, step, cheap])
    expect(ranked.map(({ title }) => title)).toEqual(['cheap', 'a', 'unknown', 'dear'])
    expect(ranked.map(({ rank }) => rank)).toEqual([1, 2, 3, 4])
    expect(ranked[0]?.per_hour).toBeCloseTo(2.4, 9)
    expect(ranked[2]?.per_hour).toBeNull()
  })

  it('keeps the order of equal steps, and of none there is none (RES-708)', () => {
    expect(
      rankNext([
        { ...step, title: 'x' },
        { ...step, title: 'y' },
      ]).map(({ title }) => title),
    ).toEqual(['x', 'y'])
    expect(rankNext([])).toEqual([])
  })
})

const pair = {
  treatment: 'high',
  baseline: 'low',
  effect: 0.1,
  interval: null,
  transfer_interval: null,
  confidence: 0.9,
  n_seeds: 3,
  n_tasks: null,
  seed_variance: null,
  task_variance: null,
  residual_variance: null,
  limited_by: null,
  p_sign_flip: null,
  evidence: 1,
  verdict: 'inconclusive',
  reason: 'too_few_seeds',
  seeds_still_needed: 4,
} as const

const evidence: Evidence = {
  verdict: 'inconclusive',
  objective: null,
  best_arm: 'high',
  chosen_among: 1,
  arms: [
    { name: 'high', status: 'completed', score: null, by_seed: [{ seed: 1, value: 1 }], n_failed: 0 },
    { name: 'low', status: 'failed', score: null, by_seed: [], n_failed: 3 },
  ],
  claim: { benchmark: 'val', metric: 'pass@1', min_effect: 0, overall: pair, pairs: [pair] },
  n_runs: 6,
  n_completed: 3,
  n_invalid: 0,
  n_test_looks: 0,
}

const open: OpenExperiment = {
  experiment: { id: 'exp_a', name: 'rates', verdict: 'inconclusive', costUsd: 6, hypothesis: 'Higher is better.' },
  evidence,
  arms: [
    { name: 'high', seeds: [1, 2, 3] },
    { name: 'low', seeds: [1, 2, 3] },
  ],
  done: 6,
  planned: 6,
  interrupted: false,
  file: 'a.yaml',
  runSeconds: 10,
}

describe('what an experiment leaves open', () => {
  it('the seeds of an undecided claim, with their cost, and arms without a score (RES-708)', () => {
    const steps = experimentSteps(open)
    expect(steps.map(({ kind }) => kind)).toEqual(['decide', 'untried'])
    expect(steps[0]).toMatchObject({ runs: 14, seconds: 140, usd: 14, command: 'evsys run a.yaml --set n_repeats=7' })
  })

  it('without a command where its file is gone or changed, and as it was run where not (USE-116)', () => {
    expect(experimentSteps({ ...open, file: undefined })[0]).not.toMatchObject({ command: expect.anything() })
    const set = ['run.algorithm.params.max_steps=9', 'n_repeats=2']
    expect(experimentSteps({ ...open, set, steps: 5 })[0]?.command).toBe(
      'evsys run a.yaml --steps 5 --set run.algorithm.params.max_steps=9 --set n_repeats=7',
    )
    expect(experimentSteps({ ...open, set, interrupted: true })[0]?.command).toBe(
      'evsys run a.yaml --set run.algorithm.params.max_steps=9 --set n_repeats=2 --resume',
    )
  })

  it('that another experiment has taken up already is no longer its to decide (USE-116)', () => {
    const more = [1, 2, 3, 4, 5, 6, 7]
    expect(experimentSteps({ ...open, repeats: [more] }).map(({ kind }) => kind)).toEqual(['untried'])
    expect(experimentSteps({ ...open, repeats: [[1, 2]] }).map(({ kind }) => kind)).toEqual(['decide', 'untried'])
  })

  it('each undecided one of several claims, also where another is supported (USE-317)', () => {
    const claim = { benchmark: 'val', metric: 'macro_f1', min_effect: 0, pairs: [] }
    const byTasks = { ...pair, n_tasks: 150, seeds_still_needed: null, reason: 'undecided' } as const
    const claims = [
      { ...claim, overall: { ...pair, verdict: 'supported' as const, seeds_still_needed: null } },
      { ...claim, overall: pair },
      { ...claim, overall: { ...byTasks, effect: 0.02, interval: [-0.02, 0.06] as [number, number] } },
      { ...claim, overall: { ...byTasks, effect: 0, interval: [-0.04, 0.04] as [number, number] } },
    ]
    const experiment = { ...open.experiment, verdict: 'supported' as const }
    const steps = experimentSteps({ ...open, experiment, evidence: { ...evidence, verdict: 'supported', claims } })
    expect(steps.map(({ kind, title, command }) => [kind, title, command])).toEqual([
      ['decide', 'decide whether high beats low: 4 more seeds', 'evsys run a.yaml --set n_repeats=7'],
      ['decide', 'decide whether high beats low: about 1400 tasks in val', undefined],
      ['decide', 'decide whether high beats low: more tasks in val', undefined],
      ['untried', 'try the arm low of rates', undefined],
    ])
  })

  it('a winner among several, and a hypothesis that nothing tested (RES-708)', () => {
    const exploratory = { ...open, experiment: { ...open.experiment, verdict: 'exploratory' as const } }
    const steps = experimentSteps({
      ...exploratory,
      evidence: { ...evidence, verdict: 'exploratory', claim: null, chosen_among: 3 },
    })
    expect(steps.map(({ kind }) => kind)).toEqual(['confirm', 'hypothesis', 'untried'])
    expect(steps[0]?.command).toBe('evsys run a.yaml --set base_seed=4 --set n_repeats=3 --fresh')
  })

  it('runs that an interruption left, and nothing else of it (RES-708)', () => {
    const steps = experimentSteps({ ...open, interrupted: true, done: 2 })
    expect(steps).toMatchObject([{ kind: 'resume', runs: 4, seconds: 40 }])
  })

  it('nothing of what is decided (RES-708)', () => {
    const arms = [evidence.arms[0], { ...evidence.arms[0], name: 'low' }].flatMap((arm) =>
      arm === undefined ? [] : [{ ...arm, name: arm.name ?? '' }],
    )
    const decided = { ...open, experiment: { ...open.experiment, verdict: 'supported' as const } }
    expect(
      experimentSteps({ ...decided, evidence: { ...evidence, verdict: 'supported', arms: arms as Evidence['arms'] } }),
    ).toEqual([])
  })
})

describe('what a session leaves open', () => {
  const attempts = generatedSession(60).attempts.map(({ attempt }) => attempt)
  const near = {
    ...attempts[1],
    id: 'near',
    title: 'wider',
    verdict: 'inconclusive',
    gain: { mean: 0.02, n: 3, sigma: 0.02 },
  }
  const state = {
    ...initialResearchState,
    attempts: [...attempts, near],
    baseline: 'a0',
    incumbent: attempts.findLast(({ verdict }) => verdict === 'provisional')?.id,
    backlog: [{ author: 'ada', text: 'try a cosine schedule' }],
    spend: { ...initialResearchState.spend, experiments: 10, runs: 20, runS: 200, usd: 1, calls: 10 },
  } as unknown as ResearchState // attempts as the report needs them
  const steps = sessionSteps({ id: 'exp_s', name: 'shakespeare', state })

  it('near misses with the seeds that decide them, the last keep, and ideas of people (RES-708)', () => {
    expect(new Set(steps.map(({ kind }) => kind))).toEqual(new Set(['near_miss', 'confirm', 'idea']))
    const own = steps.find(({ attempt }) => attempt === 'near')
    expect(own?.runs).toBeGreaterThan(0)
    expect(own?.seconds).toBe((own?.runs ?? 0) * 10)
    expect(own?.usd).toBe(0)
    expect(steps.find(({ kind }) => kind === 'idea')).toMatchObject({ usd: 0.1, title: 'try: try a cosine schedule' })
    for (const { chance } of steps) expect(chance > 0 && chance < 1).toBe(true)
  })

  const proposer = { kind: 'anthropic', params: {} }

  it('a search that ended at its cap, by how much it still found (RES-708)', () => {
    const settings = { task: 'digits', proposer, budget: { experiments: 10 } } as ResearchState['settings']
    const ended = (attempts: ResearchState['attempts']) =>
      sessionSteps({
        id: 'exp_s',
        name: 'digits',
        state: { ...state, attempts, ...(settings === undefined ? {} : { settings }), status: 'ended', backlog: [] },
      }).find(({ kind }) => kind === 'resume')
    const found = ended(state.attempts)
    expect(found).toMatchObject({ command: 'evsys research run --task digits --resume --max-experiments 15', runs: 10 })
    const older = sessionSteps({ id: 'exp_s', name: 'digits', isNewest: false, state: { ...state, status: 'ended' } })
    expect(older.find(({ kind }) => kind === 'idea')?.command).toBe(
      'evsys research run --task digits --resume --session exp_s --max-experiments 11',
    )
    for (const reason of ['finished', 'failed'] as const) {
      const end = { reason, text: '' }
      const over = sessionSteps({ id: 'exp_s', name: 'digits', state: { ...state, status: 'ended', end, backlog: [] } })
      expect(over.filter(({ kind }) => kind === 'resume')).toEqual([])
    }
    const barren = state.attempts.map((each) => ({ ...each, verdict: 'discarded' as const }))
    expect(ended(barren)?.chance).toBeLessThan(found?.chance ?? 0)
  })

  it('raises every cap that is in the way, and proposes nothing to a session that runs (USE-116)', () => {
    const commandsOf = (more: Partial<ResearchState>) =>
      sessionSteps({ id: 'exp_s', name: 'digits', state: { ...state, ...more } }).flatMap(
        ({ command }) => command ?? [],
      )
    const spend = { ...state.spend, wallS: 1000, tokens: 500, usd: 1 }
    const budget = { wall: '1000s', usd: 50 }
    const settings = { task: 'digits', proposer, budget } as unknown as NonNullable<ResearchState['settings']>
    const ended = { status: 'ended', end: { reason: 'wall', text: '' }, settings, spend } as const
    expect(commandsOf(ended)).toContain('evsys research run --task digits --resume --budget wall=2000s')
    const capped = { task: 'digits', proposer, budget: { experiments: 10 } } as unknown as typeof settings
    const interrupted = commandsOf({ status: 'interrupted', settings: capped })
    expect(interrupted.length).toBeGreaterThan(0)
    for (const command of interrupted) expect(command).toContain('--max-experiments 11')
    for (const command of commandsOf({ status: 'running', settings })) expect(command).not.toContain('research run')
  })
})
