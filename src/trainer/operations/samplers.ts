// Samplers: named weights that a client draws from, and the drawing.
import { randomUUID } from 'node:crypto'
import type { Sample, SampleReq } from '../../contracts/index.ts'
import * as tinker from '../../contracts/tinker/index.ts'
import { checkRequest } from '../../engine/index.ts'
import { onAbort, systemRandom } from '../../kernel/index.ts'
import { HttpError, type Loc, unprocessable } from '../http/http-error.ts'
import type { Access } from '../state/access.ts'
import type { WeightSource } from '../state/sampler-weights.ts'
import type { ServedModel } from '../state/served-model.ts'
import type { Sampler, TrainerState } from '../state/trainer-state.ts'
import { at, sampleAnswer } from '../wire/wire-data.ts'
import { type Promised, safeSeed } from './create-model.ts'

export function samplerIdOf(sessionId: string, seq: number): string {
  return `${sessionId}:sample:${seq}`
}

export function addSampler(state: TrainerState, sampler: Omit<Sampler, 'requests' | 'copies'>): void {
  state.samplers.set(sampler.id, { ...sampler, requests: new Map(), copies: 0 })
  const session = state.sessions.find(sampler.sessionId)
  if (session === undefined) return
  session.isUsed = true
  session.samplerIds.add(sampler.id)
}

/** `create_sampling_session`. */
export async function createSampler(
  access: Access,
  request: tinker.CreateSamplingSessionRequest,
  hash: string,
): Promise<string> {
  const { state } = access
  const { id: sessionId } = access.session(request.session_id)
  const id = samplerIdOf(sessionId, request.sampling_session_seq_id)
  const target = await findTarget(access, request)
  const before = state.samplers.get(id)
  if (before === undefined) addSampler(state, { id, sessionId, hash, ...target })
  else if (before.hash !== hash) throw new HttpError(409, `${id} was made with other weights before`)
  return id
}

export type Target = { base: ServedModel; modelPath: string | undefined; source: WeightSource }

type Named = { model_path?: string | null | undefined; base_model?: string | null | undefined }

/** Weights by path, by another name that the trainer was given for them, or by the name of a base model. */
export async function findTarget(access: Access, named: Named): Promise<Target> {
  const { state } = access
  const alias = state.aliases.get(named.model_path ?? named.base_model ?? '')
  const { model_path, base_model } = alias === undefined ? named : { model_path: alias, base_model: undefined }
  if (model_path != null) {
    const path = tinker.parseTinkerPath(model_path)
    if (path?.folder !== 'sampler_weights') {
      throw unprocessable(['body', 'model_path'], 'samples are drawn from tinker://<run>/sampler_weights/<name>')
    }
    const entry = alias === undefined ? await access.checkpoint(path) : await state.served(path)
    const base = await state.base(entry.run.base_model)
    if (base_model != null && base_model !== base.name) {
      throw unprocessable(['body', 'base_model'], `${model_path} belongs to ${base.name}`)
    }
    return { base, modelPath: model_path, source: { key: entry.sha256, read: () => state.checkpoints.read(entry) } }
  }
  if (base_model == null) throw unprocessable(['body'], 'name a sampling session, a model_path or a base_model')
  const base = await state.base(base_model)
  return { base, modelPath: undefined, source: { key: `base ${base.name}`, baseModel: base.name } }
}

/** `asample`. */
export async function submitSample(
  access: Access,
  request: tinker.SampleRequest,
  hash: string,
): Promise<Promised & { readonly sample_sequence_ids: readonly string[] }> {
  const { state, tenant } = access
  const sampler = request.sampling_session_id == null ? undefined : access.sampler(request.sampling_session_id)
  const target = sampler ?? (await findTarget(access, request))
  const drawn = readSample(request, target.base, state.limits.samples)
  const seq = sampler === undefined ? undefined : request.seq_id
  const earlier = seq == null ? undefined : sampler?.requests.get(seq)
  if (earlier !== undefined && earlier.hash !== hash) {
    throw new HttpError(409, `another request with seq_id ${seq} was sent to this sampler before`)
  }
  const requestId = earlier?.requestId ?? `${sampler?.id ?? 'direct'}:${seq ?? randomUUID()}`
  const promise = {
    request_id: requestId,
    sample_sequence_ids: Array.from({ length: drawn.numSamples }, (_, index) => `${requestId}:${index}`),
  }
  if (earlier !== undefined) return promise
  access.checkSampleQuota()
  if (seq != null) sampler?.requests.set(seq, { hash, requestId })
  const future = state.futures.open(requestId, { tenant, sessionId: sampler?.sessionId, samplerId: sampler?.id })
  const cancelling = new AbortController()
  future.cancel = () => cancelling.abort(new HttpError(409, 'cancelled'))
  const work = async () => {
    const stopListening = onAbort(state.signal, () => cancelling.abort(state.signal.reason))
    try {
      const drawing = state.samplerWeights.sample(target.source, drawn, state.signal, cancelling.signal)
      return sampleAnswer(await drawing, request.prompt_logprobs_last_n ?? undefined)
    } finally {
      future.cancel = undefined
      stopListening()
    }
  }
  state.enqueue(laneOf(target), future, work, { shared: true })
  return promise
}

/** Draws now, for callers that wait: in turn with everything else, and no longer than `client` does. */
export function drawSamples(
  { state, tenant }: Access,
  target: Target,
  request: Omit<SampleReq, 'model'>,
  client: AbortSignal,
): Promise<readonly Sample[]> {
  return new Promise((resolve, reject) => {
    const cancelling = new AbortController()
    const stopListening = [client, state.signal].map((signal) =>
      onAbort(signal, () => {
        cancelling.abort(signal.reason)
        if (state.queue.remove(job)) end(() => reject(signal.reason))
      }),
    )
    const end = (report: () => void) => {
      for (const stop of stopListening) stop()
      report()
    }
    const work = () =>
      state.samplerWeights.sample(target.source, request, state.signal, cancelling.signal).then(
        (samples) => end(() => resolve(samples)),
        (error: unknown) => end(() => reject(error)),
      )
    const job = state.queue.add({ tenant, lane: laneOf(target) }, work, { shared: true })
  })
}

function laneOf({ source }: Target): string {
  return `sampler ${source.key}`
}

/** Refuses more samples at once than a request may ask for. */
export function checkCount(loc: Loc, count: number, most: number): void {
  if (count > most) throw unprocessable(loc, `at most ${most} samples are drawn for one request`)
}

const notOffered = ['topk_sample_logprobs', 'target_prompt_logprobs', 'prompt_alt_tokens_k'] as const

function readSample(request: tinker.SampleRequest, base: ServedModel, most: number): Omit<SampleReq, 'model'> {
  checkCount(['body', 'num_samples'], request.num_samples, most)
  for (const key of notOffered) if (request[key]) throw unprocessable(['body', key], 'this is not offered here')
  const prompt = at(['body', 'prompt'], () => tinker.tokensOf(request.prompt, ''))
  const { max_tokens, temperature, top_p, top_k, stop, seed } = request.sampling_params
  const room = base.maxContext - prompt.length
  const maxTokens = max_tokens ?? room
  if (maxTokens > room) {
    throw unprocessable(
      ['body', 'sampling_params', 'max_tokens'],
      `the prompt has ${prompt.length} tokens: at most ${Math.max(0, room)} more fit into the context of ${base.maxContext}`,
    )
  }
  const drawn: Omit<SampleReq, 'model'> = {
    prompt,
    numSamples: request.num_samples,
    maxTokens,
    temperature: temperature ?? 1,
    topP: top_p ?? undefined,
    topK: top_k == null || top_k <= 0 ? undefined : top_k,
    stop: stop == null ? base.stop : typeof stop === 'string' ? [stop] : stop,
    seed: seed == null ? systemRandom.uint32() : safeSeed(seed),
    promptLogprobs: request.prompt_logprobs || undefined,
    topKPromptLogprobs: request.topk_prompt_logprobs > 0 ? request.topk_prompt_logprobs : undefined,
  }
  at(['body'], () => checkRequest(drawn, { vocabSize: base.vocabSize, maxTokens: base.maxContext }))
  return drawn
}
