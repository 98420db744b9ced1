// Puts ever new blobs until it is killed, and prints the hash of each that was acknowledged: `blob-writer DIR OWNER`.
import { putBlob } from '../../src/kernel/blobs.ts'

const [dir = '', owner = ''] = process.argv.slice(2)
for (let i = 0; ; i++) {
  const text = `${owner} ${process.pid} ${i} `.repeat(50_000)
  const bytes = (async function* () {
    yield Buffer.from(text)
  })()
  const { hash } = await putBlob(dir, bytes, owner)
  process.stdout.write(`${hash}\n`)
}
