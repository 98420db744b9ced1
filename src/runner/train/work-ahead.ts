// What the recipe of a phase has under way beyond the step at hand: rollouts of later steps, weights that it keeps, what it made
// once. All of it ends together: when steps are done again, when the phase or the run is over, however that came about.
import type { KeptPolicy, SamplerRef, Weights } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { createRollouts, type HeldOut, type Rollouts } from './rollouts.ts'
import type { RunScope } from './run-scope.ts'

export type WorkAhead = ReturnType<typeof createWorkAhead>

/** What a value that was still being made may take when everything ends. */
const MAKING_MS = 10_000

/** `heldOut`: scores rollouts a second time. */
export function createWorkAhead(scope: RunScope, heldOut?: HeldOut) {
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
  const rollouts = (step: number): Rollouts => {
    const known =
      begun.get(step) ?? createRollouts(scope, (policy) => versionOf(policy.weights) ?? policy.version ?? step, heldOut)
    begun.set(step, known)
    return known
  }
  return {
    /** Rollouts of a step, begun before it or not. */
    rollouts,
    /** The step has come, and with it whatever was begun for it. */
    take(step: number): Rollouts {
      const of = rollouts(step)
      begun.delete(step)
      taken.clear() // those of the step before, which has ended them
      taken.add(of)
      return of
    },
    weights(version: number): StepWeights {
      for (const each of held) if (each.isGone) held.delete(each)
      const weights = createStepWeights(scope, version)
      held.add(weights)
      return weights
    },
    once<T>(key: string, make: () => Promise<T>): Promise<T> {
      const known = made.get(key) as Promise<T> | undefined // one key, one maker: the algorithm's own
      if (known !== undefined) return known
      const value = make()
      value.catch(() => {}) // thrown to the one who waits for it
      made.set(key, value)
      return value
    },
    /** Ends everything and waits for it; what can be disposed of is. What comes after it begins anew. */
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

// The weights of one step, for everyone who samples from them: saved when first asked for, deleted when the last one releases them.
type StepWeights = ReturnType<typeof createStepWeights>

function createStepWeights(scope: RunScope, version: number) {
  const { model } = scope // a roll-back replaces it; these weights are of the one before
  const holders = new Set<symbol>()
  const step = Symbol('step')
  let saved: Promise<SamplerRef> | undefined
  let uri: string | undefined
  let isSealed = false

  const take = (holder: symbol): Promise<SamplerRef> => {
    if (isSealed && (saved === undefined || holders.size === 0)) return Promise.reject(gone(version))
    holders.add(holder)
    saved ??= model.snapshot().then((ref) => {
      uri = ref.uri
      return ref
    })
    return saved
  }
  const drop = async () => {
    holders.clear()
    const ref = await saved?.catch(() => undefined) // thrown to the one who asked
    saved = undefined
    if (ref !== undefined) await model.drop(ref)
  }
  const leave = async (holder: symbol) => {
    if (holders.delete(holder) && holders.size === 0) await drop()
  }
  return {
    /** Optimiser steps that they have seen. */
    version,
    /** Absent: no one asked for them. */
    get uri() {
      return uri
    },
    /** No one has them, and no one can ask for them any more. */
    get isGone() {
      return isSealed && holders.size === 0
    },
    /** For as long as the step lasts. */
    policy: () => take(step),
    /** For longer: until they are released. */
    async keep(): Promise<KeptPolicy> {
      const holder = Symbol('kept')
      const weights = await take(holder)
      return { weights, version, release: () => leave(holder) }
    },
    /** From here on the model moves: weights that no one asked for yet can no longer be had. */
    seal() {
      isSealed = true
    },
    /** The step is over. */
    release() {
      isSealed = true
      return leave(step)
    },
    /** Deletes them, also where they are still held. */
    drop() {
      isSealed = true
      return drop()
    },
  }
}

function gone(version: number): EvsysError {
  return new EvsysError('PLUGIN_FAILED', `the weights of version ${version} are gone: their step is over`, {
    fix: 'ask for policy() or keepPolicy() before the batch of the step is built.',
  })
}
