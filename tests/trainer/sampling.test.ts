import { describe, expect, it } from 'vitest'
import * as tinker from '../../src/contracts/tinker/index.ts'
import {
  datum,
  forwardBackward,
  type Json,
  optimStep,
  type RunningTrainer,
  runningTrainers,
} from './running-trainer.ts'

const start = runningTrainers()

async function trained() {
  const trainer = await start()
  const session = await trainer.session()
  const model = await trainer.model(session)
  for (let seq = 1; seq < 20; seq += 2) {
    await trainer.run('forward_backward', forwardBackward(model, seq, [datum([1, 2, 3, 4, 1, 2])]))
    await trainer.run('optim_step', optimStep(model, seq + 1, { learning_rate: 0.05 }))
  }
  const saved = await trainer.run('save_weights_for_sampler', { model_id: model, seq_id: 21, path: 'a' })
  return { trainer, session, model, path: String(saved.path) }
}

const prompt = (...tokens: number[]) => ({ chunks: [{ type: 'encoded_text', tokens }] })

async function sample(trainer: RunningTrainer, body: Json) {
  return tinker.sampleFromJson(tinker.SampleResponseJson.parse(await trainer.run('asample', body)))
}

describe('samples', () => {
  it('are drawn by session, by path and by base model, with an id each (conformance 49, 50) (TRN-10)', async () => {
    const { trainer, session, path } = await trained()
    const made = { session_id: session, sampling_session_seq_id: 4, model_path: path }
    const { sampling_session_id } = await trainer.post('create_sampling_session', made)
    const rest = { prompt: prompt(1), num_samples: 3, sampling_params: { max_tokens: 5, seed: 1 } }
    const sent = await trainer.post('asample', { sampling_session_id, seq_id: 0, ...rest })
    expect(sent.sample_sequence_ids).toHaveLength(3)
    expect(sent.request_id).toBe(`${session}:sample:4:0`)
    const bySession = await trainer.result(sent)
    expect(await trainer.run('asample', { model_path: path, ...rest })).toEqual(bySession)
    expect(await trainer.run('asample', { base_model: 'evsys/tiny', ...rest })).not.toEqual(bySession)
    for (const [body, status] of [
      [rest, 422],
      [{ ...rest, base_model: '' }, 400],
      [{ ...rest, model_path: path.replace('sampler_weights', 'weights') }, 422],
      [{ ...rest, model_path: `${path}x` }, 404],
      [{ ...rest, sampling_session_id: 'nobody' }, 404],
      [{ sampling_session_id, seq_id: 0, ...rest, num_samples: 2 }, 409],
    ] as const) {
      expect((await trainer.send('asample', body)).status).toBe(status)
    }
  })

  it('stop at tokens and texts, which are part of them, or at their bound (conformance 51) (TRN-10)', async () => {
    const { trainer, path } = await trained()
    const draw = async (stop: unknown, max_tokens = 50) => {
      const body = { model_path: path, prompt: prompt(1), sampling_params: { max_tokens, temperature: 0, stop } }
      return (await sample(trainer, body)).sequences[0]
    }
    const all = await draw([], 5)
    expect([[...(all?.tokens ?? [])], all?.stop_reason]).toEqual([[2, 3, 4, 1, 2], 'length'])
    for (const stop of [[3], '\u0003', ['x', '\u0003']]) {
      const stopped = await draw(stop)
      expect([[...(stopped?.tokens ?? [])], stopped?.stop_reason]).toEqual([[2, 3], 'stop'])
    }
  })

  it('have the log-probabilities of a forward pass, prompts too (conformance 52, 53) (TRN-10)', async () => {
    const { trainer, model, path } = await trained()
    const drawn = await sample(trainer, {
      model_path: path,
      prompt: prompt(1, 2, 3),
      sampling_params: { max_tokens: 6, seed: 5 },
      prompt_logprobs: true,
      topk_prompt_logprobs: 4,
    })
    const tokens = [1, 2, 3, ...(drawn.sequences[0]?.tokens ?? [])]
    const forward = { data: [datum(tokens)], loss_fn: 'cross_entropy' }
    const result = await trainer.run('forward', { model_id: model, seq_id: 22, forward_input: forward })
    const goal = [...(tinker.ForwardBackwardOutput.parse(result).loss_fn_outputs[0]?.logprobs?.data ?? [])]
    expect([...(drawn.sequences[0]?.logprobs ?? [])]).toEqual(goal.slice(2))
    expect([...(drawn.prompt_logprobs ?? [])]).toEqual([Number.NaN, ...goal.slice(0, 2)])
    const { k = 0, logprobs = new Float32Array(), length } = drawn.topk_prompt_logprobs ?? {}
    expect([k, length]).toEqual([4, 3])
    for (let slot = k; slot + 1 < logprobs.length; slot++) {
      if ((slot + 1) % k !== 0) expect(logprobs[slot]).toBeGreaterThanOrEqual(logprobs[slot + 1] ?? 0)
    }
    const wide = await sample(trainer, {
      model_path: path,
      prompt: prompt(1, 2),
      sampling_params: { max_tokens: 1 },
      topk_prompt_logprobs: 5000,
    })
    expect(wide.topk_prompt_logprobs?.k).toBe(264)
  })

  it('repeat with their seed and differ within a request; greedy ones need none (conformance 54) (TRN-10)', async () => {
    const { trainer, path } = await trained()
    const draw = (params: Json) =>
      sample(trainer, {
        model_path: path,
        prompt: prompt(1),
        num_samples: 4,
        sampling_params: { max_tokens: 12, ...params },
      })
    const first = await draw({ seed: 2 ** 60, temperature: 20 })
    expect(await draw({ seed: 2 ** 60, temperature: 20 })).toEqual(first)
    expect(new Set(first.sequences.map(({ tokens }) => tokens.join())).size).toBe(4)
    expect(await draw({ seed: 8, temperature: 20 })).not.toEqual(first)
    expect(await draw({ temperature: 20 })).not.toEqual(await draw({ temperature: 20 }))
    expect(await draw({ temperature: 0 })).toEqual(await draw({ temperature: 0, seed: 9 }))
  })

  it('that do not fit or are not offered are refused with their place (TRN-7)', async () => {
    const { trainer, path } = await trained()
    const base = { model_path: path, prompt: prompt(1), sampling_params: { max_tokens: 2 } }
    for (const [body, loc] of [
      [{ ...base, sampling_params: { max_tokens: 200_000 } }, ['body', 'sampling_params', 'max_tokens']],
      [{ ...base, prompt: prompt(5000) }, ['body']],
      [{ ...base, prompt: { chunks: [{ type: 'image', data: '', format: 'png' }] } }, ['body', 'prompt', 'chunks', 0]],
      [{ ...base, topk_sample_logprobs: 3 }, ['body', 'topk_sample_logprobs']],
      [{ ...base, num_samples: 0 }, ['body', 'num_samples']],
      [{ ...base, sampling_params: { stop: [1, 'a'] } }, ['body', 'sampling_params', 'stop', 0]],
    ] as const) {
      const { status, body: answer } = await trainer.send('asample', body)
      expect([status, answer.detail]).toEqual([422, [expect.objectContaining({ loc })]])
    }
  })
})
