// How many cases tests run. `npm run test:full` sets EVSYS_TEST_SCALE=full: properties, fuzzing and chaos then run many more.
// `brief` is for repetitions of a suite that runs as a whole elsewhere in CI: on other Node versions, on a fresh clone.

const scale = process.env.EVSYS_TEST_SCALE

export const inFullLane = scale === 'full'

/** Number of cases for a property that is worth `runs` of them in the fast lane. */
export function scaled(runs: number): number {
  return inFullLane ? runs * 20 : runs
}

/** The same where each case starts a process, which is what the time of a suite goes into. */
export function scaledProcesses(runs: number): number {
  if (scale === 'brief') return Math.ceil(runs / 10)
  return inFullLane ? runs * 5 : runs
}
