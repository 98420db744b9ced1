// One answer before its verifier. Whatever the verifier does wrong, throw, wait for ever, return no number, leaves the answer
// without a reward: that is a failure of the measurement and says nothing about the answer.
import type {
  HarborTask,
  OpenEnvironment,
  OpenInferenceClient,
  PluginSpec,
  SeedPath,
  Verification,
} from '../../contracts/index.ts'
import { type EquippedPlugin, keyedRandom, messageOf, onAbort, withoutUndefined } from '../../kernel/index.ts'

interface VerifyOptions {
  readonly task: HarborTask
  readonly output: string
  readonly expected: unknown
  readonly sample: number
  readonly timeoutMs: number
  model?: ((which: string | PluginSpec) => Promise<OpenInferenceClient>) | undefined
  /** Where this process cannot open a sandbox itself. */
  openSandbox?: (() => Promise<OpenEnvironment>) | undefined
  readonly signal: AbortSignal
}

export type Verified = { readonly reward: number } | { readonly failure: string }

export async function verifyAnswer(
  { plugin, context }: EquippedPlugin<'verifier'>,
  { task, output, expected, sample, timeoutMs: shortMs, model, openSandbox, signal }: VerifyOptions,
): Promise<Verified> {
  const name = `verifier "${plugin.kind}"`
  // A model answers in its own time, and is asked again where its provider is busy; code that runs has separate limits.
  const isPatient = plugin.needs?.network === true || plugin.needs?.sandbox === true
  const timeoutMs = isPatient ? shortMs * 20 : shortMs
  const own = new AbortController()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    own.abort(new DOMException('the verification took too long', 'TimeoutError'))
  }, timeoutMs)
  const quiet = onAbort(signal, () => own.abort(signal.reason))
  // The same answer to the same task draws the same numbers, whichever model gave it.
  const random = (...path: SeedPath) => keyedRandom(0, 'verify', task.task_id, sample, ...path)
  try {
    // A copy: a verifier that sorts or edits what it is given must not change what the next answer is compared with.
    const given = { output, expected: structuredClone(expected), task: structuredClone(task) }
    const result = plugin.verify(given, {
      ...context,
      random,
      signal: own.signal,
      ...withoutUndefined({ model, openSandbox }),
    })
    const verified: unknown = isPromise(result) ? await orAborted(result, own.signal) : result
    const reward = rewardOf(verified)
    return reward === undefined ? { failure: `${name} returned no finite number` } : { reward }
  } catch (cause) {
    signal.throwIfAborted()
    if (isLate) return { failure: `${name} took longer than ${timeoutMs / 1000} s` }
    return { failure: `${name}: ${messageOf(cause)}` }
  } finally {
    clearTimeout(timer)
    quiet()
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}

// A verifier that ignores its signal is abandoned.
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const quiet = onAbort(signal, () => reject(signal.reason))
    Promise.resolve(work).then(resolve, reject).finally(quiet)
  })
}

function rewardOf(result: unknown): number | undefined {
  const isObject = typeof result === 'object' && result !== null
  const reward: unknown = isObject ? Reflect.get(result, 'reward' satisfies keyof Verification) : result
  return typeof reward === 'number' && Number.isFinite(reward) ? reward : undefined
}
