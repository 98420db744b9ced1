/** What makes Node run our TypeScript sources, when they were not compiled: the value of `--import`. */
export function sourceLoader(): string {
  return new URL('../../../scripts/run-sources.mjs', import.meta.url).href
}
