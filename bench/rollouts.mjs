// 200 rollouts at once of tasks in words, as a recipe makes them: agent, policy in tokens, verifier. The model answers from a script
// after a fixed time, so that what is left of the time is ours. Limit: 5 ms for each rollout.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openPlainChat, specialTokens, byteTokenizer as tokenizer } from '../build/backends/models/mock-models.js'
import { builtins } from '../build/builtins/index.js'
import { createRollouts } from '../build/runner/train/rollouts.js'
import { createRegistry, keyedRandom } from '../dist/kernel/index.js'
import { printTable } from './best-of.mjs'

const limitMs = 5
const concurrent = 200
const rounds = 8
const answerMs = 20

const folder = mkdtempSync(join(tmpdir(), 'evsys-bench-'))
const tools = join(folder, 'tools.mjs')
writeFileSync(
  tools,
  `import { defineTool, z } from 'evsys/plugin'
export const add = defineTool({ name: 'add', description: 'Adds.', params: z.strictObject({ a: z.number(), b: z.number() }), run: ({ a, b }) => a + b })`,
)

const renderer = openPlainChat(tokenizer)
const registry = createRegistry()
for (const plugin of await builtins()) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
const { signal } = new AbortController()
const call = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'

/** @param {(turn: number) => string} script */
const scopeOf = (script) => ({
  assignment: { config: { algorithm: { kind: 'rejection_sft', params: {} } } },
  services: {
    registry,
    signal,
    random: (/** @type {(string | number)[]} */ ...path) => keyedRandom(1, ...path),
    log: () => {},
    secret: () => '',
  },
  renderer,
  model: {
    backend: { maxContext: 100_000 },
    async sample(/** @type {{ prompt: Int32Array }} */ { prompt }) {
      await wait(answerMs)
      const turn = prompt.filter((token) => token === specialTokens['<|assistant|>']).length - 1
      const tokens = Int32Array.of(...tokenizer.encode(script(turn)), specialTokens['<|end|>'])
      return [{ tokens, logprobs: new Float64Array(tokens.length).fill(-1), stopReason: 'stop' }]
    },
  },
})

const cases = [
  { name: 'chat, 1 turn', turns: 1, agent: { kind: 'chat', params: {} }, script: () => 'yes' },
  {
    name: 'chat, 4 turns',
    turns: 4,
    agent: { kind: 'chat', params: { user_turns: ['a', 'b', 'c'] } },
    script: () => 'yes',
  },
  {
    ...{ name: 'tool_loop, 4 turns', turns: 4, agent: { kind: 'tool_loop', params: { tools: [`${tools}#add`] } } },
    script: (/** @type {number} */ turn) => (turn < 3 ? call : 'yes'),
  },
]

const rows = []
let worst = 0
for (const { name, turns, agent, script } of cases) {
  const scope = scopeOf(script)
  const times = []
  for (let round = 0; round <= rounds; round++) {
    // @ts-expect-error: a scope with all that a rollout asks for
    const { rollout } = createRollouts(scope, 0)
    const began = performance.now()
    const done = await Promise.all(
      Array.from({ length: concurrent }, (_, sample) =>
        rollout(
          {
            task: {
              ...{ task_id: `t${sample}`, instruction: 'Say yes.', metadata: {} },
              verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'yes', params: {} },
            },
            ...{ agent, policy: { weights: { baseModel: 'm' } }, seedPath: [round], sample },
            sampling: { maxTokens: 200, temperature: 1 },
          },
          signal,
        ),
      ),
    )
    const wallMs = performance.now() - began
    const failed = done.find(({ reward, turns: made }) => reward !== 1 || made.length !== turns)
    if (failed !== undefined) throw new Error(JSON.stringify(failed.error ?? failed))
    if (round > 0) times.push((wallMs - turns * answerMs) / concurrent) // the first round loads code
  }
  times.sort((a, b) => a - b)
  const median = times[Math.floor(times.length / 2)] ?? Number.NaN
  worst = Math.max(worst, median)
  rows.push([name, median.toFixed(2), (times.at(-1) ?? Number.NaN).toFixed(2), (median / limitMs).toFixed(2)])
}
rmSync(folder, { recursive: true, force: true })

console.log(`\n${concurrent} rollouts at once, ${rounds} rounds, Node ${process.versions.node}`)
printTable([['agent', 'median ms each', 'worst round ms each', `median, of the limit of ${limitMs} ms`], ...rows])
process.exitCode = worst <= limitMs ? 0 : 1
