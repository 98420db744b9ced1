// An agent of one's own: it asks, lets a tool look at the answer, and asks again while the tool says no. Whatever model is trained or
// compared answers through `policy`; every call becomes a turn of the record by itself.
import { defineAgent, z } from 'evsys/plugin'
import { checkNumber } from '../check-number.ts'

export const askAgain = defineAgent({
  kind: 'ask_again',
  summary: 'Asks until a tool accepts the answer.',
  params: z.strictObject({
    max_turns: z.int().min(1).default(8).describe('Most answers in one attempt.'),
  }),
  async run({ task, policy, sampling, maxTurns, random, signal }) {
    let answer = ''
    for (let turn = 0; turn < maxTurns; turn++) {
      const messages = [{ role: 'user' as const, content: task.instruction }]
      const given = await policy.generate({ messages, ...sampling, seed: random('turn', turn).int(2 ** 32) }, signal)
      answer = given.text
      if (checkNumber(task.instruction, answer)) break
    }
    return { output: answer }
  },
})
