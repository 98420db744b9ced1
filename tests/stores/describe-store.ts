// The contract of the record: everything that holds whatever database is behind it.
import { describeEvents } from './events.contract.ts'
import { describeExperiments } from './experiments.contract.ts'
import { describeIngest } from './ingest.contract.ts'
import { describeJobs } from './jobs.contract.ts'
import { describeKeeping } from './keeping.contract.ts'
import { describeLeases } from './leases.contract.ts'
import { describeMigrations } from './migrations.contract.ts'
import { describeNames } from './names.contract.ts'
import { describePoints } from './points.contract.ts'
import { describeProcesses } from './processes.contract.ts'
import { describeSearch } from './search.contract.ts'
import type { StoreUnderTest } from './store-under-test.ts'
import { describeVerdicts } from './verdicts.contract.ts'

export function describeStore(under: StoreUnderTest): void {
  describeExperiments(under)
  describeIngest(under)
  describeEvents(under)
  describePoints(under)
  describeNames(under)
  describeSearch(under)
  describeVerdicts(under)
  describeLeases(under)
  describeJobs(under)
  describeKeeping(under)
  describeMigrations(under)
  describeProcesses(under)
}
