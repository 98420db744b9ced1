// What is left open in a research session: near misses that a few seeds would decide, keeps without confirmation, ideas that
// people want tried.
import { durationSeconds, type ResearchState } from '../../contracts/index.ts'
import { shellWord } from '../../kernel/index.ts'
import { claimOf, racePrior, researchSubject } from '../../research/index.ts'
import { type EffectPrior, shrink, usualPower } from '../../stats/index.ts'
import { effectOf } from '../figures/placed-attempt.ts'
import { type NextStep, signed } from './next-step.ts'

export interface OpenSession {
  readonly id: string
  readonly name: string
  /** Whether `--resume` means this one; otherwise commands name it. */
  readonly isNewest?: boolean | undefined
  readonly state: ResearchState
}

/** Steps of one kind from one session: the best of them are enough. */
const mostOfAKind = 5
/** Fresh seeds of a confirmation. */
const confirmSeeds = 5
/** Experiments by which a session that ended is continued, and those that show whether it still finds something. */
const moreAttempts = 5
const recentAttempts = 10
/** A near miss that would take more seeds than this is none. */
const mostSeeds = 60

export function sessionSteps(open: OpenSession): NextStep[] {
  const { attempts } = open.state
  const ideas = attempts.filter(({ number, mode }) => number !== 0 && mode !== 'ablate')
  const prior = racePrior(ideas.flatMap(({ gain }) => gain ?? []))
  return [
    ...resumeStep(open),
    ...continueStep(open),
    ...nearMissSteps(open, prior),
    ...confirmStep(open, prior),
    ...backlogSteps(open),
  ]
}

function resumeStep(open: OpenSession): NextStep[] {
  const { status, settings, spend } = open.state
  const cap = settings?.budget.experiments
  const left = cap === undefined ? moreAttempts : cap - spend.experiments
  if (status !== 'interrupted' || left <= 0) return []
  return [
    {
      ...place(open, 2 * left, left),
      kind: 'resume',
      title: cap === undefined ? 'resume the session' : `resume the session: ${left} experiments are left`,
      why: 'it was interrupted within its budget',
      command: resumeCommand(open),
      chance: 0.5,
    },
  ]
}

// A search that ended at its cap, and was still finding something.
function continueStep(open: OpenSession): NextStep[] {
  const { status, settings, spend, attempts, end } = open.state
  if (status !== 'ended' || settings === undefined) return []
  // More room finds nothing where the proposer has nothing new, or fails.
  if (end?.reason === 'finished' || end?.reason === 'failed') return []
  const tried = attempts.filter(({ number, mode, verdict }) => number > 0 && mode !== 'ablate' && verdict !== undefined)
  const recent = tried.slice(-recentAttempts)
  const kept = recent.filter(({ verdict }) => verdict === 'provisional' || verdict === 'confirmed').length
  const each = (kept + 1) / (recent.length + 2) // Laplace's rule
  return [
    {
      ...place(open, moreAttempts * Math.max(1, Math.round(spend.runs / Math.max(1, spend.experiments))), moreAttempts),
      kind: 'resume',
      title: `search on: ${moreAttempts} more experiments on ${settings.task}`,
      why: `of the last ${recent.length} experiments ${kept === 0 ? 'none was' : kept === 1 ? '1 was' : `${kept} were`} kept`,
      command: resumeCommand(open, moreAttempts),
      chance: 1 - (1 - each) ** moreAttempts,
    },
  ]
}

function nearMissSteps(open: OpenSession, prior: EffectPrior | null): NextStep[] {
  return open.state.attempts
    .flatMap(({ id, title, verdict, gain }) => {
      if (verdict !== 'inconclusive' || gain === undefined || gain.mean <= 0 || gain.sigma === 0) return []
      const effect = effectOf(gain)
      const believed = prior === null ? gain.mean : shrink(effect, prior).effect
      if (believed <= 0) return []
      // A one-sided test of 5 % with power 0.8: n = (2.5 sigma / gain)^2.
      const more = Math.max(1, Math.ceil((2.5 * (gain.sigma / believed)) ** 2) - gain.n)
      if (more > mostSeeds) return []
      const better = prior === null ? 0.5 : 1 - shrink(effect, prior).probabilityNotBetter
      const step: NextStep = {
        ...place(open, 2 * more),
        kind: 'near_miss',
        title: `run “${title}” on ${more} more ${more === 1 ? 'seed' : 'seeds'}`,
        why: `a near miss: ${signed(gain.mean)} over ${gain.n} ${gain.n === 1 ? 'seed' : 'seeds'}, ${(gain.mean / gain.sigma).toFixed(1)} times the noise of one difference`,
        attempt: id,
        chance: usualPower * better,
      }
      return [step]
    })
    .sort((a, b) => b.chance / b.runs - a.chance / a.runs)
    .slice(0, mostOfAKind)
}

function confirmStep(open: OpenSession, prior: EffectPrior | null): NextStep[] {
  const { attempts, incumbent, baseline, settings } = open.state
  if (settings?.hidden_test === false) return []
  const champion = attempts.find(({ id }) => id === incumbent)
  if (champion === undefined || champion.id === baseline || champion.verdict !== 'provisional') return []
  if (champion.confirmation !== undefined && claimOf(champion.confirmation) !== 'not confirmed') return []
  const { gain } = champion
  const better = gain === undefined || prior === null ? 0.5 : 1 - shrink(effectOf(gain), prior).probabilityNotBetter
  return [
    {
      ...place(open, 2 * confirmSeeds),
      kind: 'confirm',
      title: `confirm “${champion.title}” on ${confirmSeeds} fresh seeds and the hidden split`,
      why: 'the session ends with it, and it is provisional: better in its race, and no more',
      attempt: champion.id,
      command: steerCommand(open),
      chance: usualPower * better,
    },
  ]
}

function backlogSteps(open: OpenSession): NextStep[] {
  const { backlog, attempts } = open.state
  const tried = attempts.filter(({ number, verdict }) => number > 0 && verdict !== undefined)
  const kept = tried.filter(({ verdict }) => verdict === 'provisional' || verdict === 'confirmed').length
  const reads = !readsNoWords.has(open.state.settings?.proposer.kind ?? '')
  return backlog.slice(0, mostOfAKind).map(({ author, text, idea }) => ({
    ...place(open, 2, 1),
    kind: 'idea',
    title: `try: ${text}`,
    why: `${author} wants it tried, and no one has${idea !== undefined || reads ? '' : '; its proposer reads no words, so it takes a change, with --idea, or a session with another proposer'}`,
    command: idea !== undefined || reads ? resumeCommand(open, 1) : undefined,
    // Laplace's rule: one keep and one discard more than were seen.
    chance: (kept + 1) / (tried.length + 2),
  }))
}

/** Proposers that decide by numbers alone: an idea in words is lost on them. */
const readsNoWords: ReadonlySet<string> = new Set(['optimizer'])

/** One that runs takes the request up by itself. */
function steerCommand(open: OpenSession): string {
  const steer = `evsys research steer confirm --session ${open.id}`
  const resume = resumeCommand(open, 1)
  return resume === undefined ? steer : `${steer} && ${resume}`
}

/** The command that resumes the session, with caps raised where they leave no room for so many more; undefined while it runs. */
function resumeCommand({ id, name, isNewest = true, state }: OpenSession, more = 0): string | undefined {
  const { settings, spend, status } = state
  if (status === 'running') return undefined
  const experiments = settings?.budget.experiments
  const wanted = spend.experiments + more
  // Without a cap on experiments another one ended it.
  const isRaised = experiments === undefined ? settings === undefined && more > 0 : wanted > experiments
  return [
    `evsys research run ${settings === undefined ? `--task ${shellWord(name)}` : researchSubject(settings)} --resume`,
    ...(isNewest ? [] : [`--session ${id}`]),
    ...(isRaised ? [`--max-experiments ${wanted}`] : []),
    ...raisedCaps(state, more).map((cap) => `--budget ${cap}`),
  ].join(' ')
}

/** Caps on runs, time, tokens and money that more experiments, of twice what each took so far, would pass. */
function raisedCaps({ settings, spend, end }: ResearchState, more: number): string[] {
  const { wall, tokens, usd, runs } = settings?.budget ?? {}
  const caps = [
    { name: 'runs' as const, cap: runs, used: spend.runs, unit: '' },
    {
      name: 'wall' as const,
      cap: wall === undefined ? undefined : durationSeconds(wall),
      used: spend.wallS,
      unit: 's',
    },
    { name: 'tokens' as const, cap: tokens, used: spend.tokens, unit: '' },
    { name: 'usd' as const, cap: usd, used: spend.usd, unit: '' },
  ]
  return caps.flatMap(({ name, cap, used, unit }) => {
    if (cap === undefined || more === 0) return []
    const needed = used + (2 * more * used) / Math.max(1, spend.experiments)
    if (needed <= cap && end?.reason !== name) return []
    const raised = Math.max(needed, 1.1 * cap)
    return [`${name}=${name === 'usd' ? Number(raised.toPrecision(3)) : Math.ceil(raised)}${unit}`]
  })
}

// More seeds of what is there need no proposer; a new experiment does.
function place({ id, name, state: { spend } }: OpenSession, runs: number, experiments = 0) {
  return {
    experiment_id: id,
    name,
    runs,
    seconds: spend.runs === 0 ? null : (runs * spend.runS) / spend.runs,
    usd: experiments === 0 ? 0 : spend.experiments === 0 ? null : (experiments * spend.usd) / spend.experiments,
  }
}
