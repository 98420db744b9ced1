// What other rooms may use of the arena: offline benches of the research loop. Strategies on tables and synthetic worlds, killers of
// hopeless runs on curves, attacks on the scorer, crashes of a session. Only `research bench` imports it, on demand.
export { attacks } from './adversary/attacks.ts'
export { type AdversaryReport, benchAdversary } from './adversary/bench-adversary.ts'
export { honestCandidates } from './adversary/honest-candidates.ts'
export { benchChaos, type ChaosRow } from './chaos/bench-chaos.ts'
export { benchKillers, type KillerRow } from './curves/bench-killers.ts'
export { curveWorlds } from './curves/curve-world.ts'
export { killers } from './curves/run-curve-session.ts'
export { type BenchResult, benchStrategies } from './strategies/bench-strategies.ts'
export { chosenWorlds, syntheticWorlds } from './strategies/synthetic-worlds.ts'
export { tableWorld } from './strategies/world.ts'
export { readSearchTables } from './tables/read-search-table.ts'
