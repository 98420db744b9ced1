// Opens a record that this process may read and not write: `open-as-nobody FILE`. Prints the error as JSON.

import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { EvsysError } from '../../src/kernel/index.ts'
import { openStore } from '../../src/store/index.ts'

const [file = ''] = process.argv.slice(2)
await openStore(':memory:') // all code is loaded while it may be read
chmodSync(file, 0o444)
chmodSync(dirname(file), 0o555)
if (process.geteuid?.() === 0) process.seteuid?.(65534) // nobody: root may write everywhere
const error = await openStore(file).then(
  (store) => store.verdicts.invalidate('run', 'x').catch((thrown: unknown) => thrown),
  (thrown: unknown) => thrown,
)
process.stdout.write(`${JSON.stringify(EvsysError.is(error) ? error.toRecord() : String(error))}\n`)
process.exit(0)
