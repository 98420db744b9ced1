import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openClient } from '../../tests/tinker-clients.ts'
import type { Seen } from '../../tests/tinker-double.ts'
import { manualClock } from '../kernel/index.ts'
import { startHeartbeat, startTimedHeartbeat } from './heartbeat.ts'
import type { TinkerEvent } from './index.ts'

// A service in a thread of its own: this one is about to compute without a pause.
const service = `
const { parentPort, workerData } = require('node:worker_threads')
const { createServer } = require('node:http')
const beats = new Int32Array(workerData)
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (part) => { body += part })
  request.on('end', () => {
    const { session_id, type } = JSON.parse(body)
    const good = session_id === 's:1' && type === 'session_heartbeat' && request.headers['x-api-key'] === 'tml-k'
    if (good && request.url === '/base/api/v1/session_heartbeat') Atomics.notify(beats, 0, Atomics.add(beats, 0, 1) + 1)
    response.end('{"type":"session_heartbeat"}')
  })
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

describe('the heartbeat', () => {
  it.each(['a thread', 'this thread'])('begins with the session, from %s, with its headers (TNK-26)', async (from) => {
    let tell = (_seen: Seen) => {}
    const beaten = new Promise<Seen>((resolve) => {
      tell = resolve
    })
    let beats = 0
    const { client } = await openClient({
      heartbeatMs: 5,
      headers: { 'cf-access-client-id': 'gate' },
      ...(from === 'a thread' ? {} : { fetch: (url: string, init: RequestInit) => fetch(url, init) }),
      misbehave: (seen) => {
        if (seen.path === '/api/v1/session_heartbeat' && ++beats === 3) tell(seen)
        return undefined
      },
    })
    await client.sessionId()
    const { headers, json } = await beaten
    expect(headers).toMatchObject({ 'x-api-key': 'tml-test', 'cf-access-client-id': 'gate' })
    expect(json).toEqual({ session_id: 's0', type: 'session_heartbeat' })
  })

  it('goes on while this thread computes without a pause (TNK-26) (conformance 12)', async () => {
    const shared = new SharedArrayBuffer(4)
    const thread = new Worker(service, { eval: true, workerData: shared })
    onTestFinished(async () => {
      await thread.terminate()
    })
    const port = await new Promise<number>((resolve) => thread.once('message', resolve))
    const held = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length
    const heldBefore = held()
    const heartbeat = startHeartbeat({
      url: `http://127.0.0.1:${port}/base/api/v1/session_heartbeat`,
      sessionId: 's:1',
      headers: { 'x-api-key': 'tml-k' },
      clock: manualClock(),
      onEvent: () => {},
      everyMs: 5,
    })
    onTestFinished(() => heartbeat.stop())
    expect(held()).toBe(heldBefore) // a client that was left open keeps no process alive
    const beats = new Int32Array(shared)
    // From here on the event loop of this thread stands still until the fifth beat was heard.
    for (let heard = Atomics.load(beats, 0); heard < 5; heard = Atomics.load(beats, 0)) {
      if (Atomics.wait(beats, 0, heard, 20_000) === 'timed-out') break
    }
    expect(Atomics.load(beats, 0)).toBeGreaterThanOrEqual(5)
  })

  it('speaks up when the session is gone, and after two minutes of silence (TNK-26)', async () => {
    const clock = manualClock()
    const events: TinkerEvent[] = []
    const outcomes: (() => Promise<number>)[] = [
      async () => 200,
      async () => Promise.reject(new Error('no route')),
      async () => Promise.reject(new Error('no route')),
      async () => 404,
    ]
    let tellDone = () => {}
    const done = new Promise<void>((resolve) => {
      tellDone = resolve
    })
    const heartbeat = startTimedHeartbeat(
      async () => {
        await clock.advance(70_000)
        const next = outcomes.shift()
        if (next !== undefined) return next()
        tellDone()
        return 200
      },
      { onEvent: (event) => events.push(event), clock, everyMs: 1 },
    )
    onTestFinished(() => heartbeat.stop())
    await done
    expect(events).toEqual([
      { type: 'heartbeat', silentMs: 140_000, message: 'the service does not hear us: no route' },
      { type: 'heartbeat', silentMs: expect.any(Number), message: 'the service no longer knows this session' },
    ])
  })
})
