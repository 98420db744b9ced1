// Puts a blob that does not fit on the disk: `put-in-vain DIR`. Prints the error and what is left, as JSON.
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { blobPlace, putBlob } from '../../src/kernel/blobs.ts'
import { problemsOf } from '../../src/kernel/evsys-error.ts'

const [dir = ''] = process.argv.slice(2)
async function* one(bytes: Uint8Array) {
  yield bytes
}
const small = await putBlob(dir, one(Buffer.from('small')), 'me')
const error = await putBlob(dir, one(Buffer.alloc(3_000_000)), 'me').catch((thrown: unknown) => thrown)
const names = await readdir(dir, { recursive: true })
const left = {
  problems: problemsOf(error),
  small: existsSync(blobPlace(dir, small.hash).path),
  temporary: names.filter((name) => name.includes('.tmp')),
}
process.stdout.write(`${JSON.stringify(left)}\n`)
