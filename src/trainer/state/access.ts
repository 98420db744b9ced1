// What one caller may see and do. Everything that a request names is looked up here, so that no route can reach what belongs to
// another key: it is as unknown to it as what does not exist.
import { createHash, timingSafeEqual } from 'node:crypto'
import type * as tinker from '../../contracts/tinker/index.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { type CheckpointEntry, pathOf, type RunRecord } from './checkpoint-files.ts'
import type { Future } from './futures.ts'
import type { Session } from './sessions.ts'
import type { Sampler, TrainedModel, TrainerState } from './trainer-state.ts'

/** How much one key may hold at once. */
export type Quota = {
  /** Sessions that are open. */
  sessions: number
  /** Models in training. */
  models: number
  checkpoints: number
  /** Checkpoints together. */
  bytes: number
  /** Requests for samples that are not answered yet. */
  samples: number
}

/**
 * `owner`: everything. `user`: what was made with the same key, base models, and checkpoints that were published. `read`: sees and
 * downloads everything, changes and computes nothing.
 */
type KeyRole = 'owner' | 'user' | 'read'

type TrainerKey = { readonly key: string; readonly role: KeyRole; readonly quota?: Partial<Quota> | undefined }

const endless = Number.POSITIVE_INFINITY
const quotas: Readonly<Record<KeyRole, Quota>> = {
  owner: { sessions: endless, models: endless, checkpoints: endless, bytes: endless, samples: 65_536 },
  user: { sessions: 1000, models: 32, checkpoints: 10_000, bytes: endless, samples: 4096 },
  read: { sessions: 0, models: 0, checkpoints: 0, bytes: 0, samples: 0 },
}

/** Keys as people configure them: `KEY`, `owner:KEY`, `user:KEY` or `read:KEY`. One key that stands alone is the owner's. */
export function readKeys(texts: readonly string[], quota?: Partial<Quota>): TrainerKey[] {
  return texts.map((text): TrainerKey => {
    const [, role, key = text] = /^(owner|user|read):(.+)$/s.exec(text) ?? []
    if (role === 'owner' || role === 'read') return { key, role }
    return role === undefined && texts.length === 1 ? { key, role: 'owner' } : { key, role: 'user', quota }
  })
}

type AccessOptions = {
  readonly role: KeyRole
  readonly tenant?: string | undefined
  readonly quota?: Partial<Quota> | undefined
}

export class Access {
  readonly state: TrainerState
  readonly role: KeyRole
  /** Under what its work is kept. Undefined: the owner's, as all that was made before there were keys. */
  readonly tenant: string | undefined
  readonly #quota: Quota

  constructor(state: TrainerState, { role, tenant, quota }: AccessOptions) {
    this.state = state
    this.role = role
    this.tenant = tenant
    this.#quota = { ...quotas[role], ...quota }
  }

  sees(tenant: string | undefined): boolean {
    return this.role !== 'user' || tenant === this.tenant
  }

  get sessions(): Session[] {
    return this.state.sessions.all.filter(({ tenant }) => this.sees(tenant))
  }

  findSession(id: string): Session | undefined {
    const session = this.state.sessions.find(id)
    return session !== undefined && this.sees(session.tenant) ? session : undefined
  }

  /** A live session; this counts as a heartbeat. */
  session(id: string): Session {
    const session = this.state.sessions.find(id)
    if (session !== undefined && !this.sees(session.tenant)) throw notFound(`no session is called ${id}`)
    return this.state.sessions.get(id)
  }

  findModel(id: string): TrainedModel | undefined {
    const model = this.state.models.get(id)
    return model !== undefined && this.sees(model.run.tenant) ? model : undefined
  }

  /** A model in training. Asking for it counts as a sign of life. */
  model(id: string): TrainedModel {
    const { state } = this
    const model = this.findModel(id)
    if (model === undefined) {
      const isKnown = this.run(id) !== undefined
      const unloaded = `${id} is not loaded any more: make a model from one of its checkpoints`
      throw notFound(isKnown ? unloaded : `no model is called ${id}`)
    }
    state.sessions.get(model.run.session_id)
    model.lastRequestMs = state.clock.now()
    return model
  }

  sampler(id: string): Sampler {
    const sampler = this.state.samplers.get(id)
    if (sampler === undefined || this.findSession(sampler.sessionId) === undefined)
      throw notFound(`no sampler is called ${id}`)
    this.state.sessions.get(sampler.sessionId)
    return sampler
  }

  get runs(): RunRecord[] {
    return this.state.checkpoints.runs.filter(({ tenant }) => this.sees(tenant))
  }

  run(id: string): RunRecord | undefined {
    const run = this.state.checkpoints.run(id)
    return run !== undefined && this.sees(run.tenant) ? run : undefined
  }

  /** Checkpoints that have not expired, newest first. */
  checkpoints(runId?: string): CheckpointEntry[] {
    return this.state.checkpoints.list(runId).filter(({ run }) => this.sees(run.tenant))
  }

  /** A checkpoint to read: one of this caller, or one that was published. */
  async checkpoint(path: tinker.TinkerPath): Promise<CheckpointEntry> {
    await this.state.checkpoints.refresh(path)
    const entry = this.state.checkpoints.find(path)
    if (entry !== undefined && (entry.public || this.sees(entry.run.tenant))) return entry
    throw notFound(`there is no checkpoint tinker://${path.runId}/${path.folder}/${path.name}`)
  }

  /** A checkpoint to change: one of this caller. */
  async ownCheckpoint(path: tinker.TinkerPath): Promise<CheckpointEntry> {
    const entry = await this.checkpoint(path)
    if (this.sees(entry.run.tenant)) return entry
    throw new HttpError(403, `${pathOf(entry)} was published by another key: only that one changes it`)
  }

  future(requestId: string): Future {
    const { state } = this
    const future = state.futures.find(requestId)
    if (future instanceof Object && this.sees(future.tenant)) {
      if (future.sessionId !== undefined) state.sessions.get(future.sessionId)
      return future
    }
    const wasThere = future === 'expired' || state.sessions.isPast(requestId) || isLostDirect(requestId)
    if (wasThere) throw new HttpError(410, `the result of ${requestId} is not kept any more: send its request again`)
    throw notFound(`no request is called ${requestId}`)
  }

  checkSessionQuota(): void {
    const { sessions } = this.#quota
    if (sessions === endless || this.state.sessions.countOf(this.tenant) < sessions) return
    throw new HttpError(429, `${sessions} sessions of this key are open, which is its limit: finish some`)
  }

  checkModelQuota(): void {
    const { models } = this.#quota
    const held = [...this.state.models.values()].filter(({ run }) => run.tenant === this.tenant).length
    if (held >= models)
      throw new HttpError(400, `${held} models are in training, which is the limit of this key: unload one first`)
  }

  /** `bytes`: of a checkpoint that is about to be kept. */
  checkCheckpointQuota(bytes = 0): void {
    const { checkpoints, bytes: most } = this.#quota
    if (checkpoints === endless && most === endless) return
    const { count, sizeBytes } = this.state.checkpoints.heldBy(this.tenant)
    if (count >= checkpoints)
      throw new HttpError(400, `this key holds ${count} checkpoints, which is its limit: delete some`)
    if (sizeBytes + bytes > most) {
      throw new HttpError(
        400,
        `the checkpoints of this key would have ${sizeBytes + bytes} bytes and may have ${most}: delete some`,
      )
    }
  }

  checkSampleQuota(): void {
    const { samples } = this.#quota
    if (this.state.queue.countOf(this.tenant) < samples) return
    throw new HttpError(
      429,
      `${samples} requests of this key wait for samples already: send more when some are answered`,
    )
  }
}

// Requests outside of a session are named by chance: one that is unknown here was made in an earlier process.
function isLostDirect(requestId: string): boolean {
  return /^direct:[0-9a-f-]{36}$/.test(requestId)
}

/** What a key with the role `read` may ask besides what is a GET: questions that change nothing. */
const questions = /\/(client\/config|client\/dynamic_config|get_info|weights_info|telemetry)$/

/** Finds out who calls. Without configured keys it is the owner, and pages of other sites are refused. */
export function createGate(state: TrainerState, keys: readonly TrainerKey[]) {
  const owner = new Access(state, { role: 'owner' })
  const known = keys.map(({ key, role, quota }) => {
    // A name that does not reveal the key, and is the same after a restart.
    const tenant = role === 'user' ? digest(`tenant ${key}`).toString('hex').slice(0, 16) : undefined
    return { digest: digest(key), access: new Access(state, { role, tenant, quota }) }
  })
  return (request: Request, path: string, { bearer = false } = {}): Access => {
    if (known.length === 0) {
      refuseOtherSites(request)
      return owner
    }
    const key = keyOf(request, bearer)
    if (key === undefined || key === '') {
      throw new HttpError(401, `send an API key in ${bearer ? 'Authorization: Bearer or ' : ''}X-API-Key`)
    }
    // Hashes are compared in constant time, and all of them, so that the time of an answer reveals nothing about the keys.
    const given = digest(key)
    let found: Access | undefined
    for (const each of known) if (timingSafeEqual(given, each.digest)) found = each.access
    if (found === undefined) throw new HttpError(401, 'the API key is unknown')
    if (found.role === 'read' && request.method !== 'GET' && !questions.test(path)) {
      throw new HttpError(403, 'this key may only read')
    }
    return found
  }
}

const ofThisMachine = /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

// A browser sends what any page asks it to: without a key, its page (Origin) and its address (Host, against rebound names) decide.
function refuseOtherSites({ headers }: Request): void {
  for (const name of ['origin', 'host']) {
    const value = headers.get(name)
    if (value !== null && !ofThisMachine.test(value))
      throw new HttpError(403, `${name} ${value} is not of this machine: set EVSYS_SERVE_KEYS and send one of the keys`)
  }
  if (headers.get('sec-fetch-site') === 'cross-site') {
    throw new HttpError(403, 'a page of another site asks: set EVSYS_SERVE_KEYS and send one of the keys')
  }
}

function keyOf(request: Request, bearer: boolean): string | undefined {
  const own = request.headers.get('x-api-key') ?? undefined
  if (own !== undefined || !bearer) return own
  return /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
