// What others may use of the command line: the whole of it, as a function.
export type { CliIo, TextSink } from './io.ts'
export { main } from './main.ts'
