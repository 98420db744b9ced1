// One proposal of a model behind an API: asked once, asked again once when the answer cannot be used. Trying again after 429, 529 and
// broken connections is the business of the client.
import type {
  Brief,
  ChatMessage,
  Context,
  OpenInferenceClient,
  PluginSpec,
  Proposal,
  TokenPrice,
  Usage,
} from '../../../contracts/index.ts'
import { createRegistry, EvsysError } from '../../../kernel/index.ts'
import { loadModelPlugins, openInferenceClient } from '../../../models/index.ts'
import { addUsage, proposalError, withUsage } from '../ledger/proposal-usage.ts'
import { parseReply } from './parse-reply.ts'
import { askAgain, writePrompt } from './write-prompt.ts'

interface ModelCall {
  readonly client: PluginSpec
  readonly maxTokens: number
  readonly temperature: number
  /** Asked for at most. */
  readonly mostIdeas: number
  /** Absent: unknown, and a cap on money cannot bound an answer. */
  readonly price?: TokenPrice | undefined
}

type CallContext = Pick<Context<unknown>, 'signal' | 'random' | 'log' | 'secret'>

export async function proposeByModel(brief: Brief, call: ModelCall, context: CallContext): Promise<Proposal> {
  const client = await openClient(call.client, context)
  await using _closing = { [Symbol.asyncDispose]: async () => client[Symbol.asyncDispose]?.() }
  const count = brief.repair === undefined ? Math.min(brief.request.ideas, call.mostIdeas) : 1
  const messages = writePrompt({ ...brief, request: { ...brief.request, ideas: count } })
  const wanted = { most: count, files: Object.keys(brief.files) }
  let usage: Usage | undefined
  let question: readonly ChatMessage[] = messages
  let problem = ''
  for (const sending of [1, 2]) {
    const { limit } = brief
    const maxTokens = answerRoom({ messages: question, maxTokens: call.maxTokens, limit, price: call.price, usage })
    if (maxTokens === undefined) throw noRoom(call.client.kind, problem, usage)
    const answer = await ask(client, question, { ...call, maxTokens }, { ...context, sending, brief, usage })
    usage = addUsage(usage, answer.usage)
    if (answer.stopReason === 'refused')
      throw proposalError('INFERENCE_REFUSED', `${call.client.kind}: the model declines to propose`, usage, {
        fix: 'use another model, or change the prompt of the task.',
      })
    const { ideas, problems } = parseReply(answer.text, wanted)
    const isCut = answer.stopReason === 'length'
    for (const each of ideas.length > 0 ? problems : []) context.log('warn', `an idea is left out: ${each}`)
    if (ideas.length > 0) return { ideas, usage }
    problem = [...(isCut ? [`it was cut off after ${maxTokens} tokens`] : []), ...problems].join('; ')
    context.log('warn', `an answer of ${call.client.kind} cannot be used: ${problem}`)
    question = askAgain(messages, answer.text, problem)
  }
  throw proposalError('INFERENCE_FAILED', `${call.client.kind}: two answers could not be used: ${problem}`, usage, {
    fix: 'use a model that writes JSON, or give it more `max_tokens`.',
  })
}

function noRoom(kind: string, problem: string, usage: Usage | undefined): EvsysError {
  const before = problem === '' ? '' : `, and its first answer could not be used: ${problem}`
  const message = `${kind}: the caps of the session leave no room for an answer${before}`
  return proposalError('INFERENCE_FAILED', message, usage, { fix: 'raise the cap on money or tokens.' })
}

async function ask(
  client: OpenInferenceClient,
  messages: readonly ChatMessage[],
  { maxTokens, temperature }: ModelCall,
  { signal, random, sending, brief, usage }: CallContext & { sending: number; brief: Brief; usage: Usage | undefined },
) {
  const seed = random('propose', brief.state.attempts.length, sending).int(2 ** 31)
  try {
    return await client.generate({ messages, maxTokens, temperature, seed }, signal)
  } catch (error) {
    throw withUsage(error, usage)
  }
}

async function openClient(spec: PluginSpec, context: CallContext): Promise<OpenInferenceClient> {
  const registry = createRegistry()
  for (const plugin of await loadModelPlugins())
    if (plugin.type === 'inference_client') registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  try {
    return await openInferenceClient(spec, { registry, ...context })
  } catch (error) {
    if (!EvsysError.is(error) || error.code !== 'SECRET_MISSING') throw error
    throw new EvsysError('SECRET_MISSING', error.message, {
      cause: error,
      fix: 'set the key in the environment or in .env of the project, or use the proposer `optimizer`, which needs none.',
    })
  }
}

// How long an answer may be, so that the call stays within what is left of the caps of its session. Prompts are counted by their
// characters: three to a token, which is fewer than English and code have.
const charactersPerToken = 3

/** Below this no idea fits into an answer. */
const fewestTokens = 256

/** Tokens of the answer; undefined: the caps leave no room for one. */
function answerRoom(options: {
  readonly messages: readonly ChatMessage[]
  readonly maxTokens: number
  readonly limit: Brief['limit']
  readonly price: TokenPrice | undefined
  /** Of earlier sendings of the same call. */
  readonly usage: Usage | undefined
}): number | undefined {
  const { messages, maxTokens, limit = {}, price, usage } = options
  const prompt = Math.ceil(messages.reduce((sum, { content }) => sum + lengthOf(content), 0) / charactersPerToken)
  const rooms = [maxTokens]
  if (limit.tokens !== undefined) {
    rooms.push(limit.tokens - (usage?.promptTokens ?? 0) - (usage?.completionTokens ?? 0) - prompt)
  }
  if (limit.usd !== undefined && price !== undefined && price.output > 0) {
    const input = Math.max(price.input, price.cache_write ?? 0)
    const left = limit.usd - (usage?.costUsd ?? 0) - (prompt * input) / 1_000_000
    rooms.push((left * 1_000_000) / price.output)
  }
  const room = Math.floor(Math.min(...rooms))
  return room < Math.min(fewestTokens, maxTokens) ? undefined : room
}

function lengthOf(content: ChatMessage['content']): number {
  return typeof content === 'string' ? content.length : JSON.stringify(content ?? '').length
}
