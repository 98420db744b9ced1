// A search for the system prompt that validation likes best: it proposes, scores and keeps. No weight moves: what is found is words.
// Candidates are scored on the validation benchmark of the objective alone, and the best one speaks when the other benchmarks are scored
// at the end. Without a model that proposes, an optimiser combines what is given: it climbs from the best prompt so far.
import * as z from 'zod'
import { pluginReference, type TrainContext } from '../contracts/index.ts'
import { defineAlgorithm } from '../kernel/index.ts'
import { count, nonEmpty, sharedParams, wholeNumber } from './params/shared-params.ts'

const Example = z.strictObject({ input: nonEmpty.describe('A question.'), output: nonEmpty.describe('Its answer.') })

/** Prompts that a search tries where no number is given. */
const usualBudget = 16

const params = z
  .strictObject({
    ...sharedParams,
    max_steps: count
      .optional()
      .describe(`Most prompts that are tried; absent: all candidates, and where it searches on ${usualBudget}.`),
    candidates: z
      .array(z.string())
      .default([])
      .describe('System prompts to try first, in order; an empty one is none.'),
    include_none: z.boolean().default(true).describe('Also tries no system prompt at all, first.'),
    instructions: z.array(nonEmpty).default([]).describe('Sentences that the optimiser combines, in this order.'),
    examples: z.array(Example).default([]).describe('Questions with their answers, which the optimiser chooses from.'),
    max_examples: wholeNumber.default(4).describe('Most examples in one prompt.'),
    templates: z
      .array(nonEmpty)
      .min(1)
      .default(['{instructions}\n\n{examples}'])
      .describe('How a prompt is put together: `{instructions}` and `{examples}` are replaced.'),
    proposer: z
      .strictObject({
        client: z
          .union([nonEmpty, pluginReference('inference_client')])
          .describe('The model: by name, as claude-sonnet-4-6, or by its client as { kind, params }.'),
        about: z.string().default('').describe('What the task is, in words for the model.'),
        temperature: z.number().min(0).max(2).default(1).describe('Of its proposals.'),
        max_tokens: count.default(1024).describe('Longest proposal.'),
      })
      .optional()
      .describe(
        'A model that writes further prompts, from those that were tried and their scores; absent: the optimiser.',
      ),
  })
  .refine((given) => given.candidates.length > 0 || searches(given), {
    path: ['candidates'],
    error: 'nothing to try: give candidates, instructions, examples or a proposer',
  })
type Params = z.output<typeof params>
type Search = TrainContext<Params>

interface Material {
  readonly instructions: readonly unknown[]
  readonly examples: readonly unknown[]
  readonly proposer?: unknown
}

function searches({ instructions, examples, proposer }: Material): boolean {
  return instructions.length + examples.length > 0 || proposer !== undefined
}

/** A prompt in parts, so that it can be changed in one of them. */
interface Parts {
  /** One of the candidates. Absent: a template, filled. */
  readonly text?: string | undefined
  readonly template: number
  readonly instructions: readonly number[]
  readonly examples: readonly number[]
}

interface Trial {
  readonly step: number
  readonly prompt: string
  readonly by: 'given' | 'optimiser' | 'proposer'
  readonly score: number
  readonly kept: boolean
}

interface Proposal extends Pick<Trial, 'prompt' | 'by'> {
  readonly parts?: Parts | undefined
}

/** Searches for a system prompt, by optimiser or model. */
export const promptSearch = defineAlgorithm({
  kind: 'prompt_search',
  summary: 'Searches the system prompt that scores best on validation, by optimiser or LLM; trains nothing.',
  params,
  takesRows: false,
  async train(context: Search) {
    const { runId, params: given, prompts, log } = context
    const trials: Trial[] = []
    let best: (Proposal & { score: number }) | undefined
    const first = firstProposals(given)
    const budget = given.max_steps ?? (searches(given) ? Math.max(first.length, usualBudget) : first.length)
    for (let step = 0; step < budget; step++) {
      const proposal = first[step] ?? (await propose(context, trials, best))
      if (proposal === undefined) {
        log('info', `nothing is left to try after ${step} prompts`)
        break
      }
      const { score, isBest, stop } = await prompts.validate(step, proposal.prompt)
      trials.push({ step, prompt: proposal.prompt, by: proposal.by, score, kept: isBest })
      log('info', `prompt ${step + 1} of ${budget}, ${proposal.by}: ${score}${isBest ? ', kept' : ''}`)
      if (isBest) best = { ...proposal, score }
      if (stop !== undefined) break
    }
    if (best === undefined) throw new Error('no prompt has a score on validation')
    prompts.use(best.prompt)
    return {
      run_id: runId,
      status: 'completed' as const,
      metrics: { 'prompt/candidates': trials.length, 'prompt/best_score': best.score },
      artifacts: [
        { name: 'system_prompt', kind: 'prompt', ref: best.prompt },
        { name: 'prompt_trials', kind: 'json', ref: JSON.stringify(trials) },
      ],
    }
  },
})

// What is given, each once: nothing, the candidates, and everything together.
function firstProposals(given: Params): Proposal[] {
  const texts = [...(given.include_none ? [''] : []), ...given.candidates]
  const whole: Parts = {
    template: 0,
    instructions: given.instructions.map((_, i) => i),
    examples: given.examples.slice(0, given.max_examples).map((_, i) => i),
  }
  const isCombined = given.instructions.length + given.examples.length > 0
  const parts: Parts[] = [
    ...texts.map((text) => ({ text, template: 0, instructions: [], examples: [] })),
    ...(isCombined ? [whole] : []),
  ]
  const all = parts.map((each): Proposal => ({ prompt: textOf(each, given), by: 'given', parts: each }))
  return [...new Map(all.toReversed().map((each) => [each.prompt, each])).values()].toReversed()
}

async function propose(
  context: Search,
  trials: readonly Trial[],
  best: Proposal | undefined,
): Promise<Proposal | undefined> {
  return context.params.proposer === undefined ? climb(context, trials, best) : await ask(context, trials)
}

/** Changes that are made at once where fewer lead nowhere new, and prompts that are looked at for that. */
const mostChanges = 3
const mostNeighbours = 2_000

/** A prompt that was not tried, as near to the best one as there is. */
function climb({ params: given, random }: Search, trials: readonly Trial[], best: Proposal | undefined) {
  const tried = new Set(trials.map(({ prompt }) => prompt))
  let ring: Parts[] = [best?.parts ?? { template: 0, instructions: [], examples: [] }]
  for (let changes = 1; changes <= mostChanges; changes++) {
    ring = ring.flatMap((each) => neighbours(each, given)).slice(0, mostNeighbours)
    for (const parts of random('prompt search', trials.length, changes).shuffle(ring)) {
      const prompt = textOf(parts, given)
      if (!tried.has(prompt)) return { prompt, by: 'optimiser' as const, parts }
    }
  }
  return undefined
}

/** All prompts that differ in one part. */
function neighbours({ text, template, instructions, examples }: Parts, given: Params): Parts[] {
  const from = { template, instructions, examples }
  const toggled = (list: readonly number[], i: number) =>
    list.includes(i) ? list.filter((each) => each !== i) : [...list, i].sort((a, b) => a - b)
  const flips = given.instructions.map((_, i) => ({ ...from, text, instructions: toggled(instructions, i) }))
  const others = given.examples.flatMap((_, i): Parts[] => {
    const next = toggled(examples, i)
    if (next.length <= given.max_examples) return [{ ...from, text, examples: next }]
    return examples.map((out) => ({ ...from, text, examples: toggled(next, out) })) // it takes the place of another
  })
  const templates = given.templates.flatMap((_, i) => (i === template ? [] : [{ ...from, text, template: i }]))
  const starts = [undefined, ...given.candidates].filter((each) => each !== text)
  return [...flips, ...others, ...templates, ...starts.map((each) => ({ ...from, text: each }))]
}

function textOf({ text, template, instructions, examples }: Parts, given: Params): string {
  const sentences = instructions.flatMap((i) => given.instructions[i] ?? []).join('\n')
  const shown = examples
    .flatMap((i) => given.examples[i] ?? [])
    .map(({ input, output }) => `Input: ${input}\nOutput: ${output}`)
    .join('\n\n')
  const isEmpty = sentences === '' && shown === ''
  const filled = isEmpty
    ? ''
    : (given.templates[template] ?? '').replaceAll(/\{(instructions|examples)\}/g, (_, name) =>
        name === 'examples' ? shown : sentences,
      )
  return [text ?? '', filled.trim()].filter((each) => each !== '').join('\n\n')
}

/** Prompts with their scores that the model sees, the best ones. */
const shownTrials = 10
/** How often it is asked again for a prompt that was not tried. */
const attempts = 3

async function ask({ params: given, others, random, signal }: Search, trials: readonly Trial[]) {
  const { proposer } = given
  if (proposer === undefined) return undefined
  const model = await others.client(proposer.client)
  const known = trials.toSorted((a, b) => b.score - a.score).slice(0, shownTrials)
  const history = known.map(({ prompt, score }) => `Score ${score}:\n${prompt === '' ? '(no system prompt)' : prompt}`)
  const content = [
    'Write a better system prompt for a language model. Prompts that were tried, with their scores on validation:',
    ...history,
    ...(proposer.about === '' ? [] : [`The task: ${proposer.about}`]),
    ...(given.instructions.length === 0 ? [] : [`Instructions that may help:\n${given.instructions.join('\n')}`]),
    'Reply with the new system prompt alone.',
  ].join('\n\n')
  const { max_tokens: maxTokens, temperature } = proposer
  for (let attempt = 0; attempt < attempts; attempt++) {
    const seed = random('proposer', trials.length, attempt).int(2 ** 31)
    const { text } = await model.generate(
      { messages: [{ role: 'user', content }], maxTokens, temperature, seed },
      signal,
    )
    const prompt = text.trim()
    if (prompt !== '' && !trials.some((each) => each.prompt === prompt)) return { prompt, by: 'proposer' as const }
  }
  return undefined
}
