// Agents that the controller has run here: each acts in an environment that is elsewhere, and is told when its phase is over.
import type {
  EnvironmentReply,
  FromWorker,
  LeadOrder,
  LedRecord,
  OpenEnvironment,
  ToWorker,
} from '../../contracts/index.ts'
import { EvsysError, problemsOf, toRecord } from '../../kernel/index.ts'
import { remoteEnvironment } from './remote-environment.ts'

/** Runs an agent over the policy of a look at a benchmark. */
export type RunLed = (order: LeadOrder, environment: OpenEnvironment, signal: AbortSignal) => Promise<LedRecord>

type Told = Extract<ToWorker, { type: 'lead' | 'returned' | 'leave' }>

export interface LedHere {
  /** `run` is absent where its look at a benchmark is over. */
  take(told: Told, run: RunLed | undefined): void
}

interface Lead {
  readonly stopping: AbortController
  readonly calls: Map<number, { resolve(reply: EnvironmentReply): void; reject(reason: unknown): void }>
}

export function createLedHere(say: (message: FromWorker) => void): LedHere {
  const leads = new Map<number, Lead>()
  let called = 0

  const begin = async (number: number, order: LeadOrder, run: RunLed | undefined) => {
    const lead: Lead = { stopping: new AbortController(), calls: new Map() }
    leads.set(number, lead)
    const environment = remoteEnvironment(order, async (asked, onSent) => {
      called += 1
      const call = called
      const replied = new Promise<EnvironmentReply>((resolve, reject) => lead.calls.set(call, { resolve, reject }))
      say({ type: 'call', lead: number, call, asked })
      onSent?.(call)
      const reply = await replied
      if (reply.error === undefined) return reply
      const { code, message, fix } = reply.error
      throw new EvsysError(code, message, fix === undefined ? {} : { fix })
    })
    const record = await (run === undefined
      ? Promise.reject(tooLate())
      : run(order, environment, lead.stopping.signal)
    ).catch(failed)
    for (const { reject } of lead.calls.values()) reject(tooLate())
    leads.delete(number)
    say({ type: 'led', lead: number, record })
  }
  return {
    take(told, run) {
      const lead = leads.get(told.lead)
      if (told.type === 'lead')
        begin(told.lead, told.order, run).catch(() => {}) // a pipe that is gone ends this process
      else if (told.type === 'leave') lead?.stopping.abort(tooLate())
      else {
        lead?.calls.get(told.call)?.resolve(told.reply)
        lead?.calls.delete(told.call)
      }
    },
  }
}

function failed(error: unknown): LedRecord {
  const [problem] = problemsOf(error)
  const record = toRecord(problem ?? new EvsysError('INTERNAL', 'unknown failure'))
  return { prompt_tokens: 0, completion_tokens: 0, latency_s: 0, turns: [], error: { ...record, infra: true } }
}

function tooLate(): EvsysError {
  return new EvsysError('INTERRUPTED', 'the phase of the agent is over')
}
