// Puts a blob that does not fit on the disk: `put-in-vain DIR`. Prints the error and what is left, as JSON.
import { readdir } from 'node:fs/promises'
import { openBlobs } from '../../src/kernel/blobs.ts'
import { problemsOf } from '../../src/kernel/evsys-error.ts'

const [dir = ''] = process.argv.slice(2)
const blobs = await openBlobs(dir)
const small = await blobs.put(Buffer.from('small'), { owner: 'me' })
const error = await blobs.put(Buffer.alloc(3_000_000)).catch((thrown: unknown) => thrown)
const names = await readdir(dir, { recursive: true })
const left = {
  problems: problemsOf(error),
  small: await blobs.has(small),
  temporary: names.filter((name) => name.includes('.tmp')),
}
process.stdout.write(`${JSON.stringify(left)}\n`)
