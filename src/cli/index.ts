// What others may use of the command line: the whole of it, as a function.

export { main } from './main.ts'
export type { CliIo, TextSink } from './output/io.ts'
