// The evaluator as the controller has it: processes with no recipe code in them that ask the weights of runs the tasks of benchmarks.
// One process serves all runs; where plugins of the project take part in answering, evaluations with equal plugins share one that
// has loaded just those. A process that ends by itself is started again once, and what it was at is asked again.
import { extname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type {
  AgentOrder,
  AgentRecord,
  PluginCard,
  PolicyQuestion,
  PolicyReply,
  Prediction,
  SealedTask,
} from '../contracts/index.ts'
import { placesOf } from '../evaluate/index.ts'
import {
  type Child,
  createSlots,
  EvsysError,
  guardedProcess,
  howEnded,
  isOutOfMemory,
  lastPrinted,
  longWaits,
  openChild,
  type ProcessEnd,
  type ProcessPlace,
} from '../kernel/index.ts'
import { codeOf, type Evaluation, evaluatorProtocol } from './evaluator-protocol.ts'

export interface EvaluatorOptions {
  readonly projectDir: string
  /** Of the plugins of the project. */
  readonly cards: readonly PluginCard[]
  /** Paths that it must not see: expected answers are for the scorer alone. */
  readonly hidden: readonly string[]
  /** Evaluations at a time. */
  readonly limit: number
  /** Where a process lives that has loaded these plugins of the project; absent: on this machine as it is, without what is hidden. */
  readonly place?: ((cards: readonly PluginCard[]) => ProcessPlace) | undefined
}

export interface EvaluationHooks {
  /** Runs an agent of the project, where that runs. */
  act(order: AgentOrder): Promise<AgentRecord>
  onAnswer(): void
  /** The evaluator ended by itself, and the evaluation is begun again. */
  onDeath(error: EvsysError): void
}

/** Weights that can be asked. */
export interface AskedWeights {
  readonly takesTools: boolean
  answer(tasks: readonly SealedTask[]): Promise<Prediction[]>
  generate(asked: PolicyQuestion, signal: AbortSignal): Promise<PolicyReply>
}

const heapMb = 4096
const memoryMb = 8192
/** Node and the plugins have to start, on a machine that may be busy with other things. */
const openMs = 10 * 60_000
const silenceMs = 60_000
const mostDeaths = 1
/** What evaluations may take to end what they started. */
const endMs = 5000
const leaveMs = 3000

class Died extends Error {
  readonly end: ProcessEnd

  constructor(end: ProcessEnd) {
    super('the evaluator is gone')
    this.end = end
  }
}

type EvaluatorChild = Child<typeof evaluatorProtocol>

interface Process {
  readonly child: EvaluatorChild
  readonly opened: Promise<unknown>
  /** It may keep something open. */
  hasBegun: boolean
}

export class Evaluator implements AsyncDisposable {
  readonly #options: EvaluatorOptions
  readonly #slots: ReturnType<typeof createSlots>
  readonly #processes = new Map<string, Process>()
  readonly #hooks = new Map<number, EvaluationHooks>()
  readonly #closing = new AbortController()
  readonly #underWay = new Set<Promise<unknown>>()
  #last = 0

  constructor(options: EvaluatorOptions) {
    this.#options = options
    this.#slots = createSlots(options.limit)
  }

  /** Starts the process that most evaluations need, so that it is there when the first one comes. */
  warmUp(): void {
    this.#process([])
  }

  /** Plugins of the project that take part in answering. */
  projectCode(of: Parameters<typeof codeOf>[0]): string[] {
    return this.#cardsOf(of).map(({ type, kind }) => `${type} ${kind}`)
  }

  /** Begins an evaluation and does `work` with it; anew, once, where the evaluator ends by itself meanwhile. */
  async evaluate<T>(
    of: Evaluation,
    hooks: EvaluationHooks,
    work: (weights: AskedWeights) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const either = AbortSignal.any([signal, this.#closing.signal])
    using _slot = await this.#slots.take(either)
    for (let deaths = 0; ; deaths++) {
      either.throwIfAborted()
      try {
        const evaluation = this.#once(of, hooks, work, either)
        this.#underWay.add(evaluation)
        return await evaluation.finally(() => this.#underWay.delete(evaluation))
      } catch (error) {
        const died = diedIn(error)
        if (died === undefined || either.aborted) throw error
        const problem = deathOf(died.end)
        if (deaths === mostDeaths) throw problem
        hooks.onDeath(problem)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new EvsysError('INTERRUPTED', 'the evaluator was closed'))
    // Each ends the programs that it started; no other process knows them.
    const ended = Promise.allSettled(this.#underWay)
    await Promise.race([ended, delay(endMs, undefined, { ref: false })])
    await Promise.all([...this.#processes.values()].map(leave))
    this.#processes.clear()
  }

  async #once<T>(
    of: Evaluation,
    hooks: EvaluationHooks,
    work: (weights: AskedWeights) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const process = this.#process(this.#cardsOf(of))
    const { child, opened } = process
    await opened
    process.hasBegun = true
    this.#last += 1
    const evaluation = this.#last
    this.#hooks.set(evaluation, hooks)
    try {
      const { takes_tools: takesTools } = await child.call('begin', { evaluation, of }, { signal, silenceMs })
      return await work({
        takesTools,
        answer: (tasks) => child.call('answer', { evaluation, tasks: [...tasks] }, { signal, silenceMs }),
        generate: (asked, own) =>
          child.call('generate', { evaluation, asked }, { signal: AbortSignal.any([signal, own]), silenceMs }),
      })
    } finally {
      this.#hooks.delete(evaluation)
      if (child.end === undefined) await child.call('end', { evaluation }, { silenceMs }).catch(() => {}) // it is gone
    }
  }

  #cardsOf(of: Parameters<typeof codeOf>[0]): PluginCard[] {
    const used = codeOf(of)
    return this.#options.cards.filter(
      ({ type, kind, origin }) => origin !== 'built-in' && used.some((each) => each[0] === type && each[1] === kind),
    )
  }

  #process(cards: readonly PluginCard[]): Process {
    const key = [...new Set(cards.map(({ type, kind, origin }) => `${type} ${kind} ${origin}`))].sort().join('\n')
    const known = this.#processes.get(key)
    if (known !== undefined && known.child.end === undefined) return known
    const child = this.#start(cards)
    const { projectDir } = this.#options
    const opened = child.call(
      'open',
      { project_dir: projectDir, plugins: placesOf(cards) },
      { timeoutMs: openMs, silenceMs, firstMs: openMs },
    )
    opened.catch(() => {}) // thrown where it is waited for
    const started = { child, opened, hasBegun: false }
    this.#processes.set(key, started)
    return started
  }

  #start(cards: readonly PluginCard[]): EvaluatorChild {
    const { projectDir, hidden, place } = this.#options
    return openChild({
      protocol: evaluatorProtocol,
      start: guardedProcess({
        script: new URL(`./evaluator-child${extname(import.meta.url)}`, import.meta.url),
        cwd: projectDir,
        hidden,
        sandbox: cards.length === 0 ? undefined : place?.(cards),
        heapMb,
        memoryMb,
        messageMb: 1024,
      }),
      handlers: {
        act: async ({ evaluation, order }) => {
          const hooks = this.#hooks.get(evaluation)
          if (hooks === undefined) throw new EvsysError('INTERRUPTED', 'the evaluation is over')
          return await hooks.act(order)
        },
        answered: ({ evaluation }) => this.#hooks.get(evaluation)?.onAnswer(),
        warned: (text) => longWaits.publish(text.slice(0, 2000)),
      },
      deathOf: (end) => new Died(end),
    })
  }
}

/** Ends a process once it has closed what it keeps open. A trainer that is killed with it would leave its temporary files. */
async function leave({ child, hasBegun }: Process): Promise<void> {
  if (hasBegun && child.end === undefined) await child.call('close', null, { timeoutMs: leaveMs }).catch(() => {}) // it is gone
  await child.close()
}

function diedIn(error: unknown): Died | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth++) {
    if (each instanceof Died) return each
  }
  return undefined
}

function deathOf(end: ProcessEnd): EvsysError {
  const last = lastPrinted(end)
  const said = last === '' ? '' : `; it printed last: ${last.slice(0, 200)}`
  const fix = 'look at the plugins of the project that take part in answering: backend, renderer, client, agent.'
  if (end.stuck !== undefined) {
    const { file, line } = end.stuck
    const where = file === undefined || line === undefined ? undefined : { file, line, col: 1 }
    return new EvsysError('WORKER_HUNG', `the evaluator was blocked and was ended${said}`, { fix, where })
  }
  if (end.stopped === 'silent')
    return new EvsysError('WORKER_HUNG', `the evaluator gave no sign of life${said}`, { fix })
  if (end.stopped === 'flood') return new EvsysError('WORKER_FLOODED', `the evaluator printed too much${said}`, { fix })
  const how = isOutOfMemory(end) ? 'ran out of memory' : `ended with ${howEnded(end)}`
  return new EvsysError('WORKER_DIED', `the evaluator ${how}${said}`, { fix })
}
