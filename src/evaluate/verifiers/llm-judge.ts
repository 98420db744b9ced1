import * as z from 'zod'
import { PluginSpec } from '../../contracts/index.ts'
import { defineVerifier } from '../../kernel/index.ts'
import { judgePrompt, readVerdict } from '../judge/judge-prompt.ts'

/** A model judges the answer by a rubric. */
export const llmJudge = defineVerifier({
  kind: 'llm_judge',
  summary: 'A model judges the answer, quoted as data, by a rubric; the same question is asked once.',
  params: z.strictObject({
    model: z
      .union([z.string().min(1), PluginSpec])
      .describe(
        'The judge: a name such as claude-sonnet-4-6, or a client: { kind: openai_compatible, params: {...} }.',
      ),
    rubric: z.string().min(1).describe('The rules of judgement.'),
    scale: z.enum(['pass_fail', 'score']).default('pass_fail').describe('A verdict, or a number from 0 to 1.'),
    max_tokens: z.int().min(16).default(512).describe('Longest verdict.'),
  }),
  needs: { network: true },
  async verify({ output, expected, task }, { params, model, signal }) {
    if (model === undefined) throw new Error('llm_judge is at hand in a benchmark alone')
    const { rubric, scale, max_tokens } = params
    const judge = await model(params.model)
    const messages = judgePrompt({ rubric, scale, instruction: task?.instruction, reference: expected, answer: output })
    const verdict = await judge.generate({ messages, maxTokens: max_tokens, temperature: 0, seed: 0 }, signal)
    const read = verdict.stopReason === 'refused' ? undefined : readVerdict(verdict.text, scale)
    if (read !== undefined) return { reward: read.reward, info: { reason: read.reason } }
    // Not the answer's fault, as far as anyone can tell: it has no reward, and the score has bounds.
    throw new Error(
      verdict.stopReason === 'refused'
        ? 'the judge refused to judge'
        : 'the judge gave no verdict in the form that was asked for',
    )
  },
})
