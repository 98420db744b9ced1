// What this room loads when it is asked for. Apart from the index, so that asking loads nothing else of the room.

/** The CPU engine, and what it is on this machine. */
export function loadCpuEngine(): Promise<typeof import('../cpu/open-cpu-engine.ts')> {
  return import('../cpu/open-cpu-engine.ts')
}

/** Float64 in plain TypeScript: the oracle of the others. */
export function loadReferenceEngine(): Promise<typeof import('../reference/reference-engine.ts')> {
  return import('../reference/reference-engine.ts')
}

/** A bigram model with true gradients. */
export function loadMockEngine(): Promise<typeof import('../mock/mock-engine.ts')> {
  return import('../mock/mock-engine.ts')
}
