// The policy as an agent gets it: every answer is kept as a turn, limits are kept to, and what fails here is known to be no fault
// of the agent. What was recorded outlives the agent.
import type {
  EnvironmentCommand,
  Generated,
  GenerateRequest,
  OpenEnvironment,
  OpenInferenceClient,
  Turn,
  Usage,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { LimitReached, limitOf, type RolloutLimit } from '../policy/limit-reached.ts'

interface TurnLimits {
  readonly maxTurns: number
  /** Completion tokens of all turns together; absent: no limit. */
  readonly maxTotalTokens?: number | undefined
}

export type TurnRecord = ReturnType<typeof recordTurns>

export function recordTurns(client: OpenInferenceClient, limits: TurnLimits, signal: AbortSignal) {
  const startedMs = performance.now()
  const turns: Turn[] = []
  const taken: Usage[] = []
  const failures = new WeakSet<object>()
  let begun = 0
  let drawn = 0
  let underWay = 0
  let busyMs = 0
  let busySinceMs = 0
  let closedMs: number | undefined
  let limit: RolloutLimit | undefined
  let lastFailed = false

  const reached = (which: RolloutLimit) => {
    limit ??= which
    return new LimitReached(which)
  }
  const noted = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const value = await work()
      lastFailed = false
      return value
    } catch (error) {
      if (closedMs === undefined && !signal.aborted) {
        if (typeof error === 'object' && error !== null) failures.add(error)
        lastFailed = true
      }
      throw error
    }
  }
  const ask = async (request: GenerateRequest, asked: AbortSignal): Promise<Generated> => {
    const left = (limits.maxTotalTokens ?? Number.POSITIVE_INFINITY) - drawn
    if (underWay++ === 0) busySinceMs = performance.now()
    try {
      const capped = left < request.maxTokens ? { ...request, maxTokens: left } : request
      const given = await noted(() => client.generate(capped, asked))
      drawn += given.usage.completionTokens
      return given
    } catch (error) {
      limit ??= limitOf(error)
      throw error
    } finally {
      if (--underWay === 0) busyMs += performance.now() - busySinceMs
    }
  }
  const policy: OpenInferenceClient = {
    takesTools: client.takesTools,
    async generate(request, asked = signal) {
      signal.throwIfAborted()
      if (closedMs !== undefined) throw new EvsysError('INTERRUPTED', 'the rollout is over')
      if (begun >= limits.maxTurns) throw reached('max_turns')
      if (drawn >= (limits.maxTotalTokens ?? Number.POSITIVE_INFINITY)) throw reached('max_tokens')
      begun += 1
      const messages = [...request.messages]
      const given = await ask(request, asked)
      if (closedMs === undefined) {
        taken.push(given.usage)
        const { text, toolCalls, stopReason, tokens } = given
        turns.push({ messages, text, stopReason, toolCalls, tokens })
      }
      return given
    },
  }
  return {
    turns: turns as readonly Turn[],
    policy,
    get limit() {
      return limit
    },
    /** The environment, with its failures distinguished from those of the agent. */
    guard: (environment: OpenEnvironment) => guarded(environment, noted),
    /** No turn is added any more: what the agent still asks for is refused. */
    close() {
      closedMs ??= performance.now()
      Object.freeze(turns)
    },
    usage(): Usage {
      const outsideMs = (closedMs ?? performance.now()) - startedMs - busyMs
      return sumUsage(taken, Math.max(0, outsideMs) / 1000)
    },
    /** Whether the model or the environment failed last, so that the agent could not continue. */
    isInfra: (error: unknown) => lastFailed || isKnown(error, failures),
  }
}

/**
 * A price that is not known for one answer is not known for the sum. The time is that of the answers, as their clients report it (an
 * answer out of a cassette keeps its own), and of what the agent did between them.
 */
export function sumUsage(taken: readonly Usage[], outsideS = 0): Usage {
  const sum = (of: (usage: Usage) => number | undefined) => taken.reduce((total, usage) => total + (of(usage) ?? 0), 0)
  const isCached = taken.some(({ cachedPromptTokens }) => cachedPromptTokens !== undefined)
  const isPriced = taken.length > 0 && taken.every(({ costUsd }) => costUsd !== undefined)
  return {
    promptTokens: sum(({ promptTokens }) => promptTokens),
    completionTokens: sum(({ completionTokens }) => completionTokens),
    cachedPromptTokens: isCached ? sum(({ cachedPromptTokens }) => cachedPromptTokens) : undefined,
    latencyS: outsideS + sum(({ latencyS }) => latencyS),
    costUsd: isPriced ? sum(({ costUsd }) => costUsd) : undefined,
  }
}

function isKnown(error: unknown, known: WeakSet<object>): boolean {
  for (let each = error, depth = 0; typeof each === 'object' && each !== null && depth < 8; depth++) {
    if (known.has(each)) return true
    each = Reflect.get(each, 'cause')
  }
  return false
}

// A file that is not there is the business of the agent; a command that cannot even be started is not.
function guarded(inner: OpenEnvironment, noted: <T>(work: () => Promise<T>) => Promise<T>): OpenEnvironment {
  return {
    level: inner.level,
    workdir: inner.workdir,
    async exec(command: EnvironmentCommand, signal) {
      const fault = commandFault(command)
      if (fault === undefined) return noted(() => inner.exec(command, signal))
      return { exitCode: 126, signal: null, stdout: '', stderr: `${fault}\n`, truncated: false }
    },
    async spawn(command: EnvironmentCommand, signal) {
      const fault = commandFault(command)
      if (fault !== undefined) throw new Error(fault)
      return noted(() => inner.spawn(command, signal))
    },
    read: (path) => inner.read(path),
    write: (path, bytes) => inner.write(path, bytes),
    upload: (source, target) => inner.upload(source, target),
    download: (source, target) => inner.download(source, target),
    empty: (path) => inner.empty(path),
    killAll: () => inner.killAll(),
    // Who opened it closes it: an agent only uses it.
    [Symbol.asyncDispose]: async () => {},
  }
}

// A command that no system can run is the fault of its author, as a shell would report: it must not look like a failure of the
// environment.

/** Linux takes no argument that is longer, and bounds all of them together. */
const ARGUMENT_BYTES = 131_071
const ALL_BYTES = 1_500_000

/** Why a command cannot be started anywhere; absent: it can. */
function commandFault({ argv, cwd, env = {} }: EnvironmentCommand): string | undefined {
  const words = [...argv, cwd ?? '', ...Object.entries(env).flat()]
  if (words.some((word) => word.includes('\0'))) return 'the command holds the character NUL'
  const bytes = words.map((word) => Buffer.byteLength(word))
  const isTooLong =
    bytes.some((each) => each > ARGUMENT_BYTES) || bytes.reduce((sum, each) => sum + each, 0) > ALL_BYTES
  return isTooLong ? 'argument list too long' : undefined
}
