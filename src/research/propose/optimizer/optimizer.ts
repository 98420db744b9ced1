import * as z from 'zod'
import type {
  Brief,
  Context,
  Idea,
  IdeaCategory,
  Knobs,
  KnobValue,
  Proposal,
  Random,
} from '../../../contracts/index.ts'
import { defineProposer, EvsysError } from '../../../kernel/index.ts'
import { attemptModel } from '../../surrogate/attempt-model.ts'
import { keyOf, type Point, pointOf, settled } from '../../surrogate/knob-space.ts'
import { promisingPoints } from '../../surrogate/promising-points.ts'
import { type KnobModel, openKnobModel } from './knob-model.ts'
import { distinct, mostRisk, type Suggestion, suggestPoints, turnedAt, withGain } from './suggest-points.ts'

export const optimizerParams = z.strictObject({
  method: z
    .enum(['auto', 'tpe', 'cma_es'])
    .default('auto')
    .describe('Who draws: both and a surrogate that chooses among their points, or one of them alone.'),
  most_ideas: z.int().min(1).max(100).default(24).describe('Ideas of one call, however many are asked for.'),
})
type OptimizerParams = z.infer<typeof optimizerParams>

/** Turns knobs, declared by the task or found in the code, by TPE and CMA-ES. Needs no model and no key. */
export const optimizer = defineProposer({
  kind: 'optimizer',
  summary: 'Turns knobs, declared or found in the code, by TPE and CMA-ES; needs no model and no key.',
  params: optimizerParams,
  async propose(brief, context) {
    return proposeKnobs(brief, context)
  },
})

/** The ideas of the optimiser. Equal briefs and draws give equal ideas. */
export function proposeKnobs(
  brief: Brief,
  { params, random }: Pick<Context<OptimizerParams>, 'params' | 'random'>,
): Proposal {
  const model = openKnobModel(brief)
  if (model === undefined) {
    throw new EvsysError('PLUGIN_FAILED', 'the optimizer finds no knob that it could turn', {
      fix: 'write literals as constants with names in capitals (LEARNING_RATE = 0.01), declare `knobs` in task.yaml, or use another proposer.',
    })
  }
  const { state } = brief
  const request = { ...brief.request, ideas: Math.min(brief.request.ideas, params.most_ideas) }
  const draws = random('optimizer', request.mode, state.attempts.length, request.parents.join(' '))
  const avoided = new Set([...state.banned, ...request.avoidFamilies])
  const suggestions =
    brief.repair === undefined ? suggestFor(model, { ...brief, request }, params, draws) : repaired(model, brief.repair)
  const ideas = suggestions.map((each) => ideaOf(model, brief, each))
  const welcome = ideas.filter(({ family }) => !avoided.has(family))
  return { ideas: (welcome.length > 0 || brief.repair !== undefined ? welcome : []).slice(0, request.ideas) }
}

function suggestFor(
  model: KnobModel,
  { request, state }: Brief,
  { method }: OptimizerParams,
  draws: Random,
): Suggestion[] {
  const count = Math.max(1, request.ideas)
  const own =
    request.mode === 'combine'
      ? crossed(model, request.parents[1], state, draws)
      : request.mode === 'ablate'
        ? undone(model, state)
        : promised(model, { request, state }, method, draws)
  const first = distinct(model, own).map((point) => withGain(model, point))
  if (first.length >= count) return first.slice(0, count)
  // Some may be of a family that is not wanted: then a few more than were asked for.
  const spare = Math.min(4, request.avoidFamilies.length + state.banned.length)
  const tried = new Set([...model.tried, ...first.map(({ point }) => keyOf(model.dimensions, point))])
  const taken = { ...model, tried }
  return [...first, ...suggestPoints(taken, { mode: request.mode, count: count - first.length + spare, method }, draws)]
}

/** Attempts before which a model of them says less than steps from what is known to run. */
const leastRemembered = 4

// The places from which the model that ranks ideas expects most: it reads choices, their values wherever they stand, and what a change of
// code did, and is asked for what it would choose of the whole space. They differ by more knobs than a step does.
function promised(
  model: KnobModel,
  { request, state }: Pick<Brief, 'request' | 'state'>,
  method: OptimizerParams['method'],
  draws: Random,
): Point[] {
  if ((state.rules ?? 1) < 2 || method !== 'auto' || state.attempts.length < leastRemembered) return []
  const { dimensions, tried } = model
  const space = Object.fromEntries(dimensions.map(({ name, spec }) => [name, spec]))
  const at = (knobs: Knobs) => pointOf(dimensions, knobs)
  const found = promisingPoints({
    model: attemptModel(state),
    space,
    base: model.knobs,
    parents: request.parents.slice(0, 1),
    boldness: request.mode === 'explore' ? 2 : 1,
    isNew: (knobs) => {
      const point = at(knobs)
      return point !== undefined && !tried.has(keyOf(dimensions, point)) && model.ranOut(point) < mostRisk
    },
    random: draws,
  })
  return found.map(({ knobs }) => at(knobs)).filter((point) => point !== undefined)
}

// What the other parent changed, on top of the base; then mixtures.
function crossed(model: KnobModel, otherId: string | undefined, { attempts }: Brief['state'], draws: Random): Point[] {
  const other = attempts.find(({ id }) => id === otherId)
  const theirs = other && pointOf(model.dimensions, other.knobs)
  const origin = attempts.find(({ id }) => id === other?.parents[0]) ?? attempts[0]
  const from = origin && pointOf(model.dimensions, origin.knobs)
  if (theirs === undefined) return []
  const both = model.base.map((value, i) =>
    from !== undefined && theirs[i] === from[i] ? value : (theirs[i] ?? value),
  )
  const mixed = Array.from({ length: 8 }, () =>
    model.base.map((value, i) => (draws.float() < 0.5 ? value : (theirs[i] ?? value))),
  )
  return [both, ...mixed]
}

// Every knob that was turned since the beginning, turned back alone.
function undone({ dimensions, base }: KnobModel, { attempts }: Brief['state']): Point[] {
  const first = attempts[0] && pointOf(dimensions, attempts[0].knobs)
  if (first === undefined) return []
  return base.flatMap((value, i) =>
    first[i] === value ? [] : [base.map((each, k) => (k === i ? (first[i] ?? each) : each))],
  )
}

// Half of the way is a smaller risk; what cannot be turned at all is left out.
function repaired(model: KnobModel, { idea, failures }: NonNullable<Brief['repair']>): Suggestion[] {
  if (idea.change.kind !== 'knobs') return []
  const { dimensions, base, knobs } = model
  const blamed = failures.map(({ reason }) => reason).join('\n')
  const isBlamed = (name: string) => new RegExp(`\\b${name.replace(/\W/g, '\\$&')}\\b`).test(blamed)
  const wanted = Object.fromEntries(Object.entries(idea.change.knobs).filter(([name]) => !isBlamed(name)))
  const target = pointOf(dimensions, { ...knobs, ...wanted })
  if (target === undefined) return []
  const half = base.map((value, i) => {
    const to = target[i] ?? value
    return dimensions[i]?.kind === 'line' ? (value + to) / 2 : value
  })
  return distinct({ ...model }, [settled(dimensions, half)]).map((point) => withGain(model, point))
}

// Labelled like any other, so that a model of past effects can rank it.
function ideaOf(model: KnobModel, { request }: Brief, { point, gain }: Suggestion): Idea {
  const turned = turnedAt(model, point)
  const distance = (name: string) => {
    const i = model.dimensions.findIndex((dimension) => dimension.name === name)
    return model.dimensions[i]?.kind === 'category' ? 1 : Math.abs((point[i] ?? 0) - (model.base[i] ?? 0))
  }
  const order = Object.keys(turned).sort((a, b) => distance(b) - distance(a) || (a < b ? -1 : 1))
  const seen = model.observed.length
  const why =
    seen < 2
      ? 'Nothing is known yet: a step that shows which way helps.'
      : `Of ${seen} observations, a surrogate expects a gain of ${gain.toPrecision(3)} here.`
  const from = model.knobs
  const [main = ''] = order
  const moves = order.map((name) => `${name} ${shown(from[name])} -> ${shown(turned[name])}`)
  const more = moves.length > 4 ? ` and ${moves.length - 4} more` : ''
  return {
    title: `${moves.slice(0, 4).join(', ')}${more}`.slice(0, 200),
    hypothesis: why,
    family: `knob ${main}`.slice(0, 60),
    category: categoryOf(main),
    expected_effect: gain !== 0 && Number.isFinite(gain) ? Number(gain.toPrecision(3)) : undefined,
    cost: costOf(from, turned),
    parents: request.parents.slice(0, 2),
    change: { kind: 'knobs', knobs: { ...turned } },
  }
}

const categories: readonly (readonly [RegExp, IdeaCategory])[] = [
  [/DROP|DECAY|SMOOTH|L1|L2|PENALTY|NOISE|AUGMENT|REGULAR/i, 'regularization'],
  [/(?:^|_)LR(?:_|$)|RATE|MOMENTUM|BETA|WARMUP|OPTIM|SCHEDULE|CLIP|ANNEAL/i, 'optimizer'],
  [/WIDTH|HIDDEN|LAYERS|DEPTH|HEADS?|EMB|CHANNELS|UNITS|KERNEL|ACTIVATION|DIM|FILTERS/i, 'architectural'],
]

/** The kind of change that turning a knob is, by its name. */
function categoryOf(knob: string): IdeaCategory {
  return categories.find(([pattern]) => pattern.test(knob))?.[1] ?? 'hyperparameter'
}

function costOf(from: Knobs, turned: Knobs): Idea['cost'] {
  const sizes = Object.keys(turned).filter((name) => categoryOf(name) === 'architectural')
  const growth = sizes.reduce((sum, name) => {
    const [before, after] = [from[name], turned[name]]
    return typeof before === 'number' && typeof after === 'number' && before > 0 && after > 0
      ? sum + Math.log(after / before)
      : sum
  }, 0)
  if (Math.abs(growth) < 0.3) return 'same'
  return growth > 0 ? 'dearer' : 'cheaper'
}

function shown(value: KnobValue | undefined): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.slice(0, 30)
}
