/** What a trainer on this machine can compute with. */
export const engineKinds = ['cpu', 'reference', 'mock'] as const
export type EngineKind = (typeof engineKinds)[number]
