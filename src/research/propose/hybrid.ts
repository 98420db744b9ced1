import * as z from 'zod'
import type { Brief, Proposal } from '../../contracts/index.ts'
import { defineProposer, messageOf } from '../../kernel/index.ts'
import { knobsAt } from '../surrogate/knob-space.ts'
import { cell } from '../surrogate/linear-algebra.ts'
import { figure } from './brief/brief-sections.ts'
import { innerProposers, proposeWith } from './inner-proposer.ts'
import { usageOfError } from './ledger/proposal-usage.ts'
import { type KnobModel, openKnobModel } from './optimizer/knob-model.ts'
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
 * The optimiser on every turn; on some, a model whose brief says what the optimiser believes. On the task of karpathy/autoresearch this
 * was better than either alone, and a larger share of the model was worse (arXiv 2603.24647).
 */
export const hybrid = defineProposer({
  kind: 'hybrid',
  summary: 'The optimizer on every turn and a model on three of ten, which sees what the optimizer believes.',
  params,
  needs: { network: true, secrets: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'] },
  async propose(brief, context) {
    const { share, warm_up, llm } = context.params
    const model = openKnobModel(brief)
    const own = (): Proposal =>
      model === undefined
        ? { ideas: [] }
        : proposeKnobs(brief, { params: context.params.optimizer, random: context.random })
    const drawn = context.random('hybrid', brief.state.attempts.length).float()
    if (!isModelsTurn(brief, model !== undefined, warm_up, drawn < share)) return own()
    const informed =
      model === undefined
        ? brief
        : { ...brief, text: `${brief.text}\n\n## What the optimiser believes\n${describeBelief(model)}` }
    try {
      const { ideas, usage } = await proposeWith(llm, informed, context)
      const more = brief.repair === undefined ? own().ideas : []
      return { ideas: [...ideas, ...more], usage }
    } catch (error) {
      // A model that cannot be reached costs its turn, not the session; without knobs there is no one else to ask.
      if (context.signal.aborted || model === undefined || brief.repair !== undefined) throw error
      context.log('warn', `the model gave no ideas, the optimizer continues alone: ${messageOf(error)}`)
      return { ...own(), usage: usageOfError(error) }
    }
  },
})

// Knobs are repaired by the optimiser, code by the model.
function isModelsTurn({ repair, state }: Brief, hasKnobs: boolean, warmUp: number, isDrawn: boolean): boolean {
  if (!hasKnobs) return true
  if (repair !== undefined) return repair.idea.change.kind !== 'knobs'
  return isDrawn && state.attempts.filter(({ number }) => number > 0).length >= warmUp
}

// What the optimiser believes, in words: for a model that shares its turns.
const mostLines = 12

/** A few lines; the same model gives the same text. */
function describeBelief(model: KnobModel): string {
  const { dimensions, base, surrogate, observed } = model
  if (observed.length < 2) return 'The optimiser has seen too little to believe anything yet.'
  const here = surrogate.predict(base).mean
  const effects = dimensions
    .map((dimension, i) => {
      const places =
        dimension.kind === 'line' ? [0, 0.25, 0.5, 0.75, 1] : Array.from({ length: dimension.levels ?? 1 }, (_, k) => k)
      const tried = places.map((place) => {
        const point = base.map((value, k) => (k === i ? place : value))
        const { mean, sd } = surrogate.predict(point)
        return { place, gain: here - mean, sd }
      })
      const best = tried.reduce((a, b) => (b.gain > a.gain ? b : a))
      const value = knobsAt([dimension], [best.place])[dimension.name]
      return { name: dimension.name, ...best, value }
    })
    .sort((a, b) => b.gain - a.gain || (a.name < b.name ? -1 : 1))
    .slice(0, mostLines)
    .map(
      ({ name, gain, sd, value }) =>
        `${name}: best near ${String(value)}, gain ${figure(gain)} give or take ${figure(sd)}`,
    )
  const ranOut = model.observations.filter(({ failure }) => failure === 'oom').length
  const border = ranOut === 0 ? [] : [`${ranOut} candidates ran out of memory; larger sizes than theirs are not tried.`]
  return ['One knob at a time, from the base:', ...effects, ...shapeLines(model), ...border].join('\n')
}

function shapeLines({ dimensions, cma }: KnobModel): string[] {
  if (cma === undefined || cma.generations === 0) return []
  const lines = dimensions.filter(({ kind }) => kind === 'line')
  const mean = Object.entries(knobsAt(lines, cma.mean)).map(([name, value]) => `${name}=${String(value)}`)
  const pair = strongestPair(
    cma.covariance,
    lines.map(({ name }) => name),
  )
  return [
    `CMA-ES after ${cma.generations} generations: mean ${mean.slice(0, mostLines).join(' ')}; step ${figure(cma.step)} of the range; ${pair}`,
  ]
}

function strongestPair(covariance: number[][], names: readonly string[]): string {
  let best = { a: 0, b: 0, value: 0 }
  for (let a = 0; a < names.length; a++)
    for (let b = 0; b < a; b++) {
      const scale = Math.sqrt(cell(covariance, a, a) * cell(covariance, b, b))
      const value = scale > 0 ? cell(covariance, a, b) / scale : 0
      if (Math.abs(value) > Math.abs(best.value)) best = { a, b, value }
    }
  if (best.value === 0) return 'no two knobs go together'
  return `${names[best.b]} and ${names[best.a]} go together by ${figure(best.value)}`
}
