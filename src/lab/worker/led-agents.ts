// Agents of the project in trials of benchmarks, seen from the controller: the worker runs them, the environment is here, beside the
// tests that come after them. Whatever the worker says of an agent is its words and its usage; it cannot say a reward.
import type { FromWorker, LeadOrder, LedRecord, OpenEnvironment, ToWorker } from '../../contracts/index.ts'
import { EvsysError, onAbort } from '../../kernel/index.ts'
import { type ServedEnvironment, serveEnvironment } from './serve-environment.ts'

type Told = Extract<FromWorker, { type: 'call' | 'led' }>

/** An agent, and what it acts in. */
export interface LedTask {
  readonly order: LeadOrder
  readonly environment: OpenEnvironment
  /** A folder that code of the project cannot see. */
  readonly scratch: string
}

/** Runs an agent of the project. When the signal aborts the agent is told, and what it did is still waited for. */
export type LeadAgent = (task: LedTask, signal: AbortSignal) => Promise<LedRecord>

export interface LedAgents {
  /** Leads for request `request` of the worker. */
  client(request: number): LeadAgent
  /** Takes in what the worker says. False: it calls for more than an agent may at a time. */
  take(told: Told): boolean
  /** Whoever waits gets this error: the worker is gone. */
  close(reason: EvsysError): void
}

/** Calls of all agents of a worker that are under way. */
const MOST_CALLS = 1000

interface Waiting {
  readonly served: ServedEnvironment
  resolve(record: LedRecord): void
  reject(reason: unknown): void
}

export function createLedAgents(send: (message: ToWorker) => void): LedAgents {
  const waiting = new Map<number, Waiting>()
  let led = 0
  let underWay = 0
  let closed: EvsysError | undefined

  const lead = async (request: number, task: LedTask, signal: AbortSignal): Promise<LedRecord> => {
    if (closed !== undefined) throw closed
    signal.throwIfAborted()
    led += 1
    const number = led
    await using served = serveEnvironment(task.environment, task.scratch)
    const record = new Promise<LedRecord>((resolve, reject) => waiting.set(number, { served, resolve, reject }))
    const quiet = onAbort(signal, () => send({ type: 'leave', lead: number }))
    send({ type: 'lead', request, lead: number, order: task.order })
    try {
      return await record
    } finally {
      quiet()
      waiting.delete(number)
    }
  }
  const answer = async ({ lead: number, call, asked }: Extract<Told, { type: 'call' }>) => {
    underWay += 1
    try {
      const reply = (await waiting.get(number)?.served.answer(call, asked)) ?? { error: over() }
      if (closed === undefined) send({ type: 'returned', lead: number, call, reply })
    } finally {
      underWay -= 1
    }
  }
  return {
    client: (request) => (task, signal) => lead(request, task, signal),
    take(told) {
      if (told.type === 'led') waiting.get(told.lead)?.resolve(told.record)
      else {
        if (underWay >= MOST_CALLS) return false
        answer(told).catch(() => {}) // it never rejects, but for a pipe that is gone, which is told elsewhere
      }
      return true
    },
    close(reason) {
      closed = reason
      for (const each of [...waiting.values()]) each.reject(reason)
    },
  }
}

function over() {
  return new EvsysError('AGENT_FAILED', 'the phase of the agent is over: its environment is closed to it').toRecord()
}
