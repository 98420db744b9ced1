// What counting words reaches, as models that answer the same benchmark: a trained model should do better than these.
import { readFile } from 'node:fs/promises'
import { defineInferenceClient, type GenerateRequest, z } from 'evsys/plugin'

const params = z.strictObject({
  path: z.string().min(1).describe('The log to learn from, relative to the experiment file.'),
})

interface Example {
  readonly words: readonly string[]
  readonly tool: string
}

export const bagOfWords = defineInferenceClient({
  kind: 'bag_of_words',
  summary: 'Logistic regression over the words of a request, whatever their order.',
  params,
  async open({ params }) {
    const classify = fitLogistic(await readLog(params.path))
    return { generate: async (request) => answer(classify(wordsOf(question(request)))) }
  },
})

export const nearestNeighbour = defineInferenceClient({
  kind: 'nearest_neighbour',
  summary: 'The tool of the logged request whose words are most like these, rare words counting more.',
  params,
  async open({ params }) {
    const examples = await readLog(params.path)
    const weigh = rarity(examples)
    const known = examples.map(({ words, tool }) => ({ vector: vectorOf(words, weigh), tool }))
    return {
      async generate(request) {
        const vector = vectorOf(wordsOf(question(request)), weigh)
        return answer(best(known, (each) => dot(vector, each.vector)).tool)
      },
    }
  },
})

async function readLog(path: string): Promise<Example[]> {
  const lines = (await readFile(path, 'utf8')).trim().split('\n')
  return lines.map((line) => {
    const { query, tool_slug } = z.object({ query: z.string(), tool_slug: z.string() }).parse(JSON.parse(line))
    return { words: wordsOf(query), tool: tool_slug }
  })
}

function question({ messages }: GenerateRequest): string {
  const content = messages.at(-1)?.content
  return typeof content === 'string' ? content.replace(/^Query: /, '') : ''
}

function answer(tool: string) {
  const usage = { promptTokens: 0, completionTokens: 0, latencyS: 0, costUsd: 0 }
  return { text: `<answer>${tool}</answer>`, usage, stopReason: 'stop' as const }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

const EPOCHS = 30
const RATE = 0.1

// Plain stochastic gradient, in the order of the log: the same log gives the same weights.
function fitLogistic(examples: readonly Example[]): (words: readonly string[]) => string {
  const tools = [...new Set(examples.map(({ tool }) => tool))]
  const weights = tools.map((tool) => ({ tool, bias: 0, of: new Map<string, number>() }))
  const scores = (words: ReadonlySet<string>) =>
    weights.map(({ bias, of }) => [...words].reduce((sum, word) => sum + (of.get(word) ?? 0), bias))
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const { words, tool } of examples) {
      const seen = new Set(words)
      const shares = softmax(scores(seen))
      for (const [index, each] of weights.entries()) {
        const change = RATE * ((each.tool === tool ? 1 : 0) - (shares[index] ?? 0))
        each.bias += change
        for (const word of seen) each.of.set(word, (each.of.get(word) ?? 0) + change)
      }
    }
  }
  return (words) => {
    const values = scores(new Set(words))
    return best(
      weights.map(({ tool }, index) => ({ tool, value: values[index] ?? 0 })),
      ({ value }) => value,
    ).tool
  }
}

function softmax(values: readonly number[]): number[] {
  const highest = Math.max(...values)
  const powers = values.map((value) => Math.exp(value - highest))
  const sum = powers.reduce((total, power) => total + power, 0)
  return powers.map((power) => power / sum)
}

function rarity(examples: readonly Example[]): (word: string) => number {
  const counts = new Map<string, number>()
  for (const { words } of examples) for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return (word) => Math.log((1 + examples.length) / (1 + (counts.get(word) ?? 0)))
}

function vectorOf(words: readonly string[], weigh: (word: string) => number): Map<string, number> {
  const vector = new Map<string, number>()
  for (const word of words) vector.set(word, (vector.get(word) ?? 0) + weigh(word))
  const length = Math.hypot(...vector.values()) || 1
  return new Map([...vector].map(([word, value]) => [word, value / length]))
}

function dot(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const [word, value] of a) sum += value * (b.get(word) ?? 0)
  return sum
}

function best<T>(items: readonly T[], scoreOf: (item: T) => number): T {
  const [first, ...rest] = items
  if (first === undefined) throw new Error('the log is empty')
  return rest.reduce((leader, item) => (scoreOf(item) > scoreOf(leader) ? item : leader), first)
}

export default [bagOfWords, nearestNeighbour]
