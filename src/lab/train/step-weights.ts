// The weights of one step, for everyone who samples from them: saved when first asked for, deleted when the last one lets go.
import type { KeptPolicy, SamplerRef } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { RunScope } from './run-scope.ts'

export interface StepWeights {
  /** Optimiser steps that they have seen. */
  readonly version: number
  /** Absent: nobody asked for them. */
  readonly uri: string | undefined
  /** For as long as the step lasts. */
  policy(): Promise<SamplerRef>
  /** For longer: until they are released. */
  keep(): Promise<KeptPolicy>
  /** From here on the model moves: weights that nobody asked for yet can no longer be had. */
  seal(): void
  /** The step is over. */
  release(): Promise<void>
  /** Nobody has them, and nobody can ask for them any more. */
  readonly isGone: boolean
  /** Lets go of them, whoever still has them. */
  drop(): Promise<void>
}

export function createStepWeights(scope: RunScope, version: number): StepWeights {
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
    const ref = await saved?.catch(() => undefined) // whoever asked for them was told
    saved = undefined
    if (ref !== undefined) await model.drop(ref)
  }
  const leave = async (holder: symbol) => {
    if (holders.delete(holder) && holders.size === 0) await drop()
  }
  return {
    version,
    get uri() {
      return uri
    },
    get isGone() {
      return isSealed && holders.size === 0
    },
    policy: () => take(step),
    async keep() {
      const holder = Symbol('kept')
      const weights = await take(holder)
      return { weights, version, release: () => leave(holder) }
    },
    seal() {
      isSealed = true
    },
    release() {
      isSealed = true
      return leave(step)
    },
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
