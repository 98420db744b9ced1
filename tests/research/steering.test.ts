import { describe, expect, it } from 'vitest'
import {
  type Idea,
  initialResearchState,
  type ResearchEntry,
  type ResearchState,
  reduceResearch,
  type Steering,
} from '../../src/contracts/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import type { ResearchOptions } from '../../src/research/loop/research-options.ts'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { workedSeconds } from '../../src/research/loop/session-budget.ts'
import { steerSession } from '../../src/research/loop/session-journal.ts'
import { noiseOf } from '../../src/research/loop/session-views.ts'
import { type OpenStore, openStore } from '../../src/store/index.ts'
import { toyExecutor, toyProposer, toyResearch, toyScore } from './toy-research.ts'

const slow = { timeout: 60_000 }

async function say(store: OpenStore, steering: Steering, author = 'ada'): Promise<ResearchState> {
  const { id } = await store.findExperiment('toy')
  return await steerSession(store, id, { author, steering, clock: systemClock })
}

/** A session that stops after so many experiments, so that people can say something to it; `goOn` makes some more. */
async function stopped(store: OpenStore, experiments: number, options: Partial<ResearchOptions> = {}) {
  const first = await runResearch(toyResearch({ store, ...options, settings: { budget: { experiments } } }))
  const goOn = (more: number, again: Partial<ResearchOptions> = {}) =>
    runResearch(toyResearch({ store, ...options, ...again, resume: true, budget: { experiments: experiments + more } }))
  return { ...first, goOn }
}

const idea = (WIDTH: number, family: string): Idea => ({
  title: `width ${WIDTH}`,
  hypothesis: '',
  family,
  category: 'architectural',
  cost: 'same',
  parents: [],
  change: { kind: 'knobs', knobs: { WIDTH } },
})

describe('what people say to a session', slow, () => {
  it('pins the base of the search, until it is freed (RES-620)', async () => {
    await using store = await openStore(':memory:')
    const { state, goOn } = await stopped(store, 4)
    await expect(say(store, { action: 'pause' })).rejects.toMatchObject({
      code: 'CLI_USAGE',
      fix: expect.stringContaining('--resume --max-experiments'),
    })
    const other = state.attempts.find(({ verdict }) => verdict === 'discarded')?.id ?? ''
    await say(store, { action: 'pin', attempt: other })
    const pinned = await goOn(2)
    const since = (from: ResearchState, to: ResearchState) =>
      to.calls.slice(from.calls.length).map(({ intent }) => intent.parents[0])
    expect(new Set(since(state, pinned.state))).toEqual(new Set([other]))
    await say(store, { action: 'unpin' })
    const freed = await goOn(4)
    expect(since(pinned.state, freed.state)).not.toContain(other)
  })

  it('keeps what the rule discarded, takes a veto back, and discards what it kept (RES-620)', async () => {
    await using store = await openStore(':memory:')
    const { state, goOn } = await stopped(store, 6)
    const bad = state.attempts.find(({ verdict, origin }) => verdict === 'discarded' && origin === 'proposer')?.id ?? ''
    const best = state.incumbent ?? ''
    await say(store, { action: 'veto', attempt: bad })
    await say(store, { action: 'override', attempt: bad, verdict: 'keep' }, 'bob')
    const kept = await goOn(1)
    expect(kept.state.kept).toContain(bad)
    const judged = kept.state.attempts.find(({ id }) => id === bad)
    expect(judged).toMatchObject({ verdict: 'provisional', author: 'bob', reason: 'Kept by bob.' })
    expect(judged?.vetoed).toBeUndefined()
    await say(store, { action: 'override', attempt: bad, verdict: 'discard' })
    await say(store, { action: 'override', attempt: best, verdict: 'discard' })
    const dropped = await goOn(2)
    expect([bad, best]).not.toContain(dropped.state.incumbent)
    expect(dropped.state.attempts.filter(({ author }) => author === 'ada').map(({ verdict }) => verdict)).toEqual([
      'discarded',
      'discarded',
    ])
    expect(dropped.state.unanswered).toEqual([])
    const runs = await store.runs(dropped.experimentId)
    expect(runs.filter(({ arm }) => arm === best).every((run) => run.kept === false)).toBe(true)
  })

  it('stands in the brief, bans and allows a family, and asks for a look (RES-620)', async () => {
    await using store = await openStore(':memory:')
    const { state, goOn } = await stopped(store, 3)
    const looks = state.looks
    await say(store, { action: 'add_idea', text: 'try a cosine schedule' })
    await say(store, { action: 'ban_family', family: 'shape' })
    await say(store, { action: 'add_idea', text: 'wide', idea: idea(40, 'shape') })
    const briefs: string[][] = []
    const plain = toyResearch({ store }).writeBrief
    const writeBrief: ResearchOptions['writeBrief'] = (known, request, extras) => {
      briefs.push([...(extras.backlog ?? [])])
      return plain(known, request, extras)
    }
    const banned = await goOn(1, { writeBrief })
    expect(briefs.length).toBeGreaterThan(0)
    expect(briefs.every((backlog) => backlog.includes('ada: try a cosine schedule'))).toBe(true)
    expect(banned.state.turnedDown).toContainEqual({
      title: 'width 40',
      family: 'shape',
      reason: 'its family is banned',
    })
    await say(store, { action: 'allow_family', family: 'shape' })
    await say(store, { action: 'add_idea', text: 'wide', idea: idea(40, 'shape') })
    await say(store, { action: 'confirm' })
    const allowed = await goOn(4)
    expect(allowed.state.attempts.some(({ family, origin }) => family === 'shape' && origin === 'author')).toBe(true)
    expect(allowed.state.confirmations.slice(looks).some(({ occasion }) => occasion === 'request')).toBe(true)
  })

  it('runs an idea that needs no call also when no money is left for one (RES-616)', async () => {
    await using store = await openStore(':memory:')
    const settings = { budget: { usd: 0.05 } }
    const first = await runResearch(toyResearch({ store, settings }))
    expect(first.state.end?.reason).toBe('usd')
    await say(store, { action: 'add_idea', text: 'wide', idea: idea(40, 'shape') })
    const second = await runResearch(toyResearch({ store, settings, resume: true, budget: { usd: 0.0501 } }))
    expect(second.state.spend.calls).toBe(first.state.spend.calls)
    expect(second.state.attempts.find(({ origin }) => origin === 'author')?.verdict).toBeDefined()
  })

  it('that could have no effect is refused (RES-620)', async () => {
    await using store = await openStore(':memory:')
    const executor = toyExecutor({
      run: (files, seed) =>
        toyScore(files, seed, 'val', 0) ===
        toyScore({ 'train.mjs': 'const RATE = 0.1\nconst WIDTH = 8\nconst DEPTH = 2\n' }, seed, 'val', 0)
          ? undefined
          : { status: 'failed', failure: { class: 'crash', reason: 'no' }, wallS: 0 },
    })
    await stopped(store, 1, { executor })
    const refused = (steering: Steering) => expect(say(store, steering)).rejects.toMatchObject({ code: 'CLI_USAGE' })
    await refused({ action: 'pin', attempt: 'a1' })
    await refused({ action: 'override', attempt: 'a1', verdict: 'keep' })
    await refused({ action: 'veto', attempt: 'baseline' })
    await expect(say(store, { action: 'pin', attempt: 'a99' })).rejects.toMatchObject({ code: 'STORE_MISSING' })
  })

  it('pauses it: nothing new is begun, and its time stands still (RES-614)', async () => {
    await using store = await openStore(':memory:')
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
    const { settings } = toyResearch({ store })
    const entries: ResearchEntry[] = [
      { at: at(0), type: 'session.begun', settings, files: {} },
      { at: at(10), type: 'notice', text: '' },
      { at: at(15), type: 'steered', author: 'ada', steering: { action: 'pause' } },
      { at: at(20), type: 'notice', text: 'what was running has ended' },
    ]
    const paused = entries.reduce(reduceResearch, initialResearchState)
    expect(paused.spend.wallS).toBe(15)
    expect(workedSeconds(paused, Date.parse(at(50)))).toBe(15)
    const more: ResearchEntry[] = [
      { at: at(50), type: 'steered', author: 'ada', steering: { action: 'resume' } },
      { at: at(53), type: 'notice', text: '' },
    ]
    expect(more.reduce(reduceResearch, paused).spend.wallS).toBe(18)
  })
})

describe('the hidden split', slow, () => {
  it('tells the search of a gain once it is confirmed, and of nothing before (RES-209)', async () => {
    await using store = await openStore(':memory:')
    const told: (number | undefined)[] = []
    const plain = toyResearch({ store }).writeBrief
    const writeBrief: ResearchOptions['writeBrief'] = (known, request, extras) => {
      told.push(extras.confirmedGain)
      return plain(known, request, extras)
    }
    const { state, goOn } = await stopped(store, 8, { writeBrief })
    expect(state.confirmations.map(({ confirmed }) => confirmed)).toEqual([true])
    expect(new Set(told)).toEqual(new Set([undefined]))
    told.length = 0
    await goOn(1)
    expect(told.length).toBeGreaterThan(0)
    expect(new Set(told)).toEqual(new Set([state.confirmations[0]?.reported?.gain]))
  })

  it('is looked at as often as the session is told to (RES-208)', async () => {
    const looks = async (confirm_every: number) => {
      await using store = await openStore(':memory:')
      const settings = { confirm_every, budget: { experiments: 12 } }
      const { state } = await runResearch(toyResearch({ store, settings }))
      return state.confirmations.map(({ occasion }) => occasion)
    }
    expect(await looks(1)).toContain('milestone')
    expect(await looks(0)).toEqual(['end'])
  })
})

describe('control runs', slow, () => {
  it('bring a fresh seed that races begin with, while nothing has changed (RES-221)', async () => {
    await using store = await openStore(':memory:')
    const entries: ResearchEntry[] = []
    const onEntry: ResearchOptions['onEntry'] = (entry) => void entries.push(entry)
    const settings = { control_every: 2, budget: { experiments: 12 } }
    await runResearch(toyResearch({ store, onEntry, settings }))
    const controls = entries.flatMap((entry, i) =>
      entry.type === 'control.finished' ? [{ control: entry, next: entries[i + 1] }] : [],
    )
    expect(controls.length).toBeGreaterThan(0)
    for (const { control, next } of controls) {
      expect(control.drifted).toBe(false)
      if (next?.type !== 'incumbent.refreshed') throw new Error('the bank did not take the seed')
      expect(next).toMatchObject({ attempt: control.attempt })
      expect(next.bank[0]).toBe(control.seed)
      expect(new Set(next.bank).size).toBe(next.bank.length)
    }
  })

  it('find a machine that has changed; races then use fresh seeds alone (RES-621)', async () => {
    await using store = await openStore(':memory:')
    const noise = 0.002
    let isSlower = false
    const executor = toyExecutor({
      run(files, seed, split) {
        const value = toyScore(files, seed, split, noise) + (isSlower ? 0.5 : 0)
        return { status: 'scored', value, secondary: {}, wallS: 0.1, level: 'in-process' }
      },
    })
    const entries: ResearchEntry[] = []
    const onEntry: ResearchOptions['onEntry'] = (entry, { spend }) => {
      entries.push(entry)
      if (spend.experiments === 3) isSlower = true
    }
    const settings = { control_every: 4, budget: { experiments: 9 } }
    const { state } = await runResearch(toyResearch({ store, executor, onEntry, settings }))
    const [first] = state.controls
    expect(first).toMatchObject({ drifted: true, experiments: 5 }) // four after the first, which was kept
    expect(Math.abs(first?.deviation ?? 0)).toBeGreaterThan(10)
    expect(state.notices.some((text) => text.startsWith('Drift:'))).toBe(true)
    const drift = entries.findIndex(({ type }) => type === 'control.finished')
    const fresh = entries.slice(drift).find((entry) => entry.type === 'incumbent.refreshed')
    const before = entries.slice(0, drift).flatMap((entry) => (entry.type === 'run.intended' ? [entry.seed] : []))
    if (fresh?.type !== 'incumbent.refreshed') throw new Error('the bank was not renewed')
    expect(fresh.bank.filter((seed) => before.includes(seed))).toEqual([])
    const races = entries
      .slice(drift)
      .flatMap((entry) => (entry.type === 'run.intended' && entry.purpose === 'race' ? [entry.seed] : []))
    expect(races.some((seed) => before.includes(seed))).toBe(false)
    expect(state.controls.slice(1).some(({ drifted }) => drifted)).toBe(false)
    expect(noiseOf(state).sigma).toBeLessThan(0.1)
  })
})

describe('workers', slow, () => {
  it('fire and advance: a slow run holds nobody up (RES-622)', async () => {
    await using store = await openStore(':memory:')
    let finished = 0
    let isHeld = false
    let release = () => {}
    const others = new Promise<void>((resolve) => {
      release = resolve
    })
    const base = toyExecutor()
    const executor: ResearchOptions['executor'] = {
      ...base,
      async run(request, signal) {
        const isFirst = !isHeld && toyScore(request.files, 1, 'val', 0) !== toyScore(base.task.baseline, 1, 'val', 0)
        if (isFirst) {
          isHeld = true
          await others // until ten runs that began later have ended
          return await base.run(request, signal)
        }
        const outcome = await base.run(request, signal)
        if (isHeld) finished += 1
        if (finished === 10) release()
        return outcome
      },
      [Symbol.asyncDispose]: base[Symbol.asyncDispose],
    }
    const settings = { workers: 2, budget: { experiments: 12 } }
    const { state } = await runResearch(toyResearch({ store, executor, proposer: toyProposer(), settings }))
    expect(state.spend.experiments).toBe(12)
    expect(finished).toBeGreaterThanOrEqual(10)
    expect(state.attempts.every(({ verdict }) => verdict !== undefined)).toBe(true)
  })
})
