// `validate` of a matrix with 100 arms, as a whole process. Limit: 300 ms. Bare Node stands beside it, to tell a slow program
// from a slow machine.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bestOf, printTable } from './best-of.mjs'

const limitMs = 300
const evsys = fileURLToPath(new URL('../bin/evsys.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
const experiment = join(folder, 'experiment.yaml')
const rates = Array.from({ length: 10 }, (_, i) => (1e-5 * 2 ** i).toExponential(3))
writeFileSync(
  experiment,
  `version: 1
name: hundred-arms
metadata:
  hypothesis: Some learning rate between 1e-5 and 5e-3 is best at every rank.
matrix:
  axes:
    algorithm.params.learning_rate: [${rates.join(', ')}]
    algorithm.params.lora_rank: [1, 2, 4, 8, 12, 16, 24, 32, 48, 64]
  base_run:
    data: { source_kind: in_memory, rows: [{ messages: [{ role: user, content: a }, { role: assistant, content: b }] }] }
    model: { name: evsys/tiny }
    algorithm: { kind: sft, params: { max_steps: 200 } }
`,
)

const bare = 'node -e 0'
const shallow = 'evsys validate, 100 arms'
const best = bestOf(
  [
    { name: bare, args: ['-e', '0'] },
    { name: shallow, args: [evsys, 'validate', experiment], cwd: folder },
  ],
  10,
)
rmSync(folder, { recursive: true, force: true })

console.log(`\nValidate, best of 10, Node ${process.versions.node}`)
printTable([
  ['command', 'ms', 'limit ms'],
  ...[...best].map(([name, ms]) => [name, ms.toFixed(0), name === bare ? '' : String(limitMs)]),
])
process.exitCode = (best.get(shallow) ?? Number.NaN) <= limitMs ? 0 : 1
