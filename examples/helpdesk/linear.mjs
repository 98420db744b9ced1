// Answers of a bag of words to the tickets of both benchmarks: multinomial logistic regression over the words of a ticket, fitted on
// data/tickets.csv. Writes data/linear.csv, one line per task: what any other program would hand in.
//   node linear.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** @typedef {{ ticket: string, text: string, desk: string }} Ticket */

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`data/${name}`, import.meta.url))

/** The answers as CSV. */
export function answers() {
  const classify = trained(read('tickets.csv'))
  const asked = [...read('val.csv'), ...read('april.csv')]
  return `task_id,answer\n${asked.map(({ ticket, text }) => `${ticket},${classify(text)}\n`).join('')}`
}

/** @type {(tickets: Ticket[]) => (text: string) => string} */
function trained(tickets) {
  const [epochs, rate] = [30, 0.1]
  const desks = [...new Set(tickets.map(({ desk }) => desk))]
  const weights = desks.map(() => /** @type {Map<string, number>} */ (new Map()))
  const scores = (/** @type {Set<string>} */ words) =>
    weights.map((of) => [...words].reduce((sum, word) => sum + (of.get(word) ?? 0), 0))
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const { text, desk } of tickets) {
      const words = wordsOf(text)
      const odds = scores(words).map(Math.exp)
      const sum = odds.reduce((total, each) => total + each, 0)
      for (const [index, of] of weights.entries()) {
        const change = rate * ((desks[index] === desk ? 1 : 0) - (odds[index] ?? 0) / sum)
        for (const word of words) of.set(word, (of.get(word) ?? 0) + change)
      }
    }
  }
  return (text) => {
    const values = scores(wordsOf(text))
    return desks[values.indexOf(Math.max(...values))] ?? ''
  }
}

/** @type {(text: string) => Set<string>} */
function wordsOf(text) {
  return new Set(['', ...(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])])
}

/** @type {(name: string) => Ticket[]} */
function read(name) {
  const [, ...rows] = readFileSync(path(name), 'utf8').trim().split('\n')
  return rows.map((row) => {
    const [, ticket = '', , quoted, plain = '', desk = ''] =
      /^([^,]*),([^,]*),(?:"(.*)"|([^,]*)),([^,]*)$/.exec(row) ?? []
    return { ticket, text: (quoted ?? plain).replaceAll('""', '"'), desk }
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(path('linear.csv'), answers())
