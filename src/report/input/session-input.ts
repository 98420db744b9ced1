// A research session of the record as the data of its report: the state that its journal folds to, with every candidate's files.
import type { CandidateFiles, ResearchState } from '../../contracts/index.ts'
import { shellWord } from '../../kernel/index.ts'
import {
  applyChanges,
  earlyEnds,
  extraMetrics,
  researchSubject,
  sessionClaim,
  tradeOffs,
} from '../../research/index.ts'
import { pooledNoise } from '../../stats/index.ts'
import type { BegunSession } from './read-session.ts'
import type { ReportedConfirmation, ReportedNoise, ReportedRun, ResearchReportInput } from './report-input.ts'

/** Data of the report of a session that has begun; `id` is that of its experiment. */
export function sessionInput(state: BegunSession, { id }: { readonly id: string }): ResearchReportInput {
  const { settings, spend } = state
  const files = filesByAttempt(state)
  const costs = state.attempts.reduce((sum, { costUsd }) => sum + costUsd, 0)
  const walls = state.attempts.reduce((sum, { wallS }) => sum + wallS, 0)
  return {
    task: {
      name: settings.task,
      metric: settings.metric,
      direction: settings.direction,
      unit: settings.unit,
      trainSeconds: settings.train_seconds < 1e-3 ? undefined : settings.train_seconds, // a table is looked up
      hash: settings.task_hash,
      dir: settings.reference ?? settings.task,
      secondary: settings.secondary,
      bounds: settings.bounds ?? boundsOf(state),
      knobs: settings.space,
    },
    session: {
      id,
      startedAt: state.startedAt,
      endedAt: state.lastAt,
      status: state.end === undefined ? state.status : `${state.status}: ${firstSentence(state.end.text)}`,
      settings: [
        ['proposer', settings.proposer.kind],
        ['strategy', settings.strategy.kind],
        ['keep rule', settings.keep_rule.kind],
        ...held(state),
      ],
      reproduce: reproduceCommand(state),
    },
    attempts: state.attempts.map((attempt) => {
      const { id, costUsd, wallS, ablation } = attempt
      return {
        attempt,
        files: files.get(id),
        costUsd,
        wallS,
        extra: extraMetrics(attempt),
        ablation,
        runs: runsOf(attempt),
      }
    }),
    champion: state.incumbent === state.baseline ? undefined : state.incumbent,
    succession: state.kept,
    noise: noiseOf(state),
    confirmations: state.confirmations.map(confirmationOf),
    claim: sessionClaim(state),
    tradeOffs: tradeOffs(state),
    testEvaluations: { used: state.looks },
    overhead: { costUsd: Math.max(0, spend.usd - costs), wallS: Math.max(0, spend.runS - walls) },
    notes: notesOf(state),
  }
}

// Outcomes that are all right or wrong make a share.
function boundsOf({ attempts }: BegunSession): { least: number; most: number } | undefined {
  const items = attempts.flatMap(({ scores }) =>
    scores.flatMap((score) => (score.items === 'fresh' ? [] : (score.items ?? []))),
  )
  return items.length > 0 && items.every((item) => item === 0 || item === 1) ? { least: 0, most: 1 } : undefined
}

function runsOf({ runs }: BegunSession['attempts'][number]): ReportedRun[] {
  return runs.flatMap(({ seed, split, status, value, curve, wallS, peakMemoryBytes, failure }) =>
    split === 'test' || status === 'running'
      ? []
      : [
          {
            seed,
            value,
            curve,
            wallS,
            peakMemoryBytes,
            failure: failure?.reason ?? (status === 'killed' ? 'ended early' : undefined),
          },
        ],
  )
}

// What follows names the best, which the report does by itself.
function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text
}

// How candidates were shut in, and what they computed on.
function held({ attempts }: BegunSession): (readonly [string, string])[] {
  const runs = attempts.flatMap((attempt) => attempt.runs)
  const listed = (values: readonly (string | undefined)[]) =>
    [...new Set(values.flatMap((value) => value ?? []))].join(', ')
  const [levels, cards] = [listed(runs.map(({ level }) => level)), listed(runs.map(({ accelerator }) => accelerator))]
  const memory = listed(runs.map(({ memoryBy }) => memoryBy))
  return [
    ...(levels === '' || levels === 'in-process' ? [] : [['sandbox', levels] as const]),
    ...(memory === '' ? [] : [['limit of memory', memory] as const]),
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
    `evsys research run ${researchSubject(settings)}`,
    `--proposer ${shellWord(proposer.kind)}`,
    ...(typeof model === 'string' ? [`--model ${shellWord(model)}`] : []),
    ...(Object.keys(params).length === 0 ? [] : [`--proposer-params ${shellWord(JSON.stringify(params))}`]),
    ...(strategy.kind === 'default' ? [] : [`--strategy ${shellWord(strategy.kind)}`]),
    ...(keep_rule.kind === 'default' ? [] : [`--keep-rule ${shellWord(keep_rule.kind)}`]),
    ...(typeof preset === 'string' ? [`--preset ${shellWord(preset)}`] : []),
    ...(experiments > 0 ? [`--max-experiments ${experiments}`] : []),
    ...(settings.catalog === undefined ? trainOption(settings.train_seconds) : []),
    `--workers ${settings.workers}`,
    `--seed ${settings.seed}`,
  ].join(' ')
}

// Only what differs from the base was written down.
function filesByAttempt({ attempts, files }: ResearchState): ReadonlyMap<string, CandidateFiles> {
  const all = new Map<string, CandidateFiles>()
  for (const { id, parents, files: changes } of attempts) {
    const base = parents[0] === undefined ? files : all.get(parents[0])
    if (base !== undefined) all.set(id, applyChanges(base, changes))
  }
  return all
}

function noiseOf({ attempts, jitter, baseline }: ResearchState): ReportedNoise {
  const scores = attempts.find(({ id }) => id === baseline)?.scores ?? []
  const first = [...new Map(scores.map(({ seed, value }) => [seed, value])).values()]
  const pooled = pooledNoise({ baseline: first, repeats: jitter })
  const latest = attempts.findLast(({ gain }) => gain !== undefined)?.gain?.sigma
  return {
    seedSd: pooled.seedSd ?? undefined,
    sigma: latest ?? pooled.sigma ?? undefined,
    jitterSd: pooled.jitterSd ?? undefined,
  }
}

function confirmationOf(entry: ResearchState['confirmations'][number]): ReportedConfirmation {
  const { attempt, p, confirmed, better, reported } = entry
  const { gain, n: seeds, interval, items, shrunken, confidence = 0.9 } = { gain: undefined, n: undefined, ...reported }
  const ends = interval && ([interval.lower, interval.upper] as const)
  return {
    attempt,
    p,
    split: 'test',
    passed: confirmed,
    better,
    shrunken,
    gain,
    seeds,
    items,
    interval: ends,
    confidence: ends && confidence,
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

/** The option that repeats a training time; none where nothing is trained. */
export function trainOption(seconds: number | undefined): string[] {
  return seconds === undefined || seconds < 1e-3 ? [] : [`--train-seconds ${seconds}`]
}
