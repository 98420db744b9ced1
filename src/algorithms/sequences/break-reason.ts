// Why a turn goes on from none of those before it. Messages tell what the agent did; tokens tell what the template did.
import type { Turn, TurnTokens } from '../../contracts/index.ts'
import { answerOf, messageKey } from './message-key.ts'

/** Why a sequence begins anew within a trajectory. */
export type BreakReason =
  /** The messages go on and the tokens do not: drift. */
  | 'retokenized'
  /** The same, by a template that drops earlier reasoning. */
  | 'thinking_stripped'
  /** The agent rewrote its history, or went back in it. */
  | 'compaction'
  /** Another conversation. */
  | 'subagent'
  /** The same prompt again. */
  | 'retry'

type Told = { readonly index: number; readonly turn: Turn; readonly tokens: TurnTokens }

/** The reason, and the first token that differs where it is drift; undefined for the first turn of a trajectory. */
export function breakReason(
  { turn, tokens }: Told,
  before: readonly Told[],
  extendsHistory: boolean | undefined,
): { reason: BreakReason; drift?: { of: number; at: number } } | undefined {
  if (before.length === 0) return undefined
  const keys = turn.messages.map(messageKey)
  const isSame = ({ turn: { messages } }: Told) =>
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

// Undefined: there is none, and another turn has gone on from that one.
function firstDifference(prompt: Int32Array, { prompt: before, completion }: TurnTokens): number | undefined {
  const { length } = before
  const at = before.findIndex((token, place) => prompt[place] !== token)
  if (at !== -1) return at
  const within = completion.findIndex((token, place) => prompt[length + place] !== token)
  return within === -1 ? undefined : length + within
}
