// What other rooms may use of research.
export { allBuiltins } from './all-builtins.ts'
export { researchPlugins } from './plugins.ts'
