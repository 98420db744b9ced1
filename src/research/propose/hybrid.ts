import * as z from 'zod'
import type { Brief, Proposal } from '../../contracts/index.ts'
import { defineProposer, messageOf } from '../../kernel/index.ts'
import { innerProposers, proposeWith } from './inner-proposer.ts'
import { usageOfError } from './llm/proposal-error.ts'
import { describeBelief } from './optimizer/describe-belief.ts'
import { openKnobModel } from './optimizer/knob-model.ts'
import { optimizerParams, proposeKnobs } from './optimizer/optimizer.ts'

const params = z.strictObject({
  share: z.number().min(0).max(1).default(0.3).describe('Part of the turns on which the model is asked as well.'),
  warm_up: z.int().min(0).default(10).describe('Experiments before the model is asked for the first time.'),
  llm: z
    .strictObject({ kind: z.enum(innerProposers), params: z.record(z.string(), z.unknown()).default({}) })
    .default({ kind: 'anthropic', params: {} })
    .describe('The proposer with a model.'),
  optimizer: optimizerParams.prefault({}).describe('Params of the optimizer.'),
})

/**
 * The optimiser on every turn; on some, a model that is told what the optimiser believes. On the task of karpathy/autoresearch this
 * was better than either alone, and a larger share of the model was worse (arXiv 2603.24647).
 */
export const hybrid = defineProposer({
  kind: 'hybrid',
  summary: 'The optimizer on every turn and a model on three of ten, which is told what the optimizer believes.',
  params,
  needs: { network: true, secrets: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'] },
  async propose(brief, context) {
    const { share, warm_up, llm } = context.params
    const model = openKnobModel(brief)
    const own = (): Proposal =>
      model === undefined
        ? { ideas: [] }
        : proposeKnobs(brief, { params: context.params.optimizer, random: context.random })
    if (!isModelsTurn(brief, model !== undefined, { share, warmUp: warm_up, draw: draw(brief, context.random) }))
      return own()
    const told =
      model === undefined
        ? brief
        : { ...brief, text: `${brief.text}\n\n## What the optimiser believes\n${describeBelief(model)}` }
    try {
      const { ideas, usage } = await proposeWith(llm, told, context)
      const more = brief.repair === undefined ? own().ideas : []
      return { ideas: [...ideas, ...more], ...(usage === undefined ? {} : { usage }) }
    } catch (error) {
      // A model that cannot be reached costs its turn, not the session; without knobs there is nobody else to ask.
      if (context.signal.aborted || model === undefined || brief.repair !== undefined) throw error
      context.log('warn', `the model gave no ideas, the optimizer goes on alone: ${messageOf(error)}`)
      const usage = usageOfError(error)
      return { ...own(), ...(usage === undefined ? {} : { usage }) }
    }
  },
})

function draw({ state }: Brief, random: (...path: (string | number)[]) => { float(): number }): number {
  return random('hybrid', state.attempts.length).float()
}

// Knobs are repaired by whoever turned them, code by whoever wrote it.
function isModelsTurn(
  { repair, state }: Brief,
  hasKnobs: boolean,
  { share, warmUp, draw: drawn }: { share: number; warmUp: number; draw: number },
): boolean {
  if (!hasKnobs) return true
  if (repair !== undefined) return repair.idea.change.kind !== 'knobs'
  const done = state.attempts.filter(({ number }) => number > 0).length
  return done >= warmUp && drawn < share
}
