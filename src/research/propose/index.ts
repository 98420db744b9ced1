// What the other folders of research may use of proposing.
export { type BriefExtras, briefCharacters, writeBrief } from './brief/write-brief.ts'
export { type FoundKnobs, findKnobs } from './code/find-knobs.ts'
export {
  type CallForecast,
  capAgainst,
  forecastCall,
  inCents,
  type LedgerEntry,
  type LedgerTotal,
  ledgerEntry,
  lostEntry,
  sumLedger,
  sumUsd,
} from './ledger/ledger.ts'
export { usageOfError } from './llm/proposal-error.ts'
export { type Materialised, materialise } from './materialise.ts'
export { proposePlugins } from './plugins.ts'
