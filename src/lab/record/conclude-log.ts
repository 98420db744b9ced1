// The conclusion of an experiment that was read from a log, from what the record holds of it: written at its import, and again
// when one of its runs is marked invalid.
import type { RunRow } from '../../contracts/index.ts'
import type { Clock } from '../../kernel/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { evidenceOf } from '../experiment/conclude-experiment.ts'
import { logConclusion } from './log-conclusion.ts'
import { logGains, type ScoredRow } from './log-gains.ts'
import { LogSource } from './log-source.ts'

export async function concludeLog(store: OpenStore, experiment: ExperimentRow, clock: Clock): Promise<void> {
  const { evidence, runs } = await evidenceOf(store, experiment)
  await store.verdicts.evidence(experiment.id, evidence, { wallS: 0 })
  const stream = `experiment:${experiment.id}`
  const { nextEvent } = await store.cursor(stream)
  await store.append(stream, nextEvent - 1, [
    {
      type: 'experiment.finished',
      seq: nextEvent,
      at: new Date(clock.now()).toISOString(),
      experiment_id: experiment.id,
      status: evidence.n_completed === 0 ? 'failed' : 'completed',
      verdict: evidence.verdict,
      conclusion: textOf(
        experiment,
        runs.map(({ run }) => run),
      ),
    },
  ])
}

function textOf({ plan, provenance }: ExperimentRow, runs: readonly RunRow[]): string {
  const { metric, direction } = plan.objective ?? { metric: 'score', direction: 'max' as const }
  const { decimals } = LogSource.parse(provenance).imported
  const valid = runs.filter((run) => run.invalid === undefined)
  const left = runs.length - valid.length
  const text = logConclusion(
    logGains(
      valid.map((run) => scoredRow(run, metric)),
      metric,
      direction,
    ),
    decimals,
  )
  return left === 0 ? text : `${text} ${left} ${left === 1 ? 'run is' : 'runs are'} marked invalid and left out.`
}

/** A run of the record as a row of the log that it came from. */
export function scoredRow(run: RunRow, metric: string): ScoredRow {
  return {
    name: run.name,
    description: run.description ?? '',
    status: run.status === 'failed' ? 'crash' : run.kept === true ? 'keep' : 'discard',
    score: run.claimed?.[metric],
  }
}
