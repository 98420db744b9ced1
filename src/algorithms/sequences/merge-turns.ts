// Turns become training sequences. A turn whose prompt holds all tokens of an earlier turn extends that turn's sequence, so that
// a conversation is trained on once and not once per turn. Tokens are compared, never decoded or made again.
import type { ChatMessage, ToolCall, Turn, TurnTokens } from '../../contracts/index.ts'
import { canonicalJson } from '../../kernel/index.ts'

/** The completion of a turn within its sequence: tokens `start` up to `end`. */
interface TurnSpan {
  readonly turn: number
  readonly start: number
  readonly end: number
  readonly policyVersion: number
  /** Absent: it is trained on. */
  readonly fault?: TurnFault | undefined
}

/** Tokens to train on, with all that a loss needs; every array is as long as `tokens`. */
export interface TrainingSequence {
  readonly tokens: Int32Array
  /** 1 where a token was drawn by the policy and is trained on. */
  readonly mask: Uint8Array
  /** 0 where `mask` is. */
  readonly logprobs: Float64Array
  /** In order. */
  readonly spans: readonly TurnSpan[]
}

interface MergedTurns {
  readonly sequences: readonly TrainingSequence[]
  /** Turns with tokens: as many sequences as there would be without merging. */
  readonly sequencesBefore: number
  /** Where a sequence had to begin anew. */
  readonly breaks: readonly { readonly turn: number; readonly reason: BreakReason }[]
  /** Turns whose messages continue an earlier turn and whose tokens do not; `at`: the first token that differs. */
  readonly drift: readonly { readonly turn: number; readonly of: number; readonly at: number }[]
  readonly untrainable: readonly { readonly turn: number; readonly fault: TurnFault }[]
}

export interface MergeOptions extends TrainableOptions {
  /** Of the renderer: false explains drift by reasoning that was dropped. */
  readonly extendsHistory?: boolean | undefined
}

type Merged = { readonly index: number; readonly turn: Turn; readonly tokens: TurnTokens }

/** Merges the turns of one trajectory. */
export function mergeTurns(turns: readonly Turn[], options: MergeOptions = {}): MergedTurns {
  const open: Merged[][] = []
  const seen: Merged[] = []
  const breaks: MergedTurns['breaks'][number][] = []
  const drift: MergedTurns['drift'][number][] = []
  const faults = new Map<number, TurnFault>()
  for (const [index, turn] of turns.entries()) {
    const fault = turnFault(turn, index, options)
    if (fault !== undefined) faults.set(index, fault)
    if (turn.tokens === undefined || fault === 'bad_tokens') continue
    const next = { index, turn, tokens: turn.tokens }
    const longest = extended(open, next.tokens.prompt)
    if (longest === undefined) {
      open.push([next])
      const found = breakReason(next, seen, options.extendsHistory)
      if (found !== undefined) breaks.push({ turn: index, reason: found.reason })
      if (found?.drift !== undefined) drift.push({ turn: index, ...found.drift })
    } else longest.push(next)
    seen.push(next)
  }
  return {
    sequences: open.map((members) => sequenceOf(members, faults)),
    sequencesBefore: seen.length,
    breaks,
    drift,
    untrainable: [...faults].map(([turn, fault]) => ({ turn, fault })),
  }
}

// The sequence with the most tokens among those that the prompt holds as its beginning. Subagents and repeated calls thereby leave
// the conversation around them whole.
function extended(open: readonly Merged[][], prompt: Int32Array): Merged[] | undefined {
  let longest: Merged[] | undefined
  let most = -1
  for (const members of open) {
    const last = members.at(-1)
    if (last === undefined) continue
    const { tokens } = last
    const length = tokens.prompt.length + tokens.completion.length
    if (length <= most || !holds(prompt, tokens)) continue
    longest = members
    most = length
  }
  return longest
}

function holds(prompt: Int32Array, { prompt: before, completion }: TurnTokens): boolean {
  const isShort = prompt.length < before.length + completion.length
  return !isShort && firstDifference(prompt, { prompt: before, completion }) === undefined
}

// The last turn's prompt holds everything before it.
function sequenceOf(members: readonly Merged[], faults: ReadonlyMap<number, TurnFault>): TrainingSequence {
  const last = members.at(-1)?.tokens
  if (last === undefined) throw new TypeError('a sequence has at least one turn')
  const length = last.prompt.length + last.completion.length
  const tokens = new Int32Array(length)
  tokens.set(last.prompt)
  tokens.set(last.completion, last.prompt.length)
  const mask = new Uint8Array(length)
  const logprobs = new Float64Array(length)
  const spans = members.map(({ index, tokens: drawn }): TurnSpan => {
    const start = drawn.prompt.length
    const end = start + drawn.completion.length
    const fault = faults.get(index)
    if (fault === undefined) {
      mask.fill(1, start, end)
      logprobs.set(drawn.logprobs, start)
    }
    return { turn: index, start, end, policyVersion: drawn.policyVersion, fault }
  })
  return { tokens, mask, logprobs, spans }
}

// Why a turn extends none of those before it. Messages show what the agent did; tokens show what the template did.
/** Why a sequence begins anew within a trajectory. */
type BreakReason =
  /** The messages continue and the tokens do not: drift. */
  | 'retokenized'
  /** The same, by a template that drops earlier reasoning. */
  | 'thinking_stripped'
  /** The agent rewrote its history, or went back in it. */
  | 'compaction'
  /** Another conversation. */
  | 'subagent'
  /** The same prompt again. */
  | 'retry'

/** The reason, and the first token that differs where it is drift; undefined for the first turn of a trajectory. */
function breakReason(
  { turn, tokens }: Merged,
  before: readonly Merged[],
  extendsHistory: boolean | undefined,
): { reason: BreakReason; drift?: { of: number; at: number } | undefined } | undefined {
  if (before.length === 0) return undefined
  const keys = turn.messages.map(messageKey)
  const isSame = ({ turn: { messages } }: Merged) =>
    messages.length === keys.length && messages.every((message, at) => messageKey(message) === keys[at])
  if (before.some(isSame)) return { reason: 'retry' }
  const extended = before.findLast((each) => {
    const all = [...each.turn.messages, answerOf(each.turn)]
    return all.length <= keys.length && all.every((message, at) => messageKey(message) === keys[at])
  })
  const at = extended === undefined ? undefined : firstDifference(tokens.prompt, extended.tokens)
  if (extended !== undefined && at !== undefined) {
    const reason = extendsHistory === false ? 'thinking_stripped' : 'retokenized'
    return { reason, drift: { of: extended.index, at } }
  }
  const opening = openingOf(turn)
  return { reason: before.some((each) => openingOf(each.turn) === opening) ? 'compaction' : 'subagent' }
}

function openingOf({ messages }: Turn): string | undefined {
  const first = messages.find(({ role }) => role !== 'system')
  return first === undefined ? undefined : messageKey(first)
}

// Undefined: there is none, and another turn has continued that one.
type TurnText = Pick<TurnTokens, 'prompt' | 'completion'>

function firstDifference(prompt: Int32Array, { prompt: before, completion }: TurnText): number | undefined {
  const { length } = before
  const at = before.findIndex((token, place) => prompt[place] !== token)
  if (at !== -1) return at
  const within = completion.findIndex((token, place) => prompt[length + place] !== token)
  return within === -1 ? undefined : length + within
}

// Whether the tokens of a turn may be trained on. A missing log-probability is never read as 0, which would mean certainty.
/** Why a turn is not trained on. */
type TurnFault =
  /** The model does not report its tokens. */
  | 'no_tokens'
  /** A token that no vocabulary has. */
  | 'bad_tokens'
  | 'empty'
  | 'missing_logprobs'
  /** Not finite, or above 0. */
  | 'bad_logprobs'
  /** Drawn by weights that are too old. */
  | 'stale'
  /** The caller does not want it. */
  | 'excluded'

interface TrainableOptions {
  /** Turns of weights that are older than this many optimiser steps are not trained on. */
  readonly staleness?: { readonly trainStep: number; readonly maxStepsOffPolicy: number } | undefined
  /** True: the turn stays in its sequence and is not trained on, as after an answer that could not be parsed. */
  exclude?: ((turn: Turn, index: number) => boolean) | undefined
}

/** Rounding of a distribution's sum may lift the likeliest token this far above certainty. */
const slack = 1e-6

/** Why the turn is not trained on; undefined where it is. */
function turnFault(turn: Turn, index: number, { staleness, exclude }: TrainableOptions = {}): TurnFault | undefined {
  const { tokens } = turn
  if (tokens === undefined) return 'no_tokens'
  if (!areTokens(tokens)) return 'bad_tokens'
  const { completion, logprobs, policyVersion } = tokens
  if (completion.length === 0) return 'empty'
  if (logprobs.length !== completion.length) return 'missing_logprobs'
  if (!logprobs.every((value) => Number.isFinite(value) && value <= slack)) return 'bad_logprobs'
  if (staleness !== undefined && staleness.trainStep - policyVersion > staleness.maxStepsOffPolicy) return 'stale'
  return exclude?.(turn, index) === true ? 'excluded' : undefined
}

/** Oldest and newest weights that answered; undefined where no turn has tokens. */
export function policySpan(turns: readonly Turn[]): { min: number; max: number } | undefined {
  const versions = turns.flatMap(({ tokens }) => (tokens === undefined ? [] : [tokens.policyVersion]))
  return versions.length === 0 ? undefined : { min: Math.min(...versions), max: Math.max(...versions) }
}

function areTokens({ prompt, completion }: TurnTokens): boolean {
  return prompt.every((token) => token >= 0) && completion.every((token) => token >= 0)
}

// When two messages are the same message. Clients send back what they were answered in various forms: without reasoning, with
// ids of calls as they please, content as text or as blocks. What the model was given is what counts.
/** Text that is equal for equal messages. */
export function messageKey({ role, content, tool_calls }: ChatMessage): string {
  const text = contentKey(content)
  return JSON.stringify([
    role,
    role === 'assistant' && typeof text === 'string' ? text.trim() : text,
    (tool_calls ?? []).map(({ function: { name, arguments: args } }) => [name, argumentsKey(args)]),
  ])
}

/** The answer of a turn as the message that later prompts hold. */
export function answerOf({ text, toolCalls = [] }: Pick<Turn, 'text' | 'toolCalls'>): ChatMessage {
  const calls = toolCalls.map((call): ToolCall => ({ ...call }))
  const content = text === '' && calls.length > 0 ? null : text
  return calls.length === 0 ? { role: 'assistant', content } : { role: 'assistant', content, tool_calls: calls }
}

function contentKey(content: ChatMessage['content']): unknown {
  if (content === null) return ''
  if (typeof content === 'string') return content
  if (content.every(({ type }) => type === 'text')) return content.map((block) => block.text).join('')
  return canonicalJson(content)
}

function argumentsKey(args: ToolCall['function']['arguments']): string {
  if (typeof args !== 'string') return canonicalJson(args)
  try {
    return canonicalJson(JSON.parse(args))
  } catch {
    return args
  }
}
