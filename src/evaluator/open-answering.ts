// What answers in one evaluation: the weights behind a client of the run's backend that the evaluator opened itself, or the client that
// a benchmark names in their place. Runs that train at the same place share what is opened for it.
import type { OpenInferenceClient, OpenRenderer, OpenWeights, SampleReq } from '../contracts/index.ts'
import { boundary, canonicalJson, EvsysError, equipPlugin, type PluginServices } from '../kernel/index.ts'
import { createTokenPolicy } from '../rollout/index.ts'
import { type Evaluation, renderersOf } from './evaluator-protocol.ts'

/** What answers. Disposing of it keeps what other evaluations may use. */
export interface Answering extends AsyncDisposable {
  readonly takesTools: boolean
  /** For one session: it keeps the tokens of its conversation. */
  policy(): OpenInferenceClient
  /** Present where a client stands in place of the weights. */
  readonly client?: OpenInferenceClient | undefined
  readonly renderer?: OpenRenderer | undefined
  sample(request: Omit<SampleReq, 'model'>, signal: AbortSignal): ReturnType<OpenWeights['sample']>
}

/** Places that are kept open when no evaluation uses them: the next run of a sweep trains there as a rule. */
const KEPT_OPEN = 4

interface Place {
  readonly key: string
  readonly opening: Promise<OpenWeights>
  users: number
}

/** Opens what answers, and keeps places to ask open from one evaluation to the next. */
export class AnsweringPlaces implements AsyncDisposable {
  /** In the order of their last use. */
  readonly #places: Place[] = []

  /** `services` are those of the run: its secrets, its addresses. */
  async open(of: Evaluation, services: PluginServices): Promise<Answering> {
    if (of.benchmark.inference !== undefined) return await openClient(of, services)
    const place = this.#take(of, services)
    try {
      const weights = await place.opening
      const renderer = await openRenderer(of, weights, services)
      const { maxContext } = weights
      const sample: Answering['sample'] = (request, signal) =>
        boundary('BACKEND_FAILED', 'sampling', signal, () => weights.sample({ ...request, model: of.weights }, signal))
      return {
        takesTools: renderer.takesTools === true,
        renderer,
        sample,
        policy: () => createTokenPolicy({ renderer, sample, version: () => 0, maxContext }), // nothing is trained on it
        [Symbol.asyncDispose]: () => this.#release(place),
      }
    } catch (error) {
      await this.#release(place, { isBroken: true })
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#places.splice(0).map(close))
  }

  #take(of: Evaluation, services: PluginServices): Place {
    const { backend, model } = of.config
    const { plugin } = services.registry.get('backend', backend.kind)
    // A backend that opens a model in training for it opens that of the run.
    const own = plugin.openWeights === undefined ? of.run_id : ''
    const key = canonicalJson({ backend, model, own, secrets: of.secrets, addresses: of.addresses })
    const at = this.#places.findIndex((each) => each.key === key)
    const [place = { key, opening: openPlace(of, services), users: 0 }] = at < 0 ? [] : this.#places.splice(at, 1)
    place.opening.catch(() => {}) // thrown where it is waited for
    place.users += 1
    this.#places.push(place)
    return place
  }

  async #release(place: Place, { isBroken = false } = {}): Promise<void> {
    place.users -= 1
    const idle = this.#places.filter(({ users }) => users === 0)
    const surplus = isBroken && place.users === 0 ? [place] : idle.slice(0, Math.max(0, idle.length - KEPT_OPEN))
    for (const each of surplus) {
      const at = this.#places.indexOf(each)
      if (at >= 0) this.#places.splice(at, 1)
    }
    await Promise.all(surplus.map(close))
  }
}

async function close({ opening }: Place): Promise<void> {
  const opened = await opening.catch(() => undefined)
  await opened?.[Symbol.asyncDispose]()
}

async function openPlace(of: Evaluation, services: PluginServices): Promise<OpenWeights> {
  const { config, run_dir: runDir, seed } = of
  const { lora_rank: rank } = config.algorithm.params
  const loraRank = typeof rank === 'number' && rank > 0 ? rank : undefined // 0 stands for all weights
  const { plugin, context } = equipPlugin('backend', config.backend, services)
  const given = { ...context, model: config.model, runDir }
  return await boundary('BACKEND_FAILED', `backend "${config.backend.kind}"`, services.signal, async () => {
    if (plugin.openWeights !== undefined) return await plugin.openWeights(given)
    const { service, ...opened } = await plugin.open({ ...given, loraRank, seed })
    return { ...opened, sample: service.sample, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
  })
}

async function openRenderer(
  { config }: Evaluation,
  { tokenizer, chatTemplate }: OpenWeights,
  services: PluginServices,
): Promise<OpenRenderer> {
  const [plain, templated = plain] = renderersOf(config)
  const kind = chatTemplate === undefined ? plain : templated
  const { plugin, context } = equipPlugin('renderer', { kind, params: {} }, services)
  return await plugin.open({ ...context, tokenizer, chatTemplate })
}

async function openClient(
  { benchmark, cassette_dir: folder }: Evaluation,
  services: PluginServices,
): Promise<Answering> {
  const { openInferenceClient } = await import('../models/index.ts') // few benchmarks name a client
  const { inference } = benchmark
  if (inference === undefined) throw new EvsysError('INTERNAL', 'no client is named')
  // An evaluation that is asked again, after a crash, pays for nothing twice.
  const client = await openInferenceClient(inference, services, { cassette: { folder, mode: 'auto' } })
  return {
    takesTools: client.takesTools === true,
    client,
    policy: () => client,
    sample: () => Promise.reject(new EvsysError('INTERNAL', 'a client answers in place of the weights')),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]?.()
    },
  }
}
