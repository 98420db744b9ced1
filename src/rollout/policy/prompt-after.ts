// The prompt of a conversation of which a part was drawn before: the tokens of that part as they were drawn, then what the
// template writes after it.
import type { ChatMessage, OpenRenderer, Rendered, ToolSpec } from '../../contracts/index.ts'
import { canonicalJson } from '../../kernel/index.ts'

/** A conversation that ends with an answer, and its tokens as they were sent and drawn. */
export interface KnownHistory {
  readonly messages: readonly ChatMessage[]
  readonly tokens: Int32Array
  /** The answer was ended by the model and not by a limit. */
  readonly ended: boolean
}

/** The tokens up to where the assistant answers. The longest known beginning of the conversation keeps its tokens. */
export function promptAfter(
  known: readonly KnownHistory[],
  messages: readonly ChatMessage[],
  renderer: OpenRenderer,
  tools: readonly ToolSpec[],
): Int32Array {
  const whole = renderer.prompt([...messages], tools)
  const history = longestOf(known, messages)
  if (history === undefined || startsWith(whole, history.tokens)) return whole
  const rest = restAfter(history, messages, renderer)
  // A template that cannot be cut there begins a new sequence.
  return rest === undefined ? whole : joined(history.tokens, rest)
}

function longestOf(known: readonly KnownHistory[], messages: readonly ChatMessage[]): KnownHistory | undefined {
  const keys = messages.map(keyOf)
  return known
    .filter((each) => each.messages.length < messages.length)
    .filter((each) => each.messages.every((message, i) => keyOf(message) === keys[i]))
    .reduce<KnownHistory | undefined>(
      (best, each) => (best === undefined || each.messages.length >= best.messages.length ? each : best),
      undefined,
    )
}

// What an agent hands back of an answer: reasoning and the ids of calls may be left out, arguments may be text or an object.
function keyOf({ role, content, tool_calls = [] }: ChatMessage): string {
  const calls = tool_calls.map(({ function: { name, arguments: args } }) => [
    name,
    typeof args === 'string' ? parsed(args) : args,
  ])
  return canonicalJson([role, content === null ? '' : content, calls])
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** What the template writes after the last token of the answer, up to where the assistant answers again. */
function restAfter(
  { messages: { length }, tokens, ended }: KnownHistory,
  messages: readonly ChatMessage[],
  renderer: OpenRenderer,
): Int32Array | undefined {
  const written = splitOf(messages, renderer)
  if (written === undefined) return undefined
  const prompt = renderer.prompt([...messages])
  if (!startsWith(prompt, written.tokens)) return undefined
  let last = -1
  for (const [i, owner] of written.message.entries()) if (owner === length - 1 && written.produced[i] === 1) last = i
  if (last === -1) return undefined
  // An answer that a limit cut off lacks the token that ends it; the template's own is put there, and it was not drawn.
  const isEnd = (token: number | undefined) => renderer.stop.some((each) => each === token)
  const lacksEnd = !ended && !isEnd(tokens.at(-1)) && isEnd(written.tokens[last])
  return prompt.slice(lacksEnd ? last : last + 1)
}

// A template that does not show its messages as they are refuses to be split.
function splitOf(messages: readonly ChatMessage[], renderer: OpenRenderer): Rendered | undefined {
  try {
    return renderer.conversation(messages)
  } catch {
    return undefined
  }
}

function startsWith(tokens: Int32Array, beginning: Int32Array): boolean {
  return tokens.length >= beginning.length && beginning.every((token, i) => tokens[i] === token)
}

function joined(a: Int32Array, b: Int32Array): Int32Array {
  const whole = new Int32Array(a.length + b.length)
  whole.set(a)
  whole.set(b, a.length)
  return whole
}
