// What other rooms may use of the lab.
export { builtins } from './builtins.ts'
