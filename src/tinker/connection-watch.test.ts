import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { listenOnPort } from '../../tests/listen-on-port.ts'
import { openClient } from '../../tests/tinker-clients.ts'
import { startTinkerDouble } from '../../tests/tinker-double.ts'
import { createTinkerClient, type TinkerEvent } from './index.ts'

/** An address that nothing listens on. */
async function refusing(): Promise<string> {
  const { server, url } = await listenOnPort()
  await new Promise((resolve) => server.close(resolve))
  return url
}

const connections = (events: readonly TinkerEvent[]) => events.filter(({ type }) => type === 'connection')

describe('a training service that does not answer', () => {
  it.each([
    ['refuses', refusing],
    ['takes connections and says nothing', async () => (await listenOnPort()).url],
    ['cuts every connection', async () => (await listenOnPort((socket) => socket.destroy())).url],
  ])(
    'and %s is reported within ten seconds, with its address and the fix (USE-80)',
    async (_how, addressOf) => {
      const baseUrl = await addressOf()
      const events: TinkerEvent[] = []
      const startedMs = performance.now()
      let announcedMs: number | undefined
      const onEvent = (event: TinkerEvent) => {
        events.push(event)
        if (event.type === 'connection') announcedMs ??= performance.now() - startedMs
      }
      const opened = createTinkerClient({ preset: 'evsys', baseUrl, onEvent })
      await expect(opened).rejects.toMatchObject({
        code: 'BACKEND_FAILED',
        message: expect.stringContaining(baseUrl),
        fix: expect.stringContaining('TINKER_BASE_URL'),
      })
      expect(performance.now() - startedMs).toBeLessThan(10_000)
      expect(announcedMs).toBeLessThan(5000)
      expect(connections(events)).toMatchObject([{ state: 'lost', url: baseUrl }])
    },
    20_000,
  )

  it('is given up at once by one who was asked to stop (USE-80)', async () => {
    const { url } = await listenOnPort()
    const stopping = new AbortController()
    const opened = createTinkerClient({ preset: 'evsys', baseUrl: url, stopping: stopping.signal })
    stopping.abort()
    await expect(opened).rejects.toMatchObject({ code: 'BACKEND_FAILED', retryable: true })
  })

  it('in the middle of work is announced once, and that it answers again (USE-81)', async () => {
    let isDown = false
    const { client, events, double } = await openClient({ misbehave: () => (isDown ? 'cut' : undefined) })
    await client.health()
    isDown = true
    const health = client.health()
    await vi.waitFor(() => expect(connections(events)).toHaveLength(1), 8000)
    expect(connections(events)).toMatchObject([{ state: 'lost', url: double.url, message: expect.any(String) }])
    isDown = false
    await health
    expect(connections(events)).toMatchObject([{ state: 'lost' }, { state: 'restored', afterMs: expect.any(Number) }])
  }, 20_000)

  it('whose promise is never answered is given up after the time for repeating (USE-81)', async () => {
    const { client, double } = await openClient({ retryForMs: 1500 })
    double.misbehave(({ path }) => (path === '/api/v1/retrieve_future' ? 'cut' : undefined))
    await expect(client.createModel({ baseModel: 'm' })).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining(double.url),
    })
  }, 20_000)

  it('does not hold up one who was asked to stop (USE-81)', async () => {
    const stopping = new AbortController()
    const { client, double, events } = await openClient({ stopping: stopping.signal })
    await client.health()
    stopping.abort()
    expect(await client.health()).toEqual({ status: 'ok' }) // as long as it answers
    double.misbehave(() => 'cut')
    await expect(client.health()).rejects.toMatchObject({ code: 'BACKEND_FAILED', retryable: true })
    expect(events.filter(({ type }) => type === 'retry').length).toBeLessThanOrEqual(1)
  })
})

describe('TINKER_BASE_URL', () => {
  it('is the address where none is given, so that no key is sent elsewhere (USE-82)', async () => {
    await using double = await startTinkerDouble()
    vi.stubEnv('TINKER_BASE_URL', double.url)
    onTestFinished(() => void vi.unstubAllEnvs())
    const fetched: string[] = []
    const counting: typeof fetch = (input, init) => {
      fetched.push(String(input))
      return fetch(input, init)
    }
    await using client = await createTinkerClient({ apiKey: 'tml-users', heartbeatMs: 0, fetch: counting })
    await client.health()
    expect(fetched.map((url) => new URL(url).origin)).toEqual([double.url, double.url])
    expect(double.of('healthz')[0]?.headers['x-api-key']).toBe('tml-users')
  })

  it('gives way to an address that is given, and is refused where it is none (USE-82)', async () => {
    await using double = await startTinkerDouble()
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.stubEnv('TINKER_BASE_URL', 'http://127.0.0.1:9')
    await using client = await createTinkerClient({ baseUrl: double.url, apiKey: 'tml-users', heartbeatMs: 0 })
    expect(await client.health()).toEqual({ status: 'ok' })
    vi.stubEnv('TINKER_BASE_URL', 'localhost:10600')
    await expect(createTinkerClient({ apiKey: 'tml-users' })).rejects.toMatchObject({
      message: 'TINKER_BASE_URL is "localhost:10600", which is no address of a service',
    })
  })
})
