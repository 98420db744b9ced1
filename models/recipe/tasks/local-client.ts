// A trainer of this machine and a client of it, in one process.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalTrainer } from '../../../src/backends/local/open-local-trainer.ts'
import { createTinkerClient, type TinkerClient } from '../../../src/tinker/index.ts'

/** Opens both; disposing of the result closes them and removes what the trainer kept. */
export async function openLocalClient(models: readonly string[]): Promise<AsyncDisposable & { client: TinkerClient }> {
  const dir = mkdtempSync(join(tmpdir(), 'evsys-check-'))
  const trainer = await openLocalTrainer({ engine: 'cpu', models, project: process.cwd(), dir, keys: [] })
  const client = await createTinkerClient({
    preset: 'evsys',
    baseUrl: 'http://trainer',
    fetch: (input, init) => trainer.fetch(new Request(input, init)),
  })
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close()
      await trainer[Symbol.asyncDispose]()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
