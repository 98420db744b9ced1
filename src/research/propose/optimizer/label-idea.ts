// An optimiser's point as an idea: labelled like any other, so that a model of past effects can rank it.
import type { Idea, IdeaCategory, Knobs, KnobValue } from '../../../contracts/index.ts'

const categories: readonly (readonly [RegExp, IdeaCategory])[] = [
  [/DROP|DECAY|SMOOTH|L1|L2|PENALTY|NOISE|AUGMENT|REGULAR/i, 'regularization'],
  [/(?:^|_)LR(?:_|$)|RATE|MOMENTUM|BETA|WARMUP|OPTIM|SCHEDULE|CLIP|ANNEAL/i, 'optimizer'],
  [/WIDTH|HIDDEN|LAYERS|DEPTH|HEADS?|EMB|CHANNELS|UNITS|KERNEL|ACTIVATION|DIM|FILTERS/i, 'architectural'],
]

/** The kind of change that turning a knob is, by its name. */
function categoryOf(knob: string): IdeaCategory {
  return categories.find(([pattern]) => pattern.test(knob))?.[1] ?? 'hyperparameter'
}

interface LabelSource {
  readonly from: Knobs
  readonly turned: Knobs
  /** Names of the turned knobs, that which moves furthest first. */
  readonly order: readonly string[]
  readonly gain: number
  readonly parents: readonly string[]
  readonly why: string
}

export function labelIdea({ from, turned, order, gain, parents, why }: LabelSource): Idea {
  const [main = ''] = order
  const moves = order.map((name) => `${name} ${shown(from[name])} -> ${shown(turned[name])}`)
  const more = moves.length > 4 ? ` and ${moves.length - 4} more` : ''
  const effect = gain !== 0 && Number.isFinite(gain) ? { expected_effect: Number(gain.toPrecision(3)) } : {}
  return {
    title: `${moves.slice(0, 4).join(', ')}${more}`.slice(0, 200),
    hypothesis: why,
    family: `knob ${main}`.slice(0, 60),
    category: categoryOf(main),
    ...effect,
    cost: costOf(from, turned),
    parents: parents.slice(0, 2),
    change: { kind: 'knobs', knobs: { ...turned } },
  }
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
