import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { OpenInferenceClient } from '../../contracts/index.ts'
import { serveProxy } from './serve-proxy.ts'

const options = { model: 'm', sampling: { maxTokens: 8, temperature: 1 }, maxTurns: 5, seed: () => 1 }
const usage = { promptTokens: 1, completionTokens: 1, latencyS: 0 }
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })

/** A policy that never answers, and tells when it is asked and when it is told to stop. */
function waiting() {
  const told: { asked: () => void; stopped: () => void } = { asked: () => {}, stopped: () => {} }
  const asked = new Promise<void>((resolve) => {
    told.asked = resolve
  })
  const stopped = new Promise<void>((resolve) => {
    told.stopped = resolve
  })
  const policy: OpenInferenceClient = {
    generate: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          told.stopped()
          reject(signal.reason)
        })
        told.asked()
      }),
  }
  return { policy, asked, stopped }
}

describe('the proxy on a port', () => {
  it('answers on loopback, each trial at its own address (HAR-77)', async () => {
    await using server = await serveProxy()
    const answering = (text: string): OpenInferenceClient => ({
      generate: async () => ({ text, stopReason: 'stop', usage }),
    })
    const trials = ['one', 'two'].map((text) => server.open({ ...options, policy: answering(text) }))
    const answers = await Promise.all(
      trials.map(async ({ openaiUrl, key }) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const response = await fetch(`${openaiUrl}/chat/completions`, { method: 'POST', headers, body })
        return await response.text()
      }),
    )
    expect(trials.map(({ openaiUrl }) => new URL(openaiUrl).hostname)).toEqual(['127.0.0.1', '127.0.0.1'])
    expect(answers.map((text) => /"content":"(\w+)"/.exec(text)?.[1])).toEqual(['one', 'two'])
    expect(trials.map(({ turns }) => turns.length)).toEqual([1, 1])
  })

  it('stops drawing when the client is gone (HAR-77)', async () => {
    await using server = await serveProxy()
    const { policy, asked, stopped } = waiting()
    const trial = server.open({ ...options, policy })
    const { pathname } = new URL(trial.openaiUrl)
    const head = `POST ${pathname}/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${trial.key}\r\n`
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`)
    await asked
    socket.destroy()
    await stopped
    expect(trial.turns).toEqual([])
  })

  it('ends what is under way when it is closed (HAR-77)', async () => {
    const { policy, asked, stopped } = waiting()
    const server = await serveProxy()
    const { openaiUrl, key } = server.open({ ...options, policy })
    const pending = fetch(`${openaiUrl}/chat/completions`, { method: 'POST', headers: { 'x-api-key': key }, body })
    const ended = pending.then(
      ({ status }) => status,
      () => 'closed',
    )
    await asked
    await server[Symbol.asyncDispose]()
    await stopped
    expect([410, 'closed']).toContain(await ended)
  })
})
