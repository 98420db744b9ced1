// Uses a folder of blobs as a run does, while others collect: `blob-user DIR NAME ROUNDS CASE`. Prints `ready`, then `done`, or
// what it lost.
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { openBlobs } from '../../src/kernel/blobs.ts'
import { EvsysError } from '../../src/kernel/evsys-error.ts'

const [dir = '', name = '', rounds = '', usage = ''] = process.argv.slice(2)
const blobs = await openBlobs(dir)
const say = (text: string) => process.stdout.write(`${text}\n`)

const text = async (hash: string) => {
  const chunks: Uint8Array[] = []
  for await (const chunk of blobs.open(hash)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Must succeed: the blob is kept by a pin, or was put a moment ago. */
const mustRead = async (hash: string, content: string, round: number) => {
  for (let look = 0; look < 3; look++) {
    const found = await text(hash).catch((error: unknown) => `lost in round ${round}: ${error}`)
    if (found !== content) throw new Error(found)
  }
}

const cases: Record<string, (content: string, round: number) => Promise<void>> = {
  // A put may be collected before it is pinned: no grace is given here. Then pin says so. After a pin it must stay.
  async 'put, then pin'(content, round) {
    for (;;) {
      const hash = await blobs.put(Buffer.from(content))
      try {
        await blobs.pin(hash, name)
      } catch (error) {
        if (EvsysError.is(error) && error.code === 'BLOB_MISSING') continue
        throw error
      }
      await mustRead(hash, content, round)
      await blobs.unpin(hash, name)
      return
    }
  },
  async 'put with owner'(content, round) {
    const hash = await blobs.put(Buffer.from(content), { owner: name })
    await mustRead(hash, content, round)
    await blobs.unpin(hash, name)
  },
  // An old blob that is put again is new again: the grace protects it without a pin.
  async 'put again'(content, round) {
    const own = `${content} of ${name}`
    const hash = await blobs.put(Buffer.from(own))
    await utimes(join(dir, hash.slice(0, 2), hash), 0, 0)
    await blobs.put(Buffer.from(own))
    await mustRead(hash, own, round)
  },
}

say('ready')
try {
  // Few contents, so that all users meet at the same blobs.
  for (let round = 0; round < Number(rounds); round++) await cases[usage]?.(`content ${round % 3}`, round)
  say('done')
} catch (error) {
  say(String(error))
}
