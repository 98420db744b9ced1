// What counting words reaches on the same test: a trained model should do better than these.
//   node compare.mjs
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @typedef {{ words: string[], tool: string }} Example */
/** @typedef {(words: string[]) => string} Classifier */

const folder = join(dirname(fileURLToPath(import.meta.url)), 'data')
const train = lines('train.jsonl').map(({ query, tool_slug }) => ({ words: wordsOf(query), tool: tool_slug }))
const tasks = lines('test/tasks.jsonl').map(({ instruction, metadata }) => ({
  words: wordsOf(instruction.replace(/^Query: /, '')),
  tool: metadata.tool,
}))
process.stdout.write(`test.pass@1 on ${tasks.length} tasks
bag of words       ${share(fitLogistic(train)).toFixed(4)}
nearest neighbour  ${share(fitNearest(train)).toFixed(4)}
`)

/** @type {(classify: Classifier) => number} */
function share(classify) {
  return tasks.filter(({ words, tool }) => classify(words) === tool).length / tasks.length
}

/**
 * Logistic regression over the words of a request, whatever their order, in the order of the log.
 * @type {(examples: Example[]) => Classifier}
 */
function fitLogistic(examples) {
  const [epochs, rate] = [30, 0.1]
  const weights = [...new Set(examples.map(({ tool }) => tool))].map((tool) => ({
    tool,
    bias: 0,
    of: /** @type {Map<string, number>} */ (new Map()),
  }))
  const scores = (/** @type {Set<string>} */ words) =>
    weights.map(({ bias, of }) => [...words].reduce((sum, word) => sum + (of.get(word) ?? 0), bias))
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const { words, tool } of examples) {
      const seen = new Set(words)
      const values = scores(seen)
      const highest = Math.max(...values)
      const sum = values.reduce((total, value) => total + Math.exp(value - highest), 0)
      for (const [index, each] of weights.entries()) {
        const likely = Math.exp((values[index] ?? 0) - highest) / sum
        const change = rate * ((each.tool === tool ? 1 : 0) - likely)
        each.bias += change
        for (const word of seen) each.of.set(word, (each.of.get(word) ?? 0) + change)
      }
    }
  }
  return (words) => {
    const values = scores(new Set(words))
    return weights[values.indexOf(Math.max(...values))]?.tool ?? ''
  }
}

/**
 * The tool of the logged request whose words are most like these, rare words counting more.
 * @type {(examples: Example[]) => Classifier}
 */
function fitNearest(examples) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const { words } of examples) for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const vectorOf = (/** @type {string[]} */ words) => {
    /** @type {Map<string, number>} */
    const vector = new Map()
    for (const word of words) {
      vector.set(word, (vector.get(word) ?? 0) + Math.log((1 + examples.length) / (1 + (counts.get(word) ?? 0))))
    }
    const length = Math.hypot(...vector.values()) || 1
    return new Map([...vector].map(([word, value]) => [word, value / length]))
  }
  const known = examples.map(({ words, tool }) => ({ vector: vectorOf(words), tool }))
  return (words) => {
    const vector = vectorOf(words)
    const likeness = known.map((each) =>
      [...vector].reduce((sum, [word, value]) => sum + value * (each.vector.get(word) ?? 0), 0),
    )
    return known[likeness.indexOf(likeness.reduce((most, value) => Math.max(most, value), 0))]?.tool ?? ''
  }
}

/** @type {(text: string) => string[]} */
function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** @type {(name: string) => any[]} */
function lines(name) {
  const text = readFileSync(join(folder, name), 'utf8').trim()
  return text.split('\n').map((line) => JSON.parse(line))
}
