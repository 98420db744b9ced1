// What other rooms may use of the bench.
export { benchStrategies } from './bench-strategies.ts'
export { readSearchTables } from './read-search-table.ts'
export { syntheticWorlds } from './synthetic-worlds.ts'
export { tableWorld } from './table-world.ts'
