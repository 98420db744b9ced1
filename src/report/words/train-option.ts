/** The option that repeats a training time; none where nothing is trained. */
export function trainOption(seconds: number | undefined): string[] {
  return seconds === undefined || seconds < 1e-3 ? [] : [`--train-seconds ${seconds}`]
}
