// An attempt becomes the incumbent. The bank of seeds is refreshed, because it won on those it was lucky on.
import type { ResearchState } from '../../contracts/index.ts'
import { refreshBank } from '../judge/index.ts'
import type { NewEntry } from './session-journal.ts'
import type { SessionPlugins } from './session-plugins.ts'

export function keepEntries(state: ResearchState, { keepRule }: SessionPlugins, attempt: string): NewEntry[] {
  const kept: NewEntry = { type: 'kept', attempt, before: state.incumbent ?? attempt }
  if (keepRule.incumbent === 'kept') return [kept]
  const { bank } = refreshBank({
    bank: state.bank,
    sessionSeed: state.settings?.seed ?? 0,
    number: state.gauges.keeps + 1,
    used: state.usedSeeds,
  })
  return [kept, { type: 'incumbent.refreshed', attempt, bank: [...bank] }]
}
