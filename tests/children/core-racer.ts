// Takes the only core again and again: `core-racer DIR ROUNDS`. While it holds it, no living process but it may have a note in
// DIR/holders. Prints `round` for each time, then `done`, or `violated` when it found another.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identify, isAlive } from '../../src/kernel/index.ts'
import { acquireCores } from '../../src/lab/workers/core-leases.ts'

const [dir = '', rounds = ''] = process.argv.slice(2)
const holders = join(dir, 'holders')
mkdirSync(holders, { recursive: true })
const { pid, start } = identify()
const own = `${pid}.${start}`
for (let round = 0; round < Number(rounds); round++) {
  await using lease = await acquireCores(1, new AbortController().signal, { dir: join(dir, 'queue'), capacity: 1 })
  writeFileSync(join(holders, own), String(lease.cores))
  const living = readdirSync(holders).filter((name) => {
    const [other = '', began = ''] = name.split('.')
    return isAlive({ pid: Number(other), start: began })
  })
  process.stdout.write(living.length === 1 ? 'round\n' : 'violated\n')
  rmSync(join(holders, own))
}
process.stdout.write('done\n')
