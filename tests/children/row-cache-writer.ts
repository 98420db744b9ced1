// Makes a cache entry of a JSON Lines file: `row-cache-writer CACHE FILE [STALL_AT]`. Prints `writing`, then `done KEY`. With
// STALL_AT it says `half` at that row and never goes on.
import * as z from 'zod'
import { openRows } from '../../src/data/index.ts'
import { defineTransform } from '../../src/kernel/index.ts'
import { rowRequest } from '../row-request.ts'

const [cacheDir = '', path = '', stallAt = '0'] = process.argv.slice(2)
const say = (text: string) => process.stdout.write(`${text}\n`)
const stalling = defineTransform({
  kind: 'stalling',
  summary: 'Stops in the middle.',
  params: z.strictObject({}),
  async *run(rows) {
    let seen = 0
    for await (const row of rows) {
      yield row
      if (++seen !== Number(stallAt)) continue
      say('half')
      await new Promise(() => setInterval(() => {}, 1000))
    }
  },
})
say('writing')
const opened = await openRows(
  rowRequest({ path, transforms: [{ kind: 'stalling' }] }, { format: 'chat_messages', cacheDir, plugins: [stalling] }),
)
say(`done ${opened.key}`)
