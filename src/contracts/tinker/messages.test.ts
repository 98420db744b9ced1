import { describe, expect, it } from 'vitest'
import {
  ClientConfigResponse,
  CreateModelRequest,
  ForwardBackwardRequest,
  OptimStepRequest,
  RequestFailedResponse,
  RetrieveFutureRequest,
  SampleRequest,
  tokensOf,
  WireError,
} from './index.ts'

describe('messages of the training protocol', () => {
  it('tolerate fields that are not known and nulls for what is absent (TNK-4) (conformance 3)', () => {
    const body = {
      session_id: 's',
      model_seq_id: 0,
      base_model: 'm',
      project_id: 'p',
      user_metadata: null,
      future: [1],
    }
    expect(CreateModelRequest.parse({ ...body, lora_config: { rank: 4, seed: null } })).toMatchObject({
      lora_config: { rank: 4, train_mlp: true },
    })
    expect(
      ForwardBackwardRequest.parse({
        model_id: 'm',
        seq_id: 1,
        forward_backward_input: { loss_fn: 'ppo', loss_fn_config: null, data: [] },
      }),
    ).toMatchObject({ seq_id: 1 })
  })

  it('fill in the defaults of the protocol (TNK-4)', () => {
    expect(ClientConfigResponse.parse({ anything: 1 })).toMatchObject({
      fwdbwd_max_chunk_len: 1024,
      fwdbwd_max_chunk_bytes_count: 5_000_000,
      parallel_fwdbwd_chunks: true,
      pjwt_auth_enabled: false,
    })
    expect(OptimStepRequest.parse({ model_id: 'm', adam_params: {} }).adam_params).toEqual({
      learning_rate: 1e-4,
      beta1: 0.9,
      beta2: 0.95,
      eps: 1e-12,
      weight_decay: 0,
      grad_clip_norm: 0,
    })
    expect(RetrieveFutureRequest.parse({ request_id: 'r' }).allow_metadata_only).toBe(false)
    expect(RequestFailedResponse.parse({ error: 'e', category: 'new' }).category).toBe('unknown')
  })

  it('take every form of stop, and seeds of 64 bits (TNK-4)', () => {
    const prompt = { chunks: [{ tokens: [1, 2] }, { tokens: [] }, { type: 'encoded_text', tokens: [3] }] }
    for (const stop of ['\n', ['a', 'b'], [1, 2], [], null]) {
      const parsed = SampleRequest.parse({ prompt, sampling_params: { stop, seed: 2 ** 63 } })
      expect(parsed.sampling_params.stop).toEqual(stop)
      expect(tokensOf(parsed.prompt)).toEqual(Int32Array.of(1, 2, 3))
    }
    expect(SampleRequest.safeParse({ prompt, sampling_params: { stop: [1, 'a'] } }).success).toBe(false)
    expect(SampleRequest.safeParse({ prompt, num_samples: 0, sampling_params: {} }).success).toBe(false)
  })

  it.each([[[]], [[-1]], [[1.5]], [[2 ** 31]], [[Number.NaN]]])('find that %j are no tokens (TNK-4)', (tokens) => {
    expect(() => tokensOf({ chunks: [{ type: 'encoded_text', tokens }] })).toThrow(WireError)
  })

  it('find that no chunks are no input (TNK-4)', () => {
    expect(() => tokensOf({ chunks: [] })).toThrow(WireError)
  })
})
