import { describe, expect, it } from 'vitest'
import type { Json, RunningTrainer } from './running-trainer.ts'
import { datum, forwardBackward, optimStep, runningTrainers } from './running-trainer.ts'

const start = runningTrainers()
const bytes = (text: string) => [...Buffer.from(text)]

async function taught(text: string) {
  const trainer = await start()
  const model = await trainer.model(await trainer.session())
  for (let seq = 1; seq < 40; seq += 2) {
    await trainer.run('forward_backward', forwardBackward(model, seq, [datum(bytes(text))]))
    await trainer.run('optim_step', optimStep(model, seq + 1, { learning_rate: 0.05 }))
  }
  const { path } = await trainer.run('save_weights_for_sampler', { model_id: model, seq_id: 41, path: 'a' })
  return { trainer, path: String(path) }
}

async function events(trainer: RunningTrainer, path: string, body: Json): Promise<Json[]> {
  const response = await trainer.request(path, { method: 'POST', body: JSON.stringify({ ...body, stream: true }) })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
  expect(lines.at(-1)).toBe('data: [DONE]')
  return lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)))
}

describe('the OpenAI-compatible routes', () => {
  it('list base models and checkpoints (TRN-15)', async () => {
    const { trainer, path } = await taught('abcabc')
    const { body } = await trainer.get('/v1/models')
    expect(body).toMatchObject({ object: 'list', data: [{ id: 'evsys/tiny', object: 'model' }, { id: path }] })
    expect((await trainer.get('/v1/models/evsys/tiny')).body).toMatchObject({ id: 'evsys/tiny' })
    expect((await trainer.get(`/v1/models/${encodeURIComponent(path)}`)).body).toMatchObject({ id: path })
  })

  it('complete text with stops, seeds, several answers and log-probabilities (TRN-15)', async () => {
    const { trainer, path } = await taught('abcdabcdabcd')
    const ask = (more: Json) => trainer.post('/v1/completions', { model: path, prompt: 'ab', temperature: 0, ...more })
    expect(await ask({ max_tokens: 6 })).toMatchObject({
      object: 'text_completion',
      choices: [{ index: 0, text: 'cdabcd', finish_reason: 'length', logprobs: null }],
      usage: { prompt_tokens: 2, completion_tokens: 6, total_tokens: 8 },
    })
    expect(await ask({ max_tokens: 6, stop: 'ab' })).toMatchObject({ choices: [{ text: 'cd', finish_reason: 'stop' }] })
    const { choices } = await ask({ max_tokens: 2, logprobs: 2, n: 2, prompt: ['ab', 'b'] })
    expect(choices).toHaveLength(4)
    expect(choices).toContainEqual(
      expect.objectContaining({
        text: 'cd',
        logprobs: {
          tokens: ['c', 'd'],
          text_offset: [0, 1],
          token_logprobs: [expect.any(Number), expect.any(Number)],
          top_logprobs: [
            expect.objectContaining({ c: expect.any(Number) }),
            expect.objectContaining({ d: expect.any(Number) }),
          ],
        },
      }),
    )
    const drawn = () => ask({ temperature: 5, seed: 3, n: 3, max_tokens: 8 })
    expect((await drawn()).choices).toEqual((await drawn()).choices)
    expect(await ask({ prompt: bytes('ab'), max_tokens: 1 })).toMatchObject({ choices: [{ text: 'c' }] })
  })

  it('chat, and stream what they would have answered (TRN-15)', async () => {
    const trainer = await start()
    const body = {
      model: 'evsys/tiny',
      messages: [{ role: 'user', content: 'hi', refusal: null }],
      max_tokens: 5,
      seed: 1,
      logprobs: true,
      top_logprobs: 2,
    }
    const answer = await trainer.post('/v1/chat/completions', body)
    expect(answer).toMatchObject({ object: 'chat.completion', choices: [{ message: { role: 'assistant' } }] })
    const [choice] = answer.choices as { message: { content: string }; logprobs: { content: Json[] } }[]
    expect(choice?.logprobs.content[0]).toMatchObject({ token: expect.any(String), top_logprobs: [{}, {}] })
    const chunks = await events(trainer, '/v1/chat/completions', { ...body, stream_options: { include_usage: true } })
    const deltas = chunks.flatMap((chunk) => chunk.choices as { delta: { content?: string | undefined } }[])
    expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe(choice?.message.content)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 5 } })
    const texts = await events(trainer, '/v1/completions', { model: 'evsys/tiny', prompt: 'x', seed: 1, max_tokens: 4 })
    expect(texts.at(-1)).toMatchObject({ choices: [{ text: '', finish_reason: 'length' }] })
  })

  it('tell errors in the form that their clients know (TRN-15)', async () => {
    const trainer = await start()
    for (const [body, status] of [
      [{ model: 'evsys/tiny' }, 422],
      [{ model: '', prompt: 'x' }, 400],
      [{ model: 'tinker://no/sampler_weights/no', prompt: 'x' }, 404],
      [{ model: 'evsys/tiny', prompt: 'x', max_tokens: 1e6 }, 422],
      [{ model: 'evsys/tiny', prompt: 'x', stop: [''] }, 422],
    ] as const) {
      const answer = await trainer.send('/v1/completions', body)
      expect([answer.status, answer.body]).toEqual([
        status,
        { error: { message: expect.any(String), type: 'invalid_request_error', param: null, code: null } },
      ])
    }
    const closed = await start({ keys: ['tml-right'] })
    expect((await closed.send('/v1/models', {}, { 'x-api-key': 'wrong' })).status).toBe(401)
  })
})
