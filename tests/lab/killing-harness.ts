/**
 * Plugins of a project whose run is killed: an agent of two turns, and a callback that plans the kills. Each attempt at the run takes
 * the next line of kills.json: the answer at which the controller and the worker are killed, or the step and the asynchronous
 * operation after its last answer. updates.txt tells how many operations that were in each step.
 */
export const killingHarness = `import { createHook } from 'node:async_hooks'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { defineAgent, defineCallback, z } from 'evsys/plugin'

const perStep = 12
const file = (name) => new URL('../../' + name, import.meta.url)
const lines = (name) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8').split('\\n').filter(Boolean) : [])
let answers = 0
let steps = 0
let operations = 0
let since = Number.NaN
let plan = {}

function die() {
  let controller = lines('controller.txt')[0]
  while (controller === undefined) controller = lines('controller.txt')[0]
  process.kill(-Number(controller), 'SIGKILL')
  process.kill(process.pid, 'SIGKILL')
}

const harness = defineAgent({
  kind: 'harness',
  summary: 'Asks twice.',
  params: z.strictObject({}),
  async run({ task, policy, sampling, random, signal }) {
    const ask = (content, seed) => policy.generate(
      { messages: [{ role: 'user', content }], ...sampling, seed: random('turn', seed).uint32() }, signal)
    const first = await ask(task.instruction, 0)
    const second = await ask(task.instruction + first.text, 1)
    if (task.task_id.startsWith('train-')) {
      answers += 1
      if (answers === plan.answer) die()
      if (answers % perStep === 0) since = operations
    }
    return { output: second.text }
  },
})

const killer = defineCallback({
  kind: 'killer',
  summary: 'Plans the kills.',
  params: z.strictObject({}),
  open: async () => ({
    onTrainStart() {
      const kills = existsSync(file('kills.json')) ? JSON.parse(readFileSync(file('kills.json'), 'utf8')) : []
      plan = kills[lines('attempts.txt').length] ?? {}
      appendFileSync(file('attempts.txt'), 'attempt\\n')
      createHook({
        init() {
          operations += 1
          if (steps === plan.step && operations - since === plan.operation) die()
        },
      }).enable()
    },
    onStepEnd() {
      steps += 1
      appendFileSync(file('updates.txt'), operations - since + '\\n')
      since = Number.NaN
    },
  }),
})

export default [harness, killer]
`
