// Start of the command line against bare Node. Limit: `--help` and `--version` take at most twice as long as `node -e 0`.

import { fileURLToPath } from 'node:url'
import { bestOf, printTable } from './best-of.mjs'

const limit = 2
const evsys = fileURLToPath(new URL('../bin/evsys.js', import.meta.url))
const bare = 'node -e 0'
const best = bestOf(
  [
    { name: bare, args: ['-e', '0'] },
    { name: 'evsys --version', args: [evsys, '--version'] },
    { name: 'evsys --help', args: [evsys, '--help'] },
  ],
  10,
)

const floor = best.get(bare) ?? Number.NaN
const rows = [...best].map(([name, ms]) => ({ name, ms, ratio: ms / floor }))
console.log(`\nStart, best of 10, Node ${process.versions.node}`)
printTable([
  ['command', 'ms', 'ratio', 'limit'],
  ...rows.map(({ name, ms, ratio }) => [name, ms.toFixed(0), ratio.toFixed(2), name === bare ? '' : limit.toFixed(2)]),
])
process.exitCode = rows.every(({ ratio }) => ratio <= limit) ? 0 : 1
