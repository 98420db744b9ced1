// Runs, checkpoints and sessions as a person looks them up: direct answers, no session of our own.
import * as tinker from '../contracts/tinker/index.ts'
import { type Clock, withoutUndefined } from '../kernel/index.ts'
import { type Caller, parseBody } from './caller.ts'
import { ServiceError } from './service-error.ts'

export type Page = { limit?: number | undefined; offset?: number | undefined }
export type Scope = { accessScope?: tinker.AccessScope | undefined }
export type Archive = { readonly url: string; readonly expiresMs: number }

export type RestClientOptions = { caller: Caller; clock: Clock; signal: AbortSignal }

const archiveTries = 6
const archiveWaitMs = 30_000
// What a signed address is good for where the service does not say.
const archiveLifeMs = 900_000

export class RestClient {
  readonly #caller: Caller
  readonly #clock: Clock
  readonly #signal: AbortSignal

  constructor({ caller, clock, signal }: RestClientOptions) {
    this.#caller = impatient(caller)
    this.#clock = clock
    this.#signal = signal
  }

  runs(options: Page & Scope & { projectId?: string | undefined } = {}) {
    const { limit = 20, offset = 0, accessScope = 'owned', projectId } = options
    const query = { limit, offset, access_scope: accessScope, project_id: projectId }
    return this.#get(`/api/v1/training_runs${search(query)}`, tinker.TrainingRunsResponse)
  }

  run(runId: string, { accessScope = 'owned' }: Scope = {}) {
    return this.#get(`${runPath(runId)}${search({ access_scope: accessScope })}`, tinker.TrainingRun)
  }

  async checkpointsOf(runId: string): Promise<tinker.Checkpoint[]> {
    return (await this.#get(`${runPath(runId)}/checkpoints`, tinker.CheckpointsResponse)).checkpoints
  }

  /** All checkpoints of the user, newest first. */
  checkpoints({ limit = 100, offset = 0 }: Page = {}) {
    return this.#get(`/api/v1/checkpoints${search({ limit, offset })}`, tinker.CheckpointsResponse)
  }

  deleteCheckpoint(path: string): Promise<void> {
    return this.#caller.done({ method: 'DELETE', path: checkpointPath(path) })
  }

  publish(path: string): Promise<void> {
    return this.#caller.done({ method: 'POST', path: `${checkpointPath(path)}/publish` })
  }

  unpublish(path: string): Promise<void> {
    return this.#caller.done({ method: 'DELETE', path: `${checkpointPath(path)}/publish` })
  }

  /** `undefined`: kept until deleted. */
  setTtl(path: string, ttlSeconds: number | undefined): Promise<void> {
    // The one place where the protocol sends null.
    const json = { ttl_seconds: ttlSeconds ?? null }
    return this.#caller.done({ method: 'PUT', path: `${checkpointPath(path)}/ttl`, json })
  }

  weightsInfo(path: string): Promise<tinker.WeightsInfoResponse> {
    const call = { method: 'POST', path: '/api/v1/weights_info', json: { tinker_path: path } } as const
    return this.#caller.json(call, tinker.WeightsInfoResponse)
  }

  /** Where the archive of a checkpoint lies. While it is being made the service says 503; that is waited for. */
  async archive(path: string): Promise<Archive> {
    const route = `${checkpointPath(path)}/archive`
    for (let attempt = 1; ; attempt++) {
      const call = { method: 'GET', path: route, accept: [302, 303, 307, 503] } as const
      const { status, headers, bytes } = await this.#caller.answer(call)
      if (status === 503) {
        if (attempt >= archiveTries) {
          throw new ServiceError('status', `${route}: the archive is still being made`, { status, retryable: true })
        }
        await this.#clock.sleep(archiveWaitMs, this.#signal)
        continue
      }
      if (status < 300) {
        const { url, expires } = parseBody(route, bytes, tinker.ArchiveUrlResponse)
        return { url, expiresMs: this.#expiry(expires) }
      }
      const url = headers.get('location')
      if (url === null) throw new ServiceError('protocol', `${route}: the redirect names no address`, { status })
      return { url, expiresMs: this.#expiry(headers.get('expires')) }
    }
  }

  session(sessionId: string, { accessScope = 'owned' }: Scope = {}) {
    const query = search({ access_scope: accessScope })
    return this.#get(`/api/v1/sessions/${segment(sessionId)}${query}`, tinker.SessionResponse)
  }

  async sessions({ limit = 20, offset = 0, accessScope = 'owned' }: Page & Scope = {}): Promise<string[]> {
    const query = search({ limit, offset, access_scope: accessScope })
    return (await this.#get(`/api/v1/sessions${query}`, tinker.ListSessionsResponse)).sessions
  }

  moveSession(sessionId: string, projectId: string): Promise<void> {
    const path = `/api/v1/sessions/${segment(sessionId)}/project`
    return this.#caller.done({ method: 'PUT', path, json: { project_id: projectId } })
  }

  sampler(samplerId: string) {
    return this.#get(`/api/v1/samplers/${segment(samplerId)}`, tinker.SamplerResponse)
  }

  /** Deletes a snapshot; one that is gone already is no error. */
  deleteSampler(samplerId: string): Promise<void> {
    return this.#caller.done({ method: 'DELETE', path: `/api/v1/samplers/${segment(samplerId)}`, accept: [404, 405] })
  }

  audit(query: { eventType?: string | undefined; day?: string | undefined } = {}) {
    const text = search({ event_type: query.eventType ?? 'all', day: query.day })
    return this.#get(`/api/v1/audit${text}`, tinker.AuditResponse)
  }

  usage({ startingOn, endingBefore }: { startingOn: string; endingBefore: string }) {
    const query = search({ starting_on: startingOn, ending_before: endingBefore })
    return this.#get(`/api/v1/billing/usage/events${query}`, tinker.BillingUsageResponse)
  }

  /** The state of an export of a session's trace; it is asked for until it is ready. */
  traceExport(sessionId: string) {
    return this.#get(`/api/v1/sessions/${segment(sessionId)}/trace_export`, tinker.TraceExportResponse)
  }

  #get<S extends Parameters<Caller['json']>[1]>(path: string, schema: S) {
    return this.#caller.json({ method: 'GET', path }, schema)
  }

  #expiry(text: string | null | undefined): number {
    const parsed = Date.parse(text ?? '')
    return Number.isNaN(parsed) ? this.#clock.now() + archiveLifeMs : parsed
  }
}

// A person waits for these, and nothing is lost when one fails.
const patienceMs = 20_000

function impatient(caller: Caller): Caller {
  return {
    answer: (call) => caller.answer({ retryForMs: patienceMs, ...call }),
    submit: (call) => caller.submit({ retryForMs: patienceMs, ...call }),
    json: (call, schema) => caller.json({ retryForMs: patienceMs, ...call }, schema),
    done: (call) => caller.done({ retryForMs: patienceMs, ...call }),
  }
}

function search(query: Readonly<Record<string, string | number | undefined>>): string {
  const known = Object.entries(withoutUndefined(query)).map(([key, value]): [string, string] => [key, String(value)])
  return known.length === 0 ? '' : `?${new URLSearchParams(known)}`
}

function runPath(runId: string): string {
  return `/api/v1/training_runs/${segment(runId)}`
}

// Colons stay as they are, which every service takes; nothing else may change the path.
function segment(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':')
}

function checkpointPath(path: string): string {
  const parsed = tinker.parseTinkerPath(path)
  if (parsed !== undefined) {
    return `${runPath(parsed.runId)}/checkpoints/${segment(parsed.folder)}/${segment(parsed.name)}`
  }
  throw new ServiceError('invalid', `"${path}" is no path of a checkpoint`, {
    fix: 'a path is tinker://RUN/weights/NAME or tinker://RUN/sampler_weights/NAME.',
  })
}
