// What other rooms may use of builtins.
export { builtins } from './builtins.ts'
