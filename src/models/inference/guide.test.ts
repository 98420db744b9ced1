import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { clientServices } from '../../../tests/client-services.ts'
import { startFakeProvider } from '../../../tests/fake-provider.ts'
import { askOnce } from '../../../tests/inference-guide.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { inferenceClients } from '../plugins.ts'

const folder = temporaryFolders()
const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
const guide = read('docs/guides/inference-clients.md')

describe('the guide to clients', () => {
  it('answers, and the second time from the cassette (INF-1)', async () => {
    const provider = await startFakeProvider()
    const services = clientServices({ ANTHROPIC_API_KEY: 'a-secret-key' })
    const at = folder()
    const { signal } = new AbortController()
    const first = await askOnce(services, provider.url, at, signal)
    expect(first).toMatchObject({ answer: { text: 'pong' }, total: { calls: 1, costUsd: 0.0045, unpriced: 0 } })
    expect(await askOnce(services, provider.url, at, signal)).toMatchObject({
      total: { calls: 0, costUsd: 0, replayed: 1 },
    })
    expect(provider.heard).toHaveLength(1)
  })

  it('names every client and its key (INF-1)', () => {
    for (const { kind, params } of inferenceClients) {
      expect(guide).toContain(`| \`${kind}\``)
      const key: unknown = 'api_key' in params.shape ? params.shape.api_key.safeParse(undefined).data : undefined
      if (typeof key === 'string') expect(guide).toContain(`\`${key.slice('${secret:'.length, -1)}\``)
    }
  })
})
