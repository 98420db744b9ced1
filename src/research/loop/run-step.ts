// A run that the session needs: it is done, somebody is at it, or it is the next step.
import type { RecordedRunOf, ResearchAttempt, RunPurpose } from '../../contracts/index.ts'
import type { Deciding, RunStep } from './step.ts'

export type Needed = { readonly done: RecordedRunOf } | { readonly done?: undefined; readonly step?: RunStep }

/** `step` is absent while somebody is at it. A failure of the machine is tried once more. */
export function neededRun(
  { busy }: Pick<Deciding, 'busy'>,
  attempt: ResearchAttempt,
  { seed, split = 'val', purpose }: { seed: number; split?: 'val' | 'test'; purpose: RunPurpose },
): Needed {
  const name = runName(attempt.id, seed, split, purpose)
  for (const run of [name, `${name}-again`]) {
    const known = attempt.runs.find((each) => each.run === run)
    if (busy.has(`run:${run}`)) return {}
    if (known === undefined || known.status === 'running') {
      return { step: { kind: 'run', run, attempt: attempt.id, seed, split, purpose } }
    }
    if (known.failure?.class !== 'infra' || run !== name) return { done: known }
  }
  return {}
}

/** Name of a run in the record. */
function runName(attempt: string, seed: number, split: 'val' | 'test', purpose: RunPurpose): string {
  const suffix = split === 'test' ? '-test' : purpose === 'repeat' ? '-repeat' : ''
  return `${attempt}-s${seed}${suffix}`
}
