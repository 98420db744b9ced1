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
  projectId: string | undefined
  /** Time since its last request, as the trainer counts: a clock that is set, or a machine that slept, ends nothing. */
  silentMs: number
}

/** Long after any client has given up asking for its results. */
const rememberedMs = 7 * 24 * 3600 * 1000

export class Sessions {
  readonly #folder: string | undefined
  readonly #clock: Clock
  readonly #sessions = new Map<string, Session>()
  /** Sessions of earlier processes, and those that have ended: their results are lost, but were there. */
  readonly #past: Set<string>

  private constructor(folder: string | undefined, clock: Clock, past: Iterable<string>) {
    this.#folder = folder
    this.#clock = clock
    this.#past = new Set(past)
  }

  /** Without a folder no later process knows of them. */
  static async open(folder: string | undefined, clock: Clock): Promise<Sessions> {
    if (folder === undefined) return new Sessions(undefined, clock, [])
    try {
      await mkdir(folder, { recursive: true })
      const past: string[] = []
      for (const id of await readdir(folder)) {
        const { mtimeMs } = await stat(join(folder, id))
        if (mtimeMs < clock.now() - rememberedMs) await rm(join(folder, id), { force: true })
        else past.push(id)
      }
      return new Sessions(folder, clock, past)
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
    const held = { modelIds: new Set<string>(), samplerIds: new Set<string>() }
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
    if (session === undefined) throw notFound(`no session is called ${id}${this.#past.has(id) ? ' any more' : ''}`)
    session.silentMs = 0
    return session
  }

  /** Whether results under this id may have been issued by a session that is over. */
  isPast(requestId: string): boolean {
    return this.#past.has(requestId.split(':', 1)[0] ?? '')
  }

  end(session: Session): void {
    this.#sessions.delete(session.id)
    this.#past.add(session.id)
  }

  /** Lets time pass; returns the sessions that were silent for so long. */
  pass(ms: number, longestMs: number): Session[] {
    for (const session of this.#sessions.values()) session.silentMs += ms
    return this.all.filter(({ silentMs }) => silentMs >= longestMs)
  }
}
