// The end of a session in the record: its evidence, its conclusion and what it took. Doing it again changes nothing.
import { loadLab } from '../../lab/index.ts'
import type { OpenSession } from './open-session.ts'
import type { ResearchOptions } from './research-options.ts'

export async function concludeSession({ journal }: OpenSession, { store }: ResearchOptions): Promise<void> {
  const { state, experimentId } = journal
  const experiment = await store.experiment(experimentId)
  if (experiment === undefined || (experiment.verdict !== undefined && experiment.conclusion === state.end?.text))
    return
  const { evidenceOf } = await loadLab()
  const { evidence } = await evidenceOf(store, experiment)
  const best = state.incumbent ?? null
  // Which arm is best was decided race by race, not by the mean that happens to be lowest.
  await store.verdicts.evidence(
    experimentId,
    { ...evidence, best_arm: best },
    { wallS: state.spend.wallS, costUsd: state.spend.usd },
  )
  await journal.append(
    [],
    [
      {
        type: 'experiment.finished',
        status: evidence.n_completed === 0 ? 'failed' : 'completed',
        verdict: evidence.verdict,
        conclusion: state.end?.text ?? '',
        ...(best === null ? {} : { best_arm: best }),
      },
    ],
  )
}
