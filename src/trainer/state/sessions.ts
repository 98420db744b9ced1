// Sessions: what a client holds here, for as long as it sends requests or heartbeats.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, fileError } from '../../kernel/index.ts'
import { notFound } from '../http/http-error.ts'

export interface Session {
  readonly id: string
  readonly createdMs: number
  readonly userMetadata: Readonly<Record<string, unknown>>
  /** Who opened it; undefined: the owner of the trainer. */
  readonly tenant: string | undefined
  readonly modelIds: Set<string>
  readonly samplerIds: Set<string>
  /** Whether anything was made in it: results of it may be asked for after it has ended. */
  isUsed: boolean
  projectId: string | undefined
  /** Time since its last request, as the trainer counts: a clock that is set, or a machine that slept, ends nothing. */
  silentMs: number
}

/** Long after any client has given up asking for its results. */
const rememberedMs = 7 * 24 * 3600 * 1000
/** Of each key, and of those of earlier processes. */
const mostRemembered = 1000

export class Sessions {
  readonly #folder: string | undefined
  readonly #clock: Clock
  readonly #sessions = new Map<string, Session>()
  /** Sessions that have ended, oldest first, by key: their results are lost, but were there. */
  readonly #past = new Map<string | undefined, Set<string>>()
  /** Those of earlier processes. */
  readonly #earlier: ReadonlySet<string>

  private constructor(folder: string | undefined, clock: Clock, earlier: Iterable<string>) {
    this.#folder = folder
    this.#clock = clock
    this.#earlier = new Set(earlier)
  }

  /** Without a folder no later process knows of them. */
  static async open(folder: string | undefined, clock: Clock): Promise<Sessions> {
    if (folder === undefined) return new Sessions(undefined, clock, [])
    try {
      await mkdir(folder, { recursive: true })
      const known: { id: string; mtimeMs: number }[] = []
      for (const id of await readdir(folder)) known.push({ id, mtimeMs: (await stat(join(folder, id))).mtimeMs })
      known.sort((a, b) => b.mtimeMs - a.mtimeMs)
      const kept = known.slice(0, mostRemembered).filter(({ mtimeMs }) => mtimeMs >= clock.now() - rememberedMs)
      for (const { id } of known.slice(kept.length)) await rm(join(folder, id), { force: true })
      return new Sessions(
        folder,
        clock,
        kept.map(({ id }) => id),
      )
    } catch (cause) {
      throw fileError('read', folder, cause)
    }
  }

  async create(options: {
    projectId?: string | undefined
    userMetadata: Record<string, unknown>
    tenant: string | undefined
  }): Promise<Session> {
    const id = randomUUID()
    if (this.#folder !== undefined) {
      const file = join(this.#folder, id)
      await writeFile(file, '').catch((cause) => Promise.reject(fileError('write', file, cause)))
    }
    const { userMetadata, projectId, tenant } = options
    const held = { modelIds: new Set<string>(), samplerIds: new Set<string>(), isUsed: false }
    const session: Session = { id, createdMs: this.#clock.now(), silentMs: 0, userMetadata, tenant, projectId, ...held }
    this.#sessions.set(id, session)
    return session
  }

  get all(): readonly Session[] {
    return [...this.#sessions.values()]
  }

  find(id: string): Session | undefined {
    return this.#sessions.get(id)
  }

  /** A live session; this counts as a heartbeat. */
  get(id: string): Session {
    const session = this.#sessions.get(id)
    if (session === undefined) throw notFound(`no session is called ${id}${this.isPast(id) ? ' any more' : ''}`)
    session.silentMs = 0
    return session
  }

  /** Whether results under this id may have been issued by a session that is over. */
  isPast(requestId: string): boolean {
    const id = requestId.split(':', 1)[0] ?? ''
    return this.#earlier.has(id) || [...this.#past.values()].some((ids) => ids.has(id))
  }

  /** Ends it. Of those in which something was made, the last ones of each key are remembered. */
  async end({ id, tenant, isUsed }: Session): Promise<void> {
    this.#sessions.delete(id)
    if (!isUsed) return await this.#forget(id)
    const past = this.#past.get(tenant) ?? new Set()
    this.#past.set(tenant, past.add(id))
    const [oldest] = past
    if (past.size <= mostRemembered || oldest === undefined) return
    past.delete(oldest)
    await this.#forget(oldest)
  }

  async #forget(id: string): Promise<void> {
    if (this.#folder !== undefined) await rm(join(this.#folder, id), { force: true })
  }

  /** How many a key holds open. */
  countOf(tenant: string | undefined): number {
    return this.all.filter((session) => session.tenant === tenant).length
  }

  /** Lets time pass; returns the sessions that were silent for so long. */
  pass(ms: number, longestMs: number): Session[] {
    for (const session of this.#sessions.values()) session.silentMs += ms
    return this.all.filter(({ silentMs }) => silentMs >= longestMs)
  }
}
