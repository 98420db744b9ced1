import type { EngineId } from '../contracts/index.ts'

/** An engine's id as text: equal for engines that give equal bytes. */
export function engineIdText({ kind, sourceHash, threads, cpuFeatures }: EngineId): string {
  const more = [...(threads === 1 ? [] : [`${threads}-threads`]), ...cpuFeatures]
  return [kind, sourceHash.slice(0, 16), ...more].join('-')
}
