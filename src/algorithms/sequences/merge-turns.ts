// Turns become training sequences. A turn whose prompt holds all tokens of an earlier turn goes on in that turn's sequence, so that
// a conversation is trained on once and not once per turn. Tokens are compared, never decoded or made again.
import type { Turn, TurnTokens } from '../../contracts/index.ts'
import { type BreakReason, breakReason } from './break-reason.ts'
import { type TrainableOptions, type TurnFault, turnFault } from './turn-fault.ts'

/** The completion of a turn within its sequence: tokens `start` up to `end`. */
export interface TurnSpan {
  readonly turn: number
  readonly start: number
  readonly end: number
  readonly policyVersion: number
  /** Absent: it is trained on. */
  readonly fault?: TurnFault
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

export interface MergedTurns {
  readonly sequences: readonly TrainingSequence[]
  /** Turns with tokens: as many sequences as there would be without merging. */
  readonly sequencesBefore: number
  /** Where a sequence had to begin anew. */
  readonly breaks: readonly { readonly turn: number; readonly reason: BreakReason }[]
  /** Turns whose messages go on from an earlier turn and whose tokens do not; `at`: the first token that differs. */
  readonly drift: readonly { readonly turn: number; readonly of: number; readonly at: number }[]
  readonly untrainable: readonly { readonly turn: number; readonly fault: TurnFault }[]
}

export interface MergeOptions extends TrainableOptions {
  /** What the renderer says of itself: false explains drift by reasoning that was dropped. */
  readonly extendsHistory?: boolean
}

type Told = { readonly index: number; readonly turn: Turn; readonly tokens: TurnTokens }

/** Merges the turns of one trajectory. */
export function mergeTurns(turns: readonly Turn[], options: MergeOptions = {}): MergedTurns {
  const open: Told[][] = []
  const told: Told[] = []
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
      const found = breakReason(next, told, options.extendsHistory)
      if (found !== undefined) breaks.push({ turn: index, reason: found.reason })
      if (found?.drift !== undefined) drift.push({ turn: index, ...found.drift })
    } else longest.push(next)
    told.push(next)
  }
  return {
    sequences: open.map((members) => sequenceOf(members, faults)),
    sequencesBefore: told.length,
    breaks,
    drift,
    untrainable: [...faults].map(([turn, fault]) => ({ turn, fault })),
  }
}

// The sequence with the most tokens among those that the prompt holds as its beginning. Subagents and repeated calls thereby leave
// the conversation around them whole.
function extended(open: readonly Told[][], prompt: Int32Array): Told[] | undefined {
  let longest: Told[] | undefined
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
  const { length } = before
  if (prompt.length < length + completion.length) return false
  return (
    before.every((token, at) => prompt[at] === token) && completion.every((token, at) => prompt[length + at] === token)
  )
}

// The last turn's prompt holds everything before it.
function sequenceOf(members: readonly Told[], faults: ReadonlyMap<number, TurnFault>): TrainingSequence {
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
    return { turn: index, start, end, policyVersion: drawn.policyVersion, ...(fault === undefined ? {} : { fault }) }
  })
  return { tokens, mask, logprobs, spans }
}
