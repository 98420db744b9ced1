import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatMessage, Turn } from '../../contracts/index.ts'
import { mergeTurns, policySpan, type TrainingSequence } from './merge-turns.ts'

const user = (content: string): ChatMessage => ({ role: 'user', content })

function turn(
  messages: ChatMessage[],
  prompt: number[],
  completion: number[],
  { logprobs = completion.map((_, at) => -0.5 - at), policyVersion = 0, text = `answer ${completion.join(' ')}` } = {},
): Turn {
  const tokens = {
    prompt: Int32Array.from(prompt),
    completion: Int32Array.from(completion),
    logprobs: Float64Array.from(logprobs),
    policyVersion,
  }
  return { messages, text, stopReason: 'stop', tokens }
}

/** A conversation as a session draws it: each prompt holds what came before, and the next question. */
function linear(count: number, first = 1): Turn[] {
  const turns: Turn[] = []
  let messages = [user('question 0')]
  let prompt = [first, 2]
  for (let at = 0; at < count; at++) {
    const completion = [100 + at, 200 + at, 3]
    const next = turn(messages, prompt, completion)
    turns.push(next)
    messages = [...messages, { role: 'assistant', content: next.text }, user(`question ${at + 1}`)]
    prompt = [...prompt, ...completion, 4, 5 + at]
  }
  return turns
}

const drawn = (turns: readonly Turn[]) => turns.flatMap(({ tokens }) => [...(tokens?.completion ?? [])])

describe('merging turns', () => {
  it('makes one sequence of a linear chat of 20 turns, whose trained tokens are the completions (HAR-66)', () => {
    const turns = linear(20)
    const { sequences, sequencesBefore, breaks, drift, untrainable } = mergeTurns(turns)
    expect(sequences).toHaveLength(1)
    expect({ sequencesBefore, breaks, drift, untrainable }).toEqual({
      sequencesBefore: 20,
      breaks: [],
      drift: [],
      untrainable: [],
    })
    const { tokens, mask } = sequences[0] ?? { tokens: new Int32Array(), mask: new Uint8Array() }
    expect([...tokens].filter((_, at) => mask[at] === 1)).toEqual(drawn(turns))
  })

  it('begins anew where the history was rewritten, and says why (HAR-67)', () => {
    const before = linear(5)
    const rewritten = turn([user('question 0'), user('summary')], [1, 2, 77], [9, 3])
    const { sequences, breaks } = mergeTurns([...before, rewritten])
    expect(sequences.map(({ spans }) => spans.map((span) => span.turn))).toEqual([[0, 1, 2, 3, 4], [5]])
    expect(breaks).toEqual([{ turn: 5, reason: 'compaction' }])
  })

  it('counts drift: messages that go on while the tokens do not (HAR-67)', () => {
    const [first, second] = linear(2)
    const tokens = second?.tokens
    if (first === undefined || second === undefined || tokens === undefined) throw new Error('two turns')
    const prompt = tokens.prompt.slice()
    prompt[3] = 999
    const merged = mergeTurns([first, { ...second, tokens: { ...tokens, prompt } }])
    expect(merged.breaks).toEqual([{ turn: 1, reason: 'retokenized' }])
    expect(merged.drift).toEqual([{ turn: 1, of: 0, at: 3 }])
    expect(mergeTurns([first, { ...second, tokens: { ...tokens, prompt } }], { extendsHistory: false }).breaks).toEqual(
      [{ turn: 1, reason: 'thinking_stripped' }],
    )
  })

  it('keeps a conversation whole around subagents and repeated calls (HAR-67)', () => {
    const [a, b, c] = linear(3)
    if (a === undefined || b === undefined || c === undefined) throw new Error('three turns')
    const other = turn([user('another task')], [50, 51], [52, 3])
    const again = turn([...b.messages], [...(b.tokens?.prompt ?? [])], [61, 3])
    const { sequences, breaks } = mergeTurns([a, other, b, again, c])
    expect(sequences.map(({ spans }) => spans.map((span) => span.turn))).toEqual([[0, 2, 4], [1], [3]])
    expect(breaks).toEqual([
      { turn: 1, reason: 'subagent' },
      { turn: 3, reason: 'retry' },
    ])
  })

  it('never trains on a turn without sound log-probabilities (HAR-70)', () => {
    const [first, second, third] = linear(3)
    const faulty = (index: number, logprobs: number[]) =>
      [first, second, third].flatMap((each, at) => {
        if (each?.tokens === undefined) return []
        return [at === index ? { ...each, tokens: { ...each.tokens, logprobs: Float64Array.from(logprobs) } } : each]
      })
    for (const [logprobs, fault] of [
      [[], 'missing_logprobs'],
      [[-1, Number.NaN, -1], 'bad_logprobs'],
      [[-1, Number.NEGATIVE_INFINITY, -1], 'bad_logprobs'],
      [[-1, 0.5, -1], 'bad_logprobs'],
    ] as const) {
      const turns = faulty(1, [...logprobs])
      const { sequences, untrainable } = mergeTurns(turns)
      expect(untrainable).toEqual([{ turn: 1, fault }])
      expect(sequences).toHaveLength(1)
      const { tokens, mask } = sequences[0] ?? { tokens: new Int32Array(), mask: new Uint8Array() }
      expect([...tokens].filter((_, at) => mask[at] === 1)).toEqual([
        ...drawn(turns.slice(0, 1)),
        ...drawn(turns.slice(2)),
      ])
    }
  })

  it('leaves out turns without tokens, with tokens of no vocabulary, and without an answer (HAR-70)', () => {
    const [first] = linear(1)
    if (first === undefined) throw new Error('a turn')
    const { tokens: _, ...silent } = first
    const merged = mergeTurns([silent, turn([user('x')], [1, -2], [3]), turn([user('y')], [1], [])])
    expect(merged.untrainable.map(({ fault }) => fault)).toEqual(['no_tokens', 'bad_tokens', 'empty'])
    expect(merged.sequences.flatMap(({ mask }) => [...mask])).toEqual([0])
    expect(lastTrained(merged.sequences)).toBeUndefined()
  })

  it('masks turns of weights that are too old, and those the caller excludes (HAR-73)', () => {
    const turns = linear(4).map((each, at) =>
      each.tokens === undefined ? each : { ...each, tokens: { ...each.tokens, policyVersion: at } },
    )
    expect(policySpan(turns)).toEqual({ min: 0, max: 3 })
    const merged = mergeTurns(turns, {
      staleness: { trainStep: 4, maxStepsOffPolicy: 2 },
      exclude: (_, index) => index === 3,
    })
    expect(merged.sequences[0]?.spans.map(({ fault, policyVersion }) => [policyVersion, fault])).toEqual([
      [0, 'stale'],
      [1, 'stale'],
      [2, undefined],
      [3, 'excluded'],
    ])
  })

  it('tells where the reward of the whole goes: the last token that is trained on (HAR-78)', () => {
    const [a, b] = linear(2)
    if (a === undefined || b === undefined) throw new Error('two turns')
    const other = turn([user('another task')], [50, 51], [52, 3])
    const { sequences } = mergeTurns([a, other, b])
    expect(lastTrained(sequences)).toEqual({ sequence: 0, position: (sequences[0]?.tokens.length ?? 0) - 1 })
    const cut = mergeTurns([a, other, b], { exclude: (_, index) => index === 2 }).sequences
    expect(lastTrained(cut)).toEqual({ sequence: 1, position: 3 })
  })

  it('loses no token and invents none, whatever the turns are (HAR-66, HAR-67)', () => {
    const token = fc.integer({ min: 0, max: 5 })
    const anyTurn = fc.record({
      prompt: fc.array(token, { maxLength: 12 }),
      completion: fc.array(token, { minLength: 1, maxLength: 4 }),
      goesOn: fc.boolean(),
      glue: fc.array(token, { maxLength: 3 }),
    })
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 12 }), (plans) => {
        const turns: Turn[] = []
        for (const { prompt, completion, goesOn, glue } of plans) {
          const last = turns.at(-1)?.tokens
          const whole = goesOn && last !== undefined ? [...last.prompt, ...last.completion, ...glue] : prompt
          turns.push(turn([user(whole.join())], whole, completion))
        }
        const { sequences, sequencesBefore, breaks } = mergeTurns(turns)
        expect(sequencesBefore).toBe(turns.length)
        expect(breaks).toHaveLength(Math.max(0, sequences.length - 1))
        const placed = sequences.flatMap(({ spans }) => spans.map((span) => span.turn)).sort((a, b) => a - b)
        expect(placed).toEqual(turns.map((_, at) => at))
        for (const { tokens, mask, logprobs, spans } of sequences) {
          expect([mask.length, logprobs.length]).toEqual([tokens.length, tokens.length])
          expect(mask.reduce((sum, each) => sum + each, 0)).toBe(
            spans.reduce((sum, { start, end }) => sum + end - start, 0),
          )
          for (const { turn: index, start, end } of spans) {
            expect(tokens.slice(start, end)).toEqual(turns[index]?.tokens?.completion)
            expect(tokens.slice(0, start)).toEqual(turns[index]?.tokens?.prompt)
            expect(logprobs.slice(start, end)).toEqual(turns[index]?.tokens?.logprobs)
          }
        }
      }),
    )
  })
})

/** The last token of the last turn that is trained on, by the spans of turns. */
function lastTrained(sequences: readonly TrainingSequence[]): { sequence: number; position: number } | undefined {
  const ends = sequences.flatMap(({ spans }, sequence) =>
    spans.flatMap(({ fault, turn, end }) => (fault === undefined ? [{ sequence, position: end - 1, turn }] : [])),
  )
  const last = ends.sort((a, b) => a.turn - b.turn).at(-1)
  return last === undefined ? undefined : { sequence: last.sequence, position: last.position }
}
