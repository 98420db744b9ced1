// The agent: the model may write `CALC 312 - 58`, gets the result, and continues. The model in training or scoring answers through `policy`;
// every call becomes a turn of the record with its exact tokens, so that a recipe trains the very words that were drawn here.
import { type ChatMessage, defineAgent, z } from 'evsys/plugin'
import { calculate } from '../calculate.ts'

export const withCalculator = defineAgent({
  kind: 'with_calculator',
  summary:
    'A conversation in which the model may use a calculator: a line `CALC 312 - 58` is answered with the result.',
  params: z.strictObject({
    max_turns: z.int().min(1).default(3).describe('Most answers in one attempt.'),
  }),
  async run({ task, policy, sampling, random, signal }) {
    const messages: ChatMessage[] = [{ role: 'user', content: task.instruction }]
    for (let turn = 0; ; turn++) {
      const answer = await policy.generate({ messages, ...sampling, seed: random('turn', turn).int(2 ** 32) }, signal)
      const expression = /^CALC (.*)$/m.exec(answer.text)?.[1]
      if (expression === undefined) return { output: answer.text }
      // A call that cannot be read is answered with an error, as any tool would.
      const result = calculate(expression) ?? 'error'
      messages.push({ role: 'assistant', content: answer.text }, { role: 'tool', content: String(result) })
    }
  },
})
