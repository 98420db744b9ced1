// How property tests run in each lane. The fast lane uses one seed, so that a red build is red again on the next machine; the
// full lane draws a fresh seed (fast-check prints it on failure) and runs many more cases.

import fc from 'fast-check'
import { inFullLane, scaled } from './scale.ts'

fc.configureGlobal({ numRuns: scaled(100), ...(inFullLane ? {} : { seed: 20 }) })
