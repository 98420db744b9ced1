// What the recipe of a phase has under way beyond the step at hand: rollouts of later steps, weights that it keeps, what it made
// once. All of it ends together: when steps are done again, when the phase or the run is over, however that came about.
import type { Weights } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import type { HeldOut } from './guards/held-out.ts'
import { createRollouts, type Rollouts } from './rollouts.ts'
import type { RunScope } from './run-scope.ts'
import { createStepWeights, type StepWeights } from './step-weights.ts'

export interface WorkAhead {
  /** Rollouts of a step, begun before it or not. */
  rollouts(step: number): Rollouts
  /** The step has come, and with it whatever was begun for it. */
  take(step: number): Rollouts
  weights(version: number): StepWeights
  once<T>(key: string, make: () => Promise<T>): Promise<T>
  /** Ends everything and waits for it; what can be disposed of is. What comes after it begins anew. */
  end(): Promise<void>
}

/** What a value that was still being made may take when everything ends. */
const MAKING_MS = 10_000

/** `heldOut`: scores rollouts a second time. */
export function createWorkAhead(scope: RunScope, heldOut?: HeldOut): WorkAhead {
  const begun = new Map<number, Rollouts>()
  const taken = new Set<Rollouts>()
  const held = new Set<StepWeights>()
  const made = new Map<string, Promise<unknown>>()
  const quietly = async (what: string, work: () => unknown) => {
    try {
      await work()
    } catch (error) {
      if (!scope.services.signal.aborted) scope.services.log('warn', `${what}: ${messageOf(error)}`)
    }
  }
  // What is known of weights wins over what is said of them.
  const versionOf = (weights: Weights) => {
    if (!('uri' in weights)) return undefined
    return [...held].find(({ uri }) => uri === weights.uri)?.version
  }
  const rollouts = (step: number) => {
    const known =
      begun.get(step) ?? createRollouts(scope, (policy) => versionOf(policy.weights) ?? policy.version ?? step, heldOut)
    begun.set(step, known)
    return known
  }
  return {
    rollouts,
    take(step) {
      const of = rollouts(step)
      begun.delete(step)
      taken.clear() // those of the step before, which has ended them
      taken.add(of)
      return of
    },
    weights(version) {
      for (const each of held) if (each.isGone) held.delete(each)
      const weights = createStepWeights(scope, version)
      held.add(weights)
      return weights
    },
    once<T>(key: string, make: () => Promise<T>): Promise<T> {
      const known = made.get(key) as Promise<T> | undefined // one key, one maker: the algorithm's own
      if (known !== undefined) return known
      const value = make()
      value.catch(() => {}) // told to whoever waits for it
      made.set(key, value)
      return value
    },
    async end() {
      const all = [...begun.values(), ...taken]
      const values = [...made]
      const weights = [...held]
      begun.clear()
      taken.clear()
      made.clear()
      held.clear()
      await Promise.all(all.map((each) => each.end()))
      for (const [key, value] of values) await quietly(`"${key}" could not be put away`, () => dispose(value))
      for (const each of weights) await quietly('weights could not be deleted', () => each.drop())
    },
  }
}

async function dispose(made: Promise<unknown>): Promise<void> {
  const value = await within(
    MAKING_MS,
    made.catch(() => undefined),
  )
  if (typeof value !== 'object' || value === null) return
  const later: unknown = Reflect.get(value, Symbol.asyncDispose)
  const now: unknown = Reflect.get(value, Symbol.dispose)
  if (typeof later === 'function') await Reflect.apply(later, value, [])
  else if (typeof now === 'function') Reflect.apply(now, value, [])
}

function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new EvsysError('PLUGIN_FAILED', `it was not made within ${limitMs / 1000} s`))
    const timer = setTimeout(late, limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
