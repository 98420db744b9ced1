// How many cases tests run. `npm run test:full` sets EVSYS_TEST_SCALE=full: properties, fuzzing and chaos then run many more.
// `brief` is for repetitions of a suite that runs as a whole elsewhere in CI: on other Node versions, on a fresh clone.

const scale = process.env.EVSYS_TEST_SCALE

export const inFullLane = scale === 'full'
const isBrief = scale === 'brief'

/** Number of cases for a property that is worth `runs` of them in the fast lane; a repetition of it draws the first fifth of them. */
export function scaled(runs: number): number {
  if (isBrief) return Math.ceil(runs / 5)
  return inFullLane ? runs * 20 : runs
}

/** The same where each case starts a process, which is what the time of a suite goes into. */
export function scaledProcesses(runs: number): number {
  if (isBrief) return Math.ceil(runs / 10)
  return inFullLane ? runs * 5 : runs
}

/** Length of a text that is worth `tokens` of them where the suite runs as a whole; what a repetition needs is text of several blocks. */
export function scaledTokens(tokens: number): number {
  return isBrief ? Math.min(tokens, 300) : tokens
}
