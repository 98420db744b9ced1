// Puts ever new blobs until it is killed, and prints the hash of each that was acknowledged: `blob-writer DIR OWNER`.
import { openBlobs } from '../../src/kernel/blobs.ts'

const [dir = '', owner = ''] = process.argv.slice(2)
const blobs = await openBlobs(dir)
for (let i = 0; ; i++) {
  const hash = await blobs.put(Buffer.from(`${owner} ${process.pid} ${i} `.repeat(50_000)), { owner })
  process.stdout.write(`${hash}\n`)
}
