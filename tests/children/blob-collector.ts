// Collects until it is killed: `blob-collector DIR GRACE_MS`. Prints `ready` first.
import { openBlobs } from '../../src/kernel/blobs.ts'

const [dir = '', graceMs = ''] = process.argv.slice(2)
const blobs = await openBlobs(dir)
process.stdout.write('ready\n')
for (;;) await blobs.collect({ graceMs: Number(graceMs) })
