import * as z from 'zod'
import { defineVerifier } from '../../kernel/index.ts'

/** The answer has the wanted blocks, whatever is in them. */
export const formatOnly = defineVerifier({
  kind: 'format_only',
  summary: 'Rewards the form of an answer alone: a <think> block and an <answer> block.',
  params: z.strictObject({
    has_think_reward: z.number().default(0.5).describe('Reward for a <think>...</think> block.'),
    has_answer_reward: z.number().default(0.5).describe('Reward for an <answer>...</answer> block.'),
  }),
  verify({ output }, { params }) {
    const think = hasBlock(output, 'think')
    const answer = hasBlock(output, 'answer')
    return {
      reward: (think ? params.has_think_reward : 0) + (answer ? params.has_answer_reward : 0),
      info: { think, answer },
    }
  },
})

// Plain search: a pattern such as <think>.*?</think> takes quadratic time on an answer of many opening tags.
function hasBlock(text: string, tag: string): boolean {
  const start = text.indexOf(`<${tag}>`)
  return start !== -1 && text.indexOf(`</${tag}>`, start) !== -1
}
