// Takes a core and keeps it until it is killed: `core-holder DIR CAPACITY`. Prints `held` when it has it.
import { once } from 'node:events'
import { acquireCores } from '../../src/lab/workers/core-leases.ts'

const [dir = '', capacity = ''] = process.argv.slice(2)
await acquireCores(1, new AbortController().signal, { dir, capacity: Number(capacity) })
process.stdout.write('held\n')
setInterval(() => {}, 2 ** 30)
await once(process, 'never')
