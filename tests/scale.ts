// `npm run test:full` sets EVSYS_TEST_SCALE=full: properties, fuzzing and chaos then run many more cases.

export const inFullLane = process.env.EVSYS_TEST_SCALE === 'full'

/** Number of cases for a property that is worth `runs` of them in the fast lane. */
export function scaled(runs: number): number {
  return inFullLane ? runs * 20 : runs
}
