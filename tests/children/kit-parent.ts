// A process that does nothing but wait for the call of a guarded child, and prints how the child ended.
import { guardedProcess, howEnded, openChild } from '../../src/kernel/index.ts'
import { kitProtocol } from '../kit-protocol.ts'

const [script = '', act = ''] = process.argv.slice(2)
const child = openChild({
  protocol: kitProtocol,
  start: guardedProcess({ script: new URL(script), heapMb: 256, memoryMb: 4096 }),
  handlers: { twice: async (number) => number * 2, seen: () => {} },
  deathOf: (end) => new Error(howEnded(end)),
})
await child.call('act', act).catch((error: unknown) => console.log(String(error)))
