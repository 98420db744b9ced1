// A research session of the record as the data of its report: the state that its journal folds to, with every candidate's files.
import type { CandidateFiles, FileChanges, ResearchAttempt, ResearchState } from '../contracts/index.ts'
import { shellWord } from '../kernel/index.ts'
import { earlyEnds, extraMetrics } from '../research/index.ts'
import { pooledNoise } from '../stats/index.ts'
import type { BegunSession } from './read-session.ts'
import type {
  ReportedAttempt,
  ReportedConfirmation,
  ReportedNoise,
  ResearchReportInput,
} from './research-report-input.ts'
import { trainOption } from './words/train-option.ts'

export interface SessionFacts {
  /** Of the experiment in the record. */
  readonly id: string
  /** As commands name the task's folder. */
  readonly dir?: string
}

/** Data of the report of a session that has begun. */
export function sessionInput(state: BegunSession, { id, dir }: SessionFacts): ResearchReportInput {
  const { settings, spend } = state
  const files = filesByAttempt(state)
  const costs = state.attempts.reduce((sum, { costUsd }) => sum + costUsd, 0)
  const walls = state.attempts.reduce((sum, { wallS }) => sum + wallS, 0)
  return {
    task: {
      name: settings.task,
      metric: settings.metric,
      direction: settings.direction,
      ...(settings.unit === undefined ? {} : { unit: settings.unit }),
      ...(settings.train_seconds < 1e-3 ? {} : { trainSeconds: settings.train_seconds }), // a table is looked up
      hash: settings.task_hash,
      dir: dir ?? settings.reference ?? settings.task,
      secondary: settings.secondary,
    },
    session: {
      id,
      ...(state.startedAt === undefined ? {} : { startedAt: state.startedAt }),
      ...(state.lastAt === undefined ? {} : { endedAt: state.lastAt }),
      standing: state.end === undefined ? state.status : `${state.status}: ${firstSentence(state.end.text)}`,
      settings: [
        ['proposer', settings.proposer.kind],
        ['strategy', settings.strategy.kind],
        ['keep rule', settings.keep_rule.kind],
        ...held(state),
      ],
      reproduce: reproduceCommand(state),
    },
    attempts: state.attempts.map((attempt) => reported(attempt, files)),
    ...(state.incumbent === undefined || state.incumbent === state.baseline ? {} : { champion: state.incumbent }),
    succession: state.kept,
    noise: noiseOf(state),
    confirmations: state.confirmations.map(confirmationOf),
    looks: { used: state.looks },
    overhead: { costUsd: Math.max(0, spend.usd - costs), wallS: Math.max(0, spend.runS - walls) },
    notes: notesOf(state),
  }
}

// What follows names the best, which the report does by itself.
function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text
}

// How candidates were shut in, and what they computed on.
function held({ attempts }: BegunSession): (readonly [string, string])[] {
  const runs = attempts.flatMap((attempt) => attempt.runs)
  const told = (values: readonly (string | undefined)[]) =>
    [...new Set(values.flatMap((value) => value ?? []))].join(', ')
  const [levels, cards] = [told(runs.map(({ level }) => level)), told(runs.map(({ accelerator }) => accelerator))]
  return [
    ...(levels === '' || levels === 'in-process' ? [] : [['sandbox', levels] as const]),
    ...(cards === '' ? [] : [['GPU', cards] as const]),
  ]
}

/** One line that begins the same session again. */
function reproduceCommand({ settings, spend }: BegunSession): string {
  const { proposer, strategy, keep_rule, budget } = settings
  const experiments = budget.experiments ?? spend.experiments
  const { model, ...params } = proposer.params
  const { preset } = keep_rule.params
  return [
    `evsys research run --task ${shellWord(settings.reference ?? settings.task)}`,
    `--proposer ${shellWord(proposer.kind)}`,
    ...(typeof model === 'string' ? [`--model ${shellWord(model)}`] : []),
    ...(Object.keys(params).length === 0 ? [] : [`--proposer-params ${shellWord(JSON.stringify(params))}`]),
    ...(strategy.kind === 'default' ? [] : [`--strategy ${shellWord(strategy.kind)}`]),
    ...(keep_rule.kind === 'default' ? [] : [`--keep-rule ${shellWord(keep_rule.kind)}`]),
    ...(typeof preset === 'string' ? [`--preset ${shellWord(preset)}`] : []),
    ...(experiments > 0 ? [`--max-experiments ${experiments}`] : []),
    ...trainOption(settings.train_seconds),
    `--workers ${settings.workers}`,
    `--seed ${settings.seed}`,
  ].join(' ')
}

// Only what differs from the base was written down.
function filesByAttempt({ attempts, files }: ResearchState): ReadonlyMap<string, CandidateFiles> {
  const all = new Map<string, CandidateFiles>()
  for (const { id, parents, files: changes } of attempts) {
    const base = parents[0] === undefined ? files : all.get(parents[0])
    if (base !== undefined) all.set(id, changed(base, changes))
  }
  return all
}

function changed(base: CandidateFiles, changes: FileChanges): CandidateFiles {
  const files = new Map(Object.entries(base))
  for (const [path, text] of Object.entries(changes)) {
    if (text === null) files.delete(path)
    else files.set(path, text)
  }
  return Object.fromEntries(files)
}

function reported(attempt: ResearchAttempt, files: ReadonlyMap<string, CandidateFiles>): ReportedAttempt {
  const own = files.get(attempt.id)
  const { ablation } = attempt
  const dropped = ablation && {
    dropped: ablation.dropped,
    ...(ablation.effect === undefined ? {} : { effect: ablation.effect }),
  }
  return {
    attempt,
    ...(own === undefined ? {} : { files: own }),
    costUsd: attempt.costUsd,
    wallS: attempt.wallS,
    extra: extraMetrics(attempt),
    ...(dropped === undefined ? {} : { ablation: dropped }),
  }
}

function noiseOf({ attempts, jitter, baseline }: ResearchState): ReportedNoise {
  const scores = attempts.find(({ id }) => id === baseline)?.scores ?? []
  const first = [...new Map(scores.map(({ seed, value }) => [seed, value])).values()]
  const pooled = pooledNoise({ baseline: first, repeats: jitter })
  const latest = attempts.findLast(({ gain }) => gain !== undefined)?.gain?.sigma
  const sigma = latest ?? pooled.sigma
  return {
    ...(pooled.seedSd === null ? {} : { seedSd: pooled.seedSd }),
    ...(sigma == null ? {} : { sigma }),
    ...(pooled.jitterSd === null ? {} : { jitterSd: pooled.jitterSd }),
  }
}

function confirmationOf({
  attempt,
  p,
  confirmed,
  reported: told,
}: ResearchState['confirmations'][number]): ReportedConfirmation {
  return {
    attempt,
    p,
    split: 'test',
    passed: confirmed,
    ...(told === undefined ? {} : { gain: told.gain, seeds: told.n }),
    ...(told?.interval === undefined ? {} : { interval: [told.interval.lower, told.interval.upper], confidence: 0.9 }),
  }
}

function notesOf(state: ResearchState): NonNullable<ResearchReportInput['notes']> {
  const { steered, notices, gauges, spend, banned } = state
  const early = earlyEnds(state)
  const said = steered.map(({ at, author, steering }) => {
    const { action, ...about } = steering
    const words = Object.values(about).filter((value) => typeof value === 'string')
    return { at, author, text: [action.replaceAll('_', ' '), ...words].join(': ') }
  })
  const facts = [
    ...(gauges.duplicates === 0
      ? []
      : [`${gauges.duplicates} proposed ideas had been tried before and were answered from memory.`]),
    ...(gauges.killed === 0
      ? []
      : [
          `${gauges.killed} runs were ended early by their curve; ${gauges.audited} were left to finish as a check, and ${early.wrong} of those ended better than the best (${early.regret.toFixed(2)} sigma lost for each run that was ended).`,
        ]),
    ...(spend.lostCalls === 0
      ? []
      : [`${spend.lostCalls} calls were lost with their controller and are charged by forecast.`]),
    ...(banned.length === 0 ? [] : [`Banned families: ${banned.join(', ')}.`]),
  ]
  return [...said, ...[...notices, ...facts].map((text) => ({ text }))]
}
