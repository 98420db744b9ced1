import { describe, expect, it } from 'vitest'
import {
  type Idea,
  initialResearchState,
  type ResearchEntry,
  type ResearchState,
  reduceResearch,
  type Steering,
} from '../../src/contracts/index.ts'
import { defineProposer, systemClock } from '../../src/kernel/index.ts'
import { sessionInput } from '../../src/report/input/session-input.ts'
import { researchReport } from '../../src/report/research-report.ts'
import type { ResearchOptions } from '../../src/research/loop/research-options.ts'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { steerSession } from '../../src/research/loop/session-journal.ts'
import { filesOf } from '../../src/research/loop/session-views.ts'
import { greedyDedup } from '../../src/research/search/strategies.ts'
import { type OpenStore, openStore } from '../../src/store/index.ts'
import { toyExecutor, toyProposer, toyResearch, toyScore, toyTask } from './toy-research.ts'

const slow = { timeout: 60_000 }

/** Says something once, when the session first writes an entry of a type. */
function sayAt(type: ResearchEntry['type'], store: OpenStore, steering: (state: ResearchState) => Steering) {
  let isSaid = false
  const said: Promise<unknown>[] = []
  const onEntry: ResearchOptions['onEntry'] = (entry, state) => {
    if (entry.type !== type || isSaid) return
    isSaid = true
    const told = store
      .experiments({ limit: 1 })
      .then(([row]) =>
        steerSession(store, row?.id ?? '', { author: 'ada', steering: steering(state), clock: systemClock }),
      )
    said.push(told)
  }
  return { onEntry, said }
}

function codeIdea(text: string): Idea {
  return {
    title: `write ${text}`,
    hypothesis: '',
    family: 'code',
    category: 'architectural',
    cost: 'same',
    parents: [],
    change: { kind: 'files', files: { 'train.mjs': text } },
  }
}

function knobIdea(name: string, value: number, parents: string[]): Idea {
  const change = { kind: 'knobs' as const, knobs: { [name]: value } }
  return { ...codeIdea(''), title: `${name} ${value}`, family: name, category: 'hyperparameter', parents, change }
}

const scripted = (script: Idea[]) =>
  defineProposer({
    kind: 'script',
    summary: 'Proposes what its script says.',
    params: toyProposer().params,
    async propose() {
      return { ideas: script.splice(0, 1), usage: { promptTokens: 0, completionTokens: 0, latencyS: 0, costUsd: 0 } }
    },
  })

describe('a research session', slow, () => {
  it('measures its baseline, keeps what is better, looks at the hidden split at its end (RES-601)', async () => {
    await using store = await openStore(':memory:')
    const { experimentId, state, status } = await runResearch(toyResearch({ store }))
    expect(status).toBe('ended')
    expect(state.spend.experiments).toBe(8)
    expect(state.attempts[0]?.runs.filter(({ purpose }) => purpose === 'noise')).toHaveLength(5)
    expect(state.kept.length).toBeGreaterThan(1)
    const best = state.incumbent ?? ''
    const truth = (files: Parameters<typeof toyScore>[0]) => toyScore(files, 1, 'val', 0)
    expect(truth(filesOf(state, best))).toBeLessThan(truth(toyTask.baseline))
    expect(state.looks).toBe(1)
    expect(state.attempts.find(({ id }) => id === best)?.verdict).toBe('confirmed')
    const experiment = await store.findExperiment('toy')
    expect(experiment).toMatchObject({ id: experimentId, status: 'completed', bestArm: best, verdict: 'supported' })
    expect(experiment.conclusion).toContain('Confirmed')
  })

  it('confirms nothing of a task without fresh seeds and a hidden test set, and says so at its end (USE-23)', async () => {
    await using store = await openStore(':memory:')
    const { state } = await runResearch(toyResearch({ store, settings: { hidden_test: false, confirm_every: 1 } }))
    expect(state.kept.length).toBeGreaterThan(1)
    expect({ looks: state.looks, confirmations: state.confirmations }).toEqual({ looks: 0, confirmations: [] })
    expect(state.attempts.flatMap(({ runs }) => runs).filter(({ split }) => split === 'test')).toEqual([])
    expect(state.end?.text).toContain('It is not confirmed: the task is a table')
    expect(state.end?.text).not.toMatch(/new seeds|hidden test set of/)
  })

  it('measures the best again beside each candidate where the metric is a time (USE-148)', async () => {
    await using store = await openStore(':memory:')
    let load = 0 // of the machine, which others use more and more
    const run: NonNullable<Parameters<typeof toyExecutor>[0]>['run'] = (files, seed, split) => {
      load += 0.05
      const value = toyScore(files, seed, split, 0.02) + load
      return { status: 'scored', value, secondary: {}, wallS: 0.1, level: 'in-process' }
    }
    const settings = { timed: true, control_every: 0, budget: { experiments: 4 }, hidden_test: false }
    const { state } = await runResearch(toyResearch({ store, executor: toyExecutor({ run }), settings }))
    const runs = state.attempts.flatMap((attempt) => attempt.runs.map((each) => ({ ...each, attempt })))
    const tried = state.attempts.filter(({ origin, pairs }) => origin === 'proposer' && pairs.length > 0)
    expect(tried.length).toBeGreaterThan(2)
    for (const { id, runs: own, pairs, gain } of tried) {
      const scores = own.filter(({ purpose }) => purpose === 'race')
      const beside = scores.map(({ seed }) => runs.find(({ run: name }) => name.endsWith(`-s${seed}-beside-${id}`)))
      expect(beside.map((each) => each?.attempt.id)).toEqual(scores.map(() => beside[0]?.attempt.id))
      const gains = scores.map(({ value }, i) => (beside[i]?.value ?? Number.NaN) - (value ?? Number.NaN))
      expect(pairs.toSorted()).toEqual(gains.toSorted())
      expect(gain?.mean).toBeCloseTo(
        gains.reduce((sum, each) => sum + each / gains.length, 0),
        9,
      )
    }
  })

  it('describes what was kept by what it was raced with, and credits all kept steps with the gain (USE-24)', async () => {
    await using store = await openStore(':memory:')
    const script = [
      knobIdea('WIDTH', 1, []), // discarded, and the base of the next one all the same
      { ...knobIdea('DEPTH', 4, ['a1']), change: { kind: 'knobs', knobs: { WIDTH: 32, DEPTH: 4 } } },
      knobIdea('RATE', 0.02, ['a2']),
    ] satisfies Idea[]
    const proposer = scripted(script)
    const { state, experimentId } = await runResearch(
      toyResearch({ store, proposer, settings: { budget: { experiments: 3 } } }),
    )
    expect(state.kept).toEqual(['baseline', 'a2', 'a3'])
    expect(state.end?.text).toContain('Best: a3, 2 kept steps together (a2, a3; the last: RATE 0.02).')
    const { settings } = state
    if (settings === undefined) throw new Error('not begun')
    const page = researchReport(sessionInput({ ...state, settings }, { id: experimentId }))
    const [, second = ''] = page.split('DEPTH 4</h3>')
    const article = second.slice(0, second.indexOf('</article>'))
    expect(article).toContain('What it changed against the baseline')
    expect(article).toContain('const WIDTH = 8') // of the baseline, not the 1 that was discarded
    expect(article).not.toContain('const WIDTH = 1\n')
    expect(article).toContain('on top of 1: WIDTH 1')
  })

  it('leaves out at its end each change that the best is made of, on two seeds; knobs go back to what was kept last (RES-211, RES-640)', async () => {
    await using store = await openStore(':memory:')
    const script = [
      knobIdea('WIDTH', 1, []),
      { ...knobIdea('DEPTH', 4, ['a1']), change: { kind: 'knobs', knobs: { WIDTH: 32, DEPTH: 4 } } },
      knobIdea('RATE', 0.02, ['a2']),
    ] satisfies Idea[]
    const proposer = scripted(script)
    const { state } = await runResearch(toyResearch({ store, proposer, settings: { budget: { experiments: 3 } } }))
    expect(state.kept).toEqual(['baseline', 'a2', 'a3'])
    const ablated = state.attempts.filter(({ origin }) => origin === 'ablation')
    // Without a2 the width is that of the baseline, not the one that was tried and discarded.
    expect(ablated.map(({ parents, knobs }) => [parents[1], knobs.WIDTH, knobs.DEPTH, knobs.RATE])).toEqual([
      ['a2', 8, 2, 0.02],
      ['a3', 32, 4, 0.1],
    ])
    expect(ablated.map(({ scores }) => scores.length)).toEqual([2, 2])
    expect(state.attempts.find(({ id }) => id === 'a1')?.ablation?.reason).toMatch(/^Nothing of it is left/)
  })

  it('leaves out nothing where one change was kept: it was compared with the baseline already (RES-211)', async () => {
    await using store = await openStore(':memory:')
    const wide = { ...knobIdea('DEPTH', 4, []), change: { kind: 'knobs' as const, knobs: { WIDTH: 32, DEPTH: 4 } } }
    const settings = { budget: { experiments: 1 } }
    const { state } = await runResearch(toyResearch({ store, proposer: scripted([wide]), settings }))
    expect(state.kept).toEqual(['baseline', 'a1'])
    expect(state.attempts.filter(({ origin }) => origin === 'ablation')).toEqual([])
  })

  it('is an experiment like any other: attempts are arms, seeds are runs with notes (RES-603)', async () => {
    await using store = await openStore(':memory:')
    const { experimentId, state } = await runResearch(toyResearch({ store }))
    const runs = await store.runs(experimentId)
    const planned = state.attempts.flatMap(({ runs: own }) => own.map(({ run }) => run))
    expect(new Set(runs.map(({ name }) => name))).toEqual(new Set(planned))
    expect(new Set(runs.map(({ name }) => name)).size).toBe(runs.length)
    const kept = state.attempts.find(({ id, number }) => id === state.incumbent && number > 0)
    const first = runs.find(({ arm }) => arm === kept?.id)
    expect(first).toMatchObject({ status: 'completed', kept: true, category: 'hyperparameter', claimed: { loss: 0 } })
    expect(first?.diff).toContain('+++ b/train.mjs')
    expect(runs.find(({ id }) => id === first?.parentRun)?.arm).toBe(kept?.parents[0])
    const evals = await store.evals(first?.id ?? '')
    expect(evals).toMatchObject([{ benchmark: 'val', split: 'val', scorerHash: toyTask.hash }])
    const { plan } = await store.findExperiment(experimentId)
    expect(plan.arms.map(({ name }) => name)).toEqual(
      state.attempts.filter(({ runs: own }) => own.length > 0).map(({ id }) => id),
    )
  })

  it('has the state that its journal folds to (RES-604)', async () => {
    await using store = await openStore(':memory:')
    const { experimentId, state } = await runResearch(toyResearch({ store }))
    const events = await store.events({ stream: `experiment:${experimentId}`, afterSeq: 0, limit: 10_000 })
    const folded = events.reduce(
      (before, event) => (event.type === 'research' ? reduceResearch(before, event.entry) : before),
      initialResearchState,
    )
    expect(folded).toEqual(state)
    expect(JSON.parse(JSON.stringify(folded))).toEqual(folded)
  })

  it('goes on where it was interrupted, to the same record (RES-605)', async () => {
    await using whole = await openStore(':memory:')
    const expected = await runResearch(toyResearch({ store: whole }))
    await using store = await openStore(':memory:')
    const stop = new AbortController()
    let entries = 0
    const onEntry = () => {
      entries += 1
      if (entries === 60) stop.abort()
    }
    const first = await runResearch(toyResearch({ store, signal: stop.signal, onEntry }))
    expect(first.status).toBe('interrupted')
    const second = await runResearch(toyResearch({ store, resume: true }))
    expect(second).toMatchObject({ status: 'ended', experimentId: first.experimentId })
    expect(await store.canonicalRecord(first.experimentId)).toEqual(await whole.canonicalRecord(expected.experimentId))
    // Once it has ended there is nothing left to do, and doing that again changes nothing.
    const ended = await store.canonicalRecord(first.experimentId)
    expect(await runResearch(toyResearch({ store, resume: true }))).toMatchObject({ status: 'ended' })
    expect(await store.canonicalRecord(first.experimentId)).toEqual(ended)
    const more = await runResearch(toyResearch({ store, resume: true, budget: { experiments: 10 } }))
    expect(more.state.spend.experiments).toBe(10)
    expect(await store.findExperiment('toy')).toMatchObject({ status: 'completed' })
  })

  it('of several of one task, the newest that fits goes on; where none does, they are named (RES-628)', async () => {
    await using store = await openStore(':memory:')
    const stopAt = (n: number) => {
      const stop = new AbortController()
      let entries = 0
      const onEntry = () => {
        entries += 1
        if (entries === n) stop.abort()
      }
      return { signal: stop.signal, onEntry }
    }
    const other = { ...toyExecutor(), task: { ...toyTask, hash: 'toy-gpu', trainSeconds: 9 } }
    const begun = toyResearch({ store })
    const settings = { ...begun.settings, task_hash: 'toy-gpu', reference: 'toy/gpu', train_seconds: 9 }
    const first = await runResearch(toyResearch({ store, ...stopAt(40) }))
    const second = await runResearch(toyResearch({ store, ...stopAt(40), executor: other, settings }))
    const resumed = await runResearch(toyResearch({ store, resume: true }))
    expect(resumed).toMatchObject({ status: 'ended', experimentId: first.experimentId })
    await expect(runResearch(toyResearch({ store, resume: true, session: second.experimentId }))).rejects.toMatchObject(
      {
        code: 'CONFIG_CONFLICT',
        fix: expect.stringContaining(`${second.experimentId} (--task toy/gpu --train-seconds 9)`),
      },
    )
    const third = { ...toyExecutor(), task: { ...toyTask, hash: 'toy-2' } }
    await expect(runResearch(toyResearch({ store, resume: true, executor: third }))).rejects.toMatchObject({
      code: 'CONFIG_CONFLICT',
      fix: expect.stringMatching(new RegExp(`${second.experimentId}.*${first.experimentId}`)),
    })
  })

  it('hears what comes from outside also where all its work is done at once (RES-627)', async () => {
    await using store = await openStore(':memory:')
    const stop = new AbortController()
    const onBegin = () => {
      setImmediate(() => stop.abort())
    }
    const settings = { budget: { experiments: 1000 } }
    const { status, state } = await runResearch(toyResearch({ store, signal: stop.signal, onBegin, settings }))
    expect(status).toBe('interrupted')
    expect(state.spend.experiments).toBeLessThan(1000)
  })

  it('has one controller at a time (RES-606)', async () => {
    await using store = await openStore(':memory:')
    const stop = new AbortController()
    const second = { error: undefined as unknown }
    let tried: Promise<unknown> | undefined
    const onEntry: ResearchOptions['onEntry'] = ({ type }) => {
      if (type !== 'call.answered' || tried !== undefined) return
      tried = runResearch(toyResearch({ store, resume: true })).catch((error: unknown) => {
        second.error = error
        stop.abort()
      })
    }
    const before = () => (tried === undefined ? Promise.resolve() : tried.then(() => {}))
    await runResearch(toyResearch({ store, signal: stop.signal, onEntry, executor: toyExecutor({ before }) }))
    await tried
    expect(second.error).toMatchObject({ code: 'STORE_CONFLICT' })
  })

  it('answers what was tried from memory (RES-607)', async () => {
    await using store = await openStore(':memory:')
    const proposer = defineProposer({
      kind: 'stuck',
      summary: 'Always the same.',
      async propose() {
        return { ideas: [{ ...codeIdea(''), change: { kind: 'knobs' as const, knobs: { WIDTH: 9 } } }] }
      },
    })
    const { state } = await runResearch(toyResearch({ store, proposer, strategy: greedyDedup }))
    expect(state.spend.experiments).toBe(1)
    expect(state.gauges.turnedDown).toBe(20)
    expect(state.end?.reason).toBe('finished')
  })
})

describe('failures of a session', slow, () => {
  it('are repaired twice at most, then parked (RES-608)', async () => {
    await using store = await openStore(':memory:')
    const repairs: string[] = []
    const proposer = defineProposer({
      kind: 'broken',
      summary: 'Writes what may not run.',
      async propose({ repair }) {
        if (repair !== undefined) repairs.push(repair.failures[0]?.reason ?? '')
        return { ideas: [codeIdea(`const RATE = 0.1 // ${repairs.length}`)] }
      },
    })
    const executor = toyExecutor({
      check: (files) =>
        files === toyTask.baseline || files['train.mjs'] === toyTask.baseline['train.mjs']
          ? []
          : [{ class: 'syntax', reason: 'it is wrong' }],
    })
    const { state } = await runResearch(
      toyResearch({ store, proposer, executor, settings: { budget: { experiments: 1 } } }),
    )
    expect(repairs).toEqual(['it is wrong', 'it is wrong'])
    expect(state.attempts[1]).toMatchObject({ verdict: 'failed', repairs: 2, failure: { class: 'syntax' } })
    expect(state.gauges.failures).toEqual({ syntax: 1 })
  })

  it('of the machine are tried once more; those of a candidate are its verdict (RES-609)', async () => {
    await using store = await openStore(':memory:')
    let isFirst = true
    const executor = toyExecutor({
      run(files) {
        if (files['train.mjs'] === toyTask.baseline['train.mjs']) return undefined
        if (!isFirst) return { status: 'failed', failure: { class: 'oom', reason: 'too large' }, wallS: 1 }
        isFirst = false
        return { status: 'failed', failure: { class: 'infra', reason: 'the disk is full' }, wallS: 1 }
      },
    })
    const { state } = await runResearch(toyResearch({ store, executor, settings: { budget: { experiments: 1 } } }))
    const tried = state.attempts.find(({ runs, number }) => number > 0 && runs.length > 0)
    expect(tried?.runs.map(({ status }) => status)).toEqual(['failed', 'failed'])
    expect(tried).toMatchObject({ verdict: 'failed', failure: { class: 'oom' } })
  })

  it('of the baseline end it, and those of the proposer do after three in a row (RES-610)', async () => {
    await using store = await openStore(':memory:')
    const failing = toyExecutor({
      run: () => ({ status: 'failed', failure: { class: 'crash', reason: 'no such module' }, wallS: 1 }),
    })
    const first = await runResearch(toyResearch({ store, executor: failing }))
    expect(first.state.end).toMatchObject({ reason: 'failed', text: expect.stringContaining('no such module') })
    await using other = await openStore(':memory:')
    const proposer = defineProposer({
      kind: 'down',
      summary: 'Never answers.',
      async propose() {
        throw new Error('529 overloaded')
      },
    })
    const second = await runResearch(toyResearch({ store: other, proposer }))
    expect(second.state.calls.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
    expect(second.state.end?.reason).toBe('failed')
  })
})

describe('budgets of a session', slow, () => {
  it('are never passed: a call is made only where its forecast fits (RES-611)', async () => {
    await using store = await openStore(':memory:')
    const proposer = toyProposer({ costUsd: 0.03 })
    const { state } = await runResearch(toyResearch({ store, proposer, settings: { budget: { usd: 0.2 } } }))
    expect(state.end?.reason).toBe('usd')
    expect(state.spend.usd).toBeLessThanOrEqual(0.2)
    expect(state.spend.usd).toBeCloseTo(0.03 * state.spend.calls, 9)
    expect(state.spend.calls).toBe(6)
    await using other = await openStore(':memory:')
    const few = await runResearch(toyResearch({ store: other, settings: { budget: { tokens: 25_000 } } }))
    expect(few.state.end?.reason).toBe('tokens')
    expect(few.state.spend.tokens).toBeLessThanOrEqual(25_000)
  })

  it('of time stop what is running (RES-612)', async () => {
    await using store = await openStore(':memory:')
    let nowMs = Date.parse('2026-01-01T00:00:00Z')
    let stopped = 0
    const executor = toyExecutor({
      before: async (signal) => {
        nowMs += 10_000
        if (nowMs - Date.parse('2026-01-01T00:00:00Z') <= 100_000) return
        // It goes on until it is stopped.
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
        stopped += 1
      },
    })
    const clock = {
      ...systemClock,
      now: () => nowMs,
      async sleep() {
        nowMs += 1000
      },
    }
    const { state } = await runResearch(
      toyResearch({ store, executor, clock, settings: { budget: { wall: 105, experiments: 50 } } }),
    )
    expect(state.end?.reason).toBe('wall')
    expect(state.spend.wallS).toBeLessThan(125)
    expect(stopped).toBeLessThanOrEqual(1)
  })
})

describe('workers of a session', slow, () => {
  it('run several things at a time; the journal is in order and nothing runs twice (RES-613)', async () => {
    await using store = await openStore(':memory:')
    let running = 0
    let most = 0
    const executor = toyExecutor({
      before: async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
      },
    })
    const { state, experimentId } = await runResearch(
      toyResearch({ store, executor, settings: { workers: 3, budget: { experiments: 12 } } }),
    )
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(3)
    expect(state.spend.experiments).toBe(12)
    expect(state.attempts.map(({ number }) => number)).toEqual(state.attempts.map((_, i) => i))
    const runs = state.attempts.flatMap(({ runs: own }) => own)
    expect(runs.every(({ status }) => status !== 'running')).toBe(true)
    expect(new Set(runs.map(({ run }) => run)).size).toBe(runs.length)
    expect(runs).toHaveLength(state.spend.runs)
    expect((await store.runs(experimentId)).every(({ status }) => status === 'completed' || status === 'stopped')).toBe(
      true,
    )
    expect(state.attempts.every(({ verdict }) => verdict !== undefined)).toBe(true)
  })
})

describe('steering', slow, () => {
  it('pauses and goes on (RES-614)', async () => {
    await using store = await openStore(':memory:')
    const { onEntry, said } = sayAt('kept', store, () => ({ action: 'pause' }))
    const waited: boolean[] = []
    const resumed: Promise<unknown>[] = []
    const clock = {
      ...systemClock,
      sleep: async () => {
        const [row] = await store.experiments({ limit: 1 })
        waited.push(true)
        if (resumed.length > 0 || said.length === 0) return
        await Promise.all(said)
        resumed.push(
          steerSession(store, row?.id ?? '', { author: 'ada', steering: { action: 'resume' }, clock: systemClock }),
        )
        await Promise.all(resumed)
      },
    }
    const { state, status } = await runResearch(toyResearch({ store, onEntry, clock }))
    expect(status).toBe('ended')
    expect(waited.length).toBeGreaterThan(0)
    expect(state.steered.map(({ steering, author }) => [steering.action, author])).toEqual([
      ['pause', 'ada'],
      ['resume', 'ada'],
    ])
    expect(state.spend.experiments).toBe(8)
  })

  it('takes an incumbent away, and keeps what a person wants (RES-615)', async () => {
    await using store = await openStore(':memory:')
    const veto = sayAt('kept', store, (state) => ({ action: 'veto', attempt: state.incumbent ?? '' }))
    const { state } = await runResearch(toyResearch({ store, onEntry: veto.onEntry }))
    const vetoed = state.attempts.find(({ vetoed: by }) => by === 'ada')
    expect(vetoed).toMatchObject({ verdict: 'discarded', author: 'ada' })
    expect(state.incumbent).not.toBe(vetoed?.id)
    expect(state.unanswered).toEqual([])
    await using other = await openStore(':memory:')
    const keep = sayAt('verdict', other, () => ({ action: 'override', attempt: 'baseline', verdict: 'keep' }))
    await runResearch(toyResearch({ store: other, onEntry: keep.onEntry }))
    await expect(
      steerSession(other, (await other.findExperiment('toy')).id, {
        author: 'ada',
        steering: { action: 'veto', attempt: 'nobody' },
        clock: systemClock,
      }),
    ).rejects.toMatchObject({ code: 'STORE_MISSING' })
  })

  it('runs an idea of a person without a call, and bans families (RES-616)', async () => {
    await using store = await openStore(':memory:')
    const idea = codeIdea('const RATE = 0.02\nconst WIDTH = 32\nconst DEPTH = 4\n')
    const said = sayAt('run.finished', store, () => ({ action: 'add_idea', text: 'the best of all', idea }))
    const ban = sayAt('run.intended', store, () => ({ action: 'ban_family', family: 'RATE' }))
    const onEntry: ResearchOptions['onEntry'] = (entry, state) => {
      said.onEntry?.(entry, state)
      ban.onEntry?.(entry, state)
    }
    const { state } = await runResearch(toyResearch({ store, onEntry }))
    const own = state.attempts.find(({ origin }) => origin === 'author')
    expect(own).toMatchObject({ title: idea.title, verdict: expect.stringMatching(/confirmed|provisional/) })
    expect(own?.call).toBeUndefined()
    expect(state.backlog).toEqual([])
    expect(state.attempts.filter(({ family, origin }) => family === 'RATE' && origin === 'proposer')).toEqual([])
  })
})

describe('early ends', slow, () => {
  it('come to runs that fall far behind the incumbent, one of which goes on as an audit (RES-618)', async () => {
    await using store = await openStore(':memory:')
    const base = toyExecutor({ noise: 0.001 })
    const executor: ResearchOptions['executor'] = {
      ...base,
      async run(request, signal) {
        const value = toyScore(request.files, request.seed, 'val', 0.001)
        for (const share of [0.1, 0.2, 0.25, 0.4, 0.5, 1]) {
          if (request.watch?.({ seconds: share, value: value + 1 - share }) === 'kill')
            return { status: 'killed', wallS: share }
        }
        return await base.run(request, signal)
      },
      [Symbol.asyncDispose]: base[Symbol.asyncDispose],
    }
    const settings = { budget: { experiments: 60 }, control_every: 0 }
    const { state } = await runResearch(toyResearch({ store, executor, settings }))
    const watched = state.attempts.flatMap(({ runs }) => runs).filter(({ watch }) => watch !== undefined)
    expect(watched.length).toBeGreaterThan(15)
    const condemned = watched.filter(({ watch }) => watch?.condemned === true)
    expect(condemned.filter(({ status }) => status === 'killed')).toHaveLength(state.gauges.killed)
    expect(condemned.length).toBe(state.gauges.killed + state.gauges.audited)
    expect(state.gauges.killed).toBeGreaterThan(0)
    expect(state.gauges.audited).toBeGreaterThan(0)
    for (const { verdict, runs } of state.attempts) {
      if (runs.some(({ status }) => status === 'killed')) expect(verdict).toBe('discarded')
    }
  })
})
