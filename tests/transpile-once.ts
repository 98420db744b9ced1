// The sources that children of tests run are transpiled before any of them starts, which then costs little more than from dist/.
import { transpileAll } from '../scripts/transpile.mjs'

export function setup(): void {
  transpileAll(['src', 'tests'])
}
