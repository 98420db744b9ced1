// Attacks through the answers that a candidate gives to the scorer.
import { type Attack, byModel, node } from './attack.ts'

export const answerAttacks: readonly Attack[] = [
  {
    name: 'answers before it is asked',
    ends: 'tamper',
    files: () =>
      node({
        answer: `for (let i = 0; i < 3; i++) console.log('@evsys ' + JSON.stringify({ id: String(i), answer: [0] })); ${byModel}`,
      }),
  },
  {
    name: 'answers a question twice',
    ends: 'tamper',
    files: () =>
      node({
        answer: `const { createInterface } = await import('node:readline')
for await (const line of createInterface({ input: process.stdin })) {
  const { id, question } = JSON.parse(line)
  for (const answer of [question.map(predict), question.map(() => 0)]) console.log('@evsys ' + JSON.stringify({ id, answer }))
}`,
      }),
  },
  {
    name: 'answers with a line that never ends',
    ends: 'validation',
    files: () =>
      node({
        answer: `process.stdout.write('@evsys {"id":"'); const chunk = 'x'.repeat(1 << 20); for (;;) await new Promise((done) => process.stdout.write(chunk, done))`,
      }),
  },
  {
    name: 'answers no JSON',
    ends: 'validation',
    files: () => node({ answer: `console.log('@evsys {"id": zero}'); ${byModel}` }),
  },
  {
    name: 'answers without an id',
    ends: 'validation',
    files: () => node({ answer: `console.log('@evsys {"answer": [0]}'); ${byModel}` }),
  },
  {
    name: 'answers too few',
    ends: 'validation',
    files: () => node({ answer: `await api.onAnswer((question) => question.slice(1).map(predict))` }),
  },
  {
    name: 'answers with text',
    ends: 'validation',
    files: () => node({ answer: `await api.onAnswer((question) => question.map(() => '0'))` }),
  },
  {
    name: 'answers with an object that changes all others',
    ends: 'validation',
    files: () =>
      node({
        answer: `const { createInterface } = await import('node:readline')
for await (const line of createInterface({ input: process.stdin }))
  console.log('@evsys {"id":"' + JSON.parse(line).id + '","answer":{"__proto__":{"value":0,"length":50},"constructor":{"prototype":{"y":0}}}}')`,
      }),
  },
  {
    name: 'answers NaN',
    ends: 'divergence',
    language: 'python',
    files: () => ({
      'train.py': `import api\nif api.phase == "answer":\n    api.on_answer(lambda question: [float("nan")] * len(question))\n`,
    }),
  },
  {
    name: 'answers with infinities',
    ends: 'divergence',
    files: () => node({ answer: `await api.onAnswer((question) => question.map(() => Number.MAX_VALUE))` }),
  },
  { name: 'answers nothing and ends', ends: 'crash', files: () => node({ answer: `process.exit(0)` }) },
  {
    name: 'answers nothing and waits',
    ends: 'timeout',
    files: () => node({ answer: `await new Promise(() => setInterval(() => {}, 1e6))` }),
  },
  { name: 'does not train at all', ends: 'crash', files: () => node({ train: `process.exit(0)` }) },
]
