import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { mergeTurns } from '../../src/algorithms/index.ts'
import { openPlainChat, specialTokens } from '../../src/backends/models/mock-models.ts'
import type { ChatMessage, OpenInferenceClient, OpenRenderer, Tokenizer, Turn } from '../../src/contracts/index.ts'
import { keyedRandom } from '../../src/kernel/index.ts'
import { withTokenSession } from '../../src/rollout/policy/token-policy.ts'
import { createCaptureProxy } from '../../src/rollout/proxy/capture-proxy.ts'

const Answer = z.looseObject({ choices: z.tuple([z.looseObject({ message: z.unknown() })]) })
const { '<|end|>': end } = specialTokens
const { signal } = new AbortController()

// Tokens from 128 on read like those below: text does not tell which were drawn, and encode(decode(x)) is not x.
const ambiguous: Tokenizer = {
  vocabSize: 264,
  encode: (text) => Int32Array.from(text, (char) => char.charCodeAt(0)),
  decode: (tokens) => String.fromCharCode(...Array.from(tokens, (token) => token % 128)),
}

/** Weights that draw letters from their upper half, by the seed. An answer of `cutAt` tokens is cut by its length. */
function client(
  renderer: OpenRenderer = openPlainChat(ambiguous),
  cutAt = Number.POSITIVE_INFINITY,
): OpenInferenceClient {
  let drawn = 0
  return {
    generate: () => Promise.reject(new Error('a session draws by tokens')),
    sampler: {
      model: 'weights',
      renderer,
      async sample({ prompt, seed }) {
        const random = keyedRandom(seed, prompt.length)
        const letters = Array.from({ length: 3 }, () => 128 + 97 + random.int(26))
        const isCut = letters.length >= cutAt
        const tokens = Int32Array.from(isCut ? letters : [...letters, end])
        const logprobs = Float64Array.from(tokens, () => -random.float())
        return { tokens, logprobs, stopReason: isCut ? 'length' : 'stop', policyVersion: drawn++ }
      },
    },
  }
}

const question = (turn: number): ChatMessage => ({ role: 'user', content: `question ${turn}` })
const draw = { maxTokens: 8, temperature: 1 }
const seed = 5

/** The turns of an append-only chat, asked of the session itself. */
async function native(count: number, policy: OpenInferenceClient): Promise<Turn[]> {
  const session = withTokenSession(policy)
  const turns: Turn[] = []
  let messages = [question(0)]
  for (let turn = 0; turn < count; turn++) {
    const given = await session.generate({ messages, ...draw, seed }, signal)
    const { text, stopReason, tokens } = given
    turns.push({ messages, text, stopReason, ...(tokens === undefined ? {} : { tokens }) })
    messages = [...messages, { role: 'assistant', content: text }, question(turn + 1)]
  }
  return turns
}

/** The same by a client that knows chat completions alone. */
async function proxied(count: number, policy: OpenInferenceClient): Promise<readonly Turn[]> {
  const proxy = createCaptureProxy()
  const session = { policy: withTokenSession(policy), model: 'weights', sampling: draw, maxTurns: 50, seed: () => seed }
  const trial = proxy.open(session)
  const messages: unknown[] = [question(0)]
  for (let turn = 0; turn < count; turn++) {
    const response = await proxy.fetch(
      new Request(`http://proxy${trial.path}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${trial.key}` },
        body: JSON.stringify({ model: 'x', messages }),
      }),
    )
    const { choices } = Answer.parse(await response.json())
    messages.push(choices[0].message, question(turn + 1))
  }
  return trial.turns
}

describe('a session in exact tokens', () => {
  it('has the same record natively and through the proxy, one sequence of the drawn tokens (HAR-68, HAR-75, HAR-77)', async () => {
    const [own, seen] = [await native(20, client()), await proxied(20, client())]
    expect(seen.map(({ tokens }) => tokens)).toEqual(own.map(({ tokens }) => tokens))
    const { sequences, drift } = mergeTurns(seen)
    expect([sequences.length, drift]).toEqual([1, []])
    const { tokens, mask } = sequences[0] ?? { tokens: new Int32Array(), mask: new Uint8Array() }
    const trained = [...tokens].filter((_, at) => mask[at] === 1)
    expect(trained).toEqual(own.flatMap((turn) => [...(turn.tokens?.completion ?? [])]))
    // Made into tokens again, the text would be other ids.
    expect(trained.filter((token) => token !== end).every((token) => token >= 128)).toBe(true)
  })

  it('puts in the end of an answer that was cut, and does not train on it (HAR-69)', async () => {
    const turns = await native(3, client(undefined, 3))
    const { sequences, drift } = mergeTurns(turns)
    expect([sequences.length, drift]).toEqual([1, []])
    const { tokens, mask } = sequences[0] ?? { tokens: new Int32Array(), mask: new Uint8Array() }
    const ends = [...tokens.keys()].filter((at) => tokens[at] === end)
    expect(ends.length).toBeGreaterThanOrEqual(5) // of three questions and two answers
    expect(ends.some((at) => mask[at] === 1)).toBe(false)
  })

  it('records which weights drew each answer (HAR-73)', async () => {
    const turns = await native(3, client())
    expect(turns.map(({ tokens }) => tokens?.policyVersion)).toEqual([0, 1, 2])
  })

  it('renders whole where the template cannot be split, and the drift is counted (HAR-67)', async () => {
    const plain = openPlainChat(ambiguous)
    const stubborn: OpenRenderer = {
      ...plain,
      conversation: () => {
        throw new Error('cannot be split')
      },
    }
    const { sequences, drift, breaks } = mergeTurns(await native(3, client(stubborn)))
    expect(sequences).toHaveLength(3)
    expect(drift).toHaveLength(2)
    expect(breaks.every(({ reason }) => reason === 'retokenized')).toBe(true)
  })

  it('leaves a client without a sampler as it is (HAR-77)', () => {
    const { generate } = client()
    const plain = { generate }
    expect(withTokenSession(plain)).toBe(plain)
  })
})
