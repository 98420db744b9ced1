// What tests start in processes and threads of their own is transpiled before any of them: a start under a limit of memory
// or time then costs what it costs from dist/.
import { transpileAll } from '../scripts/transpile.mjs'

export function setup(): void {
  transpileAll(['src', 'tests'])
}
