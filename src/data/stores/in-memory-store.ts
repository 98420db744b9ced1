import * as z from 'zod'
import type { OpenDataStore } from '../../contracts/index.ts'
import { defineDataStore } from '../../kernel/index.ts'
import { checkedPath } from '../checked-path.ts'
import { readError } from '../read-error.ts'

/** Files that live as long as the store is open. */
export const inMemoryStore = defineDataStore({
  kind: 'in_memory',
  summary: 'Keeps files in memory until it is closed; for tests and trials.',
  params: z.strictObject({}),
  async open({ signal }) {
    return openInMemory(signal)
  },
})

function openInMemory(signal: AbortSignal): OpenDataStore {
  const files = new Map<string, Uint8Array>()
  return {
    async *read(path) {
      signal.throwIfAborted()
      const bytes = files.get(checkedPath(path))
      if (bytes === undefined) throw readError(path, Object.assign(new Error(), { code: 'ENOENT' }))
      yield bytes.slice()
    },
    async write(path, bytes) {
      const target = checkedPath(path)
      const chunks: Uint8Array[] = []
      for await (const chunk of bytes) {
        signal.throwIfAborted()
        chunks.push(chunk.slice())
      }
      files.set(target, Buffer.concat(chunks)) // only once all of it is there
    },
    async exists(path) {
      return files.has(checkedPath(path))
    },
    async *list(prefix) {
      for (const path of [...files.keys()].sort()) if (path.startsWith(prefix)) yield path
    },
    async [Symbol.asyncDispose]() {
      files.clear()
    },
  }
}
