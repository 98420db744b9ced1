import { describe, expect, it } from 'vitest'
import { openClient } from '../../tests/tinker-clients.ts'
import * as tinker from '../contracts/tinker/index.ts'
import { manualClock } from '../kernel/index.ts'

const request = { prompt: Int32Array.of(4, 5, 6), numSamples: 2, maxTokens: 2, temperature: 1, seed: 9 }

describe('Sampler', () => {
  it('draws completions and log-probabilities of the prompt (TNK-21)', async () => {
    const { client, double } = await openClient()
    const sampler = await client.sampler({ baseModel: 'm' })
    const samples = await sampler.sample({ ...request, stop: ['\n'], promptLogprobs: true })
    expect(samples).toEqual(
      [0, 1].map((index) => ({
        tokens: Int32Array.of(index, 3),
        logprobs: Float64Array.of(-0.5, -0.25),
        stopReason: 'length',
        promptLogprobs: Float64Array.of(Number.NaN, -1, -2),
      })),
    )
    expect(double.of('asample')[0]?.json).toEqual({
      sampling_session_id: 's0:sample:0',
      seq_id: 0,
      num_samples: 2,
      prompt: { chunks: [{ type: 'encoded_text', tokens: [4, 5, 6] }] },
      sampling_params: { max_tokens: 2, temperature: 1, top_k: -1, top_p: 1, seed: 9, stop: ['\n'] },
      prompt_logprobs: true,
      topk_prompt_logprobs: 0,
      type: 'sample',
    })
    expect(await sampler.logprobs(Int32Array.of(1, 2))).toEqual(Float64Array.of(Number.NaN, -1))
  })

  it('reads answers in JSON too (TNK-21)', async () => {
    const { client } = await openClient({ double: { jsonOnly: true } })
    const sampler = await client.sampler({ path: 'tinker://r/sampler_weights/a' })
    const [first] = await sampler.sample({ ...request, promptLogprobs: true })
    expect(first).toMatchObject({ tokens: Int32Array.of(0, 3), promptLogprobs: Float64Array.of(Number.NaN, -1, -2) })
  })

  it('aligns log-probabilities of a service that leaves out the first token (TNK-19)', async () => {
    const { client, double } = await openClient({ preset: 'skyrl' })
    const sequences = [{ stop_reason: 'stop', tokens: [1], logprobs: [-1] }]
    double.misbehave(({ path }) =>
      path === '/api/v1/retrieve_future' ? { json: { sequences, prompt_logprobs: [-1, -2] } } : undefined,
    )
    const sampler = await client.sampler({ baseModel: 'm' })
    const [sample] = await sampler.sample({ ...request, numSamples: 1, promptLogprobs: true })
    expect(sample?.promptLogprobs).toEqual(Float64Array.of(Number.NaN, -1, -2))
  })

  it('marks slots without a token in top-k rows (TNK-21)', async () => {
    const { client, double } = await openClient()
    const response = tinker.encodeSampleResponse({
      sequences: [{ stop_reason: 'stop', tokens: Int32Array.of(1), logprobs: Float32Array.of(-1) }],
      topk_prompt_logprobs: {
        k: 2,
        length: 2,
        tokens: Int32Array.of(0, 0, 8, 0),
        logprobs: Float32Array.of(tinker.noLogprob, tinker.noLogprob, -0.5, tinker.noLogprob),
      },
      prompt_cache_hit_tokens: 0,
    })
    double.misbehave(({ path }) => (path === '/api/v1/retrieve_future' ? { bytes: response } : undefined))
    const sampler = await client.sampler({ baseModel: 'm' })
    const [sample] = await sampler.sample({ ...request, numSamples: 1, topKPromptLogprobs: 2 })
    expect(sample?.topKPromptLogprobs).toEqual({
      k: 2,
      tokens: Int32Array.of(-1, -1, 8, -1),
      logprobs: Float64Array.of(Number.NaN, Number.NaN, -0.5, Number.NaN),
    })
  })

  it('sends a forgotten request again under a new number (TNK-21) (conformance 19)', async () => {
    const { client, double } = await openClient()
    let forgets = 2
    double.misbehave(({ path }) =>
      path === '/api/v1/retrieve_future' && forgets-- > 0 ? { status: 410, json: {} } : undefined,
    )
    const sampler = await client.sampler({ baseModel: 'm' })
    await sampler.sample(request)
    expect(double.of('asample').map(({ json }) => json.seq_id)).toEqual([0, 1, 2])
  })

  it('never repeats work that failed (TNK-21)', async () => {
    const { client, double } = await openClient()
    double.misbehave(({ path }) => (path === '/api/v1/retrieve_future' ? { json: { error: 'no memory' } } : undefined))
    const sampler = await client.sampler({ baseModel: 'm' })
    await expect(sampler.sample(request)).rejects.toMatchObject({ kind: 'failed', category: 'unknown' })
    expect(double.of('asample').length).toBe(1)
  })

  it('backs off together after a 429 while other sessions go on (TNK-22) (conformance 55)', async () => {
    const clock = manualClock()
    const { client, double, events } = await openClient({ clock })
    const busy = await client.sampler({ baseModel: 'm' })
    const other = await client.sampler({ baseModel: 'm' })
    let refusals = 1
    double.misbehave(({ path, json }) =>
      path === '/api/v1/asample' && json.sampling_session_id === busy.samplingSessionId && refusals-- > 0
        ? { status: 429, json: {} }
        : undefined,
    )
    const first = busy.sample(request)
    await clock.untilSleeping(1)
    const later = busy.sample(request)
    await clock.untilSleeping(2)
    // Nobody of the same session is heard meanwhile; another session is served.
    await other.sample(request)
    const asked = (id: string) => double.of('asample').filter(({ json }) => json.sampling_session_id === id).length
    expect(asked(busy.samplingSessionId)).toBe(1)
    await clock.advance(1000)
    expect((await Promise.all([first, later])).map((samples) => samples.length)).toEqual([2, 2])
    expect(asked(busy.samplingSessionId)).toBe(3)
    expect(events.filter(({ type }) => type === 'backoff')).toEqual([
      { type: 'backoff', samplingSession: busy.samplingSessionId, waitMs: 1000 },
    ])
  })

  it('asks for no more at once than the service allows (TNK-22)', async () => {
    const { client, double } = await openClient({ double: { flags: { sample_max_concurrent_requests: 2 } } })
    const sampler = await client.sampler({ baseModel: 'm' })
    let open = 0
    let most = 0
    double.misbehave(({ path }) => {
      if (path === '/api/v1/asample') most = Math.max(most, ++open)
      if (path === '/api/v1/retrieve_future') open--
      return undefined
    })
    await Promise.all(Array.from({ length: 12 }, () => sampler.sample(request)))
    expect(most).toBe(2)
  })

  it.each([
    [{ prompt: new Int32Array() }, /no tokens/],
    [{ prompt: Int32Array.of(1, -2) }, /prompt\[1\]/],
    [{ numSamples: 0 }, /numSamples/],
    [{ maxTokens: 1.5 }, /maxTokens/],
    [{ temperature: Number.NaN }, /temperature/],
    [{ stop: ['a', 1] as unknown as string[] }, /mixes/],
  ])('refuses %j before it is sent (TNK-23)', async (fault, message) => {
    const { client, double } = await openClient()
    const sampler = await client.sampler({ baseModel: 'm' })
    await expect(sampler.sample({ ...request, ...fault })).rejects.toThrow(message)
    expect(double.of('asample')).toEqual([])
  })

  it('stops work that nobody waits for, where the service offers it (TNK-12)', async () => {
    let tellCancelled = (_id: unknown) => {}
    const cancelled = new Promise((resolve) => {
      tellCancelled = resolve
    })
    const { client, double } = await openClient({
      misbehave: ({ path, json }) => {
        if (path === '/api/v1/client/dynamic_config') return { json: { sample_cancel_enabled: true } }
        if (path === '/api/v1/cancel_future') tellCancelled(json.request_id)
        return path === '/api/v1/retrieve_future' ? 'silence' : undefined
      },
    })
    const sampler = await client.sampler({ baseModel: 'm' })
    const stop = new AbortController()
    const sample = sampler.sample(request, { signal: stop.signal })
    await sample.submitted
    stop.abort(new Error('enough'))
    await expect(sample).rejects.toThrow('enough')
    expect(await cancelled).toBe('s0:sample:0:0')
    expect(double.of('asample').length).toBe(1)
  })
})
