// One trial behind the proxy: its policy, its conversations, its turns. It knows no HTTP and no other trial.

import { messageKey } from '../../algorithms/index.ts'
import type { ChatMessage, OpenInferenceClient, Sampling, Turn } from '../../contracts/index.ts'
import { type Clock, sha256, systemClock } from '../../kernel/index.ts'
import { ProxyFault } from './proxy-fault.ts'
import { answeredCalls, messageCalls, messageContent, type ProxyAnswer, type ProxyRequest } from './proxy-request.ts'

// The conversations of a trial as a graph: every answer at the history that it was given to. A client sends its history back in a
// form of its own; where it is one that is known, the answers in it are put back as they were drawn.

interface RestoredHistory {
  readonly messages: readonly ChatMessage[]
  /** How many of the messages, from the first, are a conversation that was answered here; its answer included. */
  readonly known: number
  /** Equal for equal conversations. */
  readonly node: string
}

class MessageGraph {
  readonly #answers = new Map<string, ChatMessage>()

  /** The messages, with answers of ours as we gave them. */
  restore(messages: readonly ChatMessage[]): RestoredHistory {
    let node = root
    let known = 0
    const restored = messages.map((message, at) => {
      node = nodeAfter(node, message)
      const answer = message.role === 'assistant' ? this.#answers.get(node) : undefined
      if (answer === undefined) return message
      known = at + 1
      return answer
    })
    return { messages: restored, known, node }
  }

  /** Remembers what was answered to these messages. Of two equal answers the first stays. */
  add(messages: readonly ChatMessage[], answer: ChatMessage): void {
    const node = [...messages, answer].reduce(nodeAfter, root)
    if (!this.#answers.has(node)) this.#answers.set(node, answer)
  }
}

const root = ''

function nodeAfter(node: string, message: ChatMessage): string {
  return sha256(`${node}\n${messageKey(message)}`)
}

export interface ProxySessionOptions {
  /** Answers every request, whatever model it names. */
  readonly policy: OpenInferenceClient
  readonly sampling: Sampling
  /** Name that `/v1/models` reports. */
  readonly model: string
  readonly maxTurns: number
  /** The seed of an answer, by the conversation that is answered and how often it was before: no order of arrival is in it. */
  seed(conversation: string, repeat: number): number
  /** Requests that are answered at once; default 16. */
  readonly maxConcurrent?: number | undefined
  /** True: temperature and its like are those that the client asks for. Absent: those of the trial, as training needs it. */
  readonly clientSampling?: boolean | undefined
  /** Called with every failure of the policy. */
  onFailure?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
}

/** What became of the requests of a trial. */
export interface ProxyStats {
  readonly requests: number
  /** Those whose history was known to its last answer. */
  readonly extended: number
  /** Those with answers in their history of which the last is not one of ours: the client changed it. */
  readonly rewritten: number
  readonly failed: number
}

export class ProxySession {
  readonly #options: ProxySessionOptions
  readonly #graph = new MessageGraph()
  readonly #over = new AbortController()
  readonly #turns: Turn[] = []
  readonly #asked = new Map<string, number>()
  readonly #responses = new Map<string, readonly ChatMessage[]>()
  #stats = { requests: 0, extended: 0, rewritten: 0, failed: 0 }
  #underWay = 0
  #failure: unknown

  constructor(options: ProxySessionOptions) {
    this.#options = options
  }

  get model(): string {
    return this.#options.model
  }

  /** In the order in which they were answered. */
  get turns(): readonly Turn[] {
    return [...this.#turns]
  }

  get stats(): ProxyStats {
    return { ...this.#stats }
  }

  /** What the policy failed with last; undefined where its last answer came. */
  get failure(): unknown {
    return this.#failure
  }

  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  /** Ends what is under way; later requests are refused. */
  end(): void {
    this.#over.abort(new ProxyFault('over', 'the trial is over'))
  }

  async answer(request: ProxyRequest, signal: AbortSignal): Promise<ProxyAnswer> {
    const { policy, maxTurns, seed, maxConcurrent = 16, clock = systemClock } = this.#options
    if (this.isOver) throw new ProxyFault('over', 'the trial is over')
    if (this.#underWay >= maxConcurrent) {
      throw new ProxyFault('rate_limited', `${maxConcurrent} requests of this trial are under way`, 1)
    }
    if (this.#stats.requests >= maxTurns)
      throw new ProxyFault('limit', `the trial has had all of its ${maxTurns} turns`)
    const turn = this.#stats.requests++
    const { messages, known, node } = this.#graph.restore(request.messages)
    const repeat = this.#asked.get(node) ?? 0
    this.#asked.set(node, repeat + 1)
    const own = seed(node, repeat)
    const last = messages.findLastIndex(({ role }) => role === 'assistant') + 1
    if (last > 0 && last === known) this.#stats.extended++
    if (last > known && turn > 0) this.#stats.rewritten++
    this.#underWay++
    try {
      const tools = request.tools.length === 0 ? undefined : request.tools
      const stop = request.stop.length === 0 ? undefined : request.stop
      const drawn = this.#options.clientSampling === true ? (request.seed ?? own) : own
      const generated = await policy.generate(
        { messages, ...this.#sampling(request), tools, stop, seed: drawn },
        AbortSignal.any([signal, this.#over.signal]),
      )
      this.#over.signal.throwIfAborted()
      this.#failure = undefined
      const calls = answeredCalls(generated.toolCalls ?? [], turn)
      const toolCalls = messageCalls(calls)
      const { text, reasoning, stopReason, tokens } = generated
      const content = messageContent(generated, calls)
      this.#graph.add(messages, { role: 'assistant', content, reasoning_content: reasoning, tool_calls: toolCalls })
      this.#turns.push({ messages, text, toolCalls, stopReason, tokens })
      return { id: `${turn}`, createdS: Math.floor(clock.now() / 1000), model: request.model, generated, calls }
    } catch (error) {
      this.#stats.failed++
      this.#failure = error
      this.#options.onFailure?.(error)
      throw this.isOver ? new ProxyFault('over', 'the trial is over') : error
    } finally {
      this.#underWay--
    }
  }

  /** Tokens of a prompt: exact where the policy's chat format is known, else a quarter of its characters. */
  countTokens({ messages, tools }: ProxyRequest): number {
    const { renderer } = this.#options.policy.sampler ?? {}
    if (renderer !== undefined) return renderer.prompt(messages, renderer.takesTools === true ? tools : []).length
    return Math.ceil(JSON.stringify([messages, tools]).length / 4)
  }

  /** The conversation up to a stored response, for clients that name it instead of sending it. */
  conversation(responseId: string): readonly ChatMessage[] | undefined {
    return this.#responses.get(responseId)
  }

  keep(responseId: string, messages: readonly ChatMessage[]): void {
    this.#responses.set(responseId, messages)
  }

  #sampling({ maxTokens, temperature, topP, topK }: ProxyRequest): Sampling {
    const { sampling, clientSampling = false } = this.#options
    const capped = { ...sampling, maxTokens: Math.min(maxTokens ?? sampling.maxTokens, sampling.maxTokens) }
    if (!clientSampling) return capped
    const { temperature: ours } = sampling
    return { ...capped, temperature: temperature ?? ours, topP: topP ?? sampling.topP, topK: topK ?? sampling.topK }
  }
}
