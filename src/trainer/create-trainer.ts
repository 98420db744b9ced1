// The trainer: a Tinker-protocol server around any engine, as a function from requests to responses. It listens nowhere and
// starts no process; `serveTrainer` puts it on a port.
import { Hono } from 'hono'
import type { Result } from 'hono/router'
import { LinearRouter } from 'hono/router/linear-router'
import { getPath } from 'hono/utils/url'
import { type ArchiveFiles, plainFiles } from './archive/archive-files.ts'
import { errorResponse, HttpError } from './http/http-error.ts'
import { PlainResponse, plainRequest } from './http/in-process.ts'
import { openAiRoutes } from './openai/openai-routes.ts'
import { createApi, type Env } from './routes/api.ts'
import { addFutureRoutes, addModelRoutes } from './routes/model-routes.ts'
import { addRunRoutes } from './routes/run-routes.ts'
import { addSessionRoutes } from './routes/session-routes.ts'
import { Access, createGate, type Quota, readKeys } from './state/access.ts'
import { type TrainerOptions as StateOptions, TrainerState } from './state/trainer-state.ts'

export type TrainerOptions = StateOptions & {
  /**
   * Keys that clients must know: `KEY`, `owner:KEY`, `user:KEY` or `read:KEY`. Empty: none is needed; only for a trainer that this
   * machine alone can reach.
   */
  keys?: readonly string[] | undefined
  /** What each key of a user may hold. */
  quota?: Partial<Quota> | undefined
  /** How a downloaded checkpoint is written. */
  archiveFiles?: ArchiveFiles | undefined
}

export interface Trainer extends AsyncDisposable {
  /** Answers a request; never throws. */
  fetch(request: Request): Promise<Response>
  /** The same for a client in this process, as the `fetch` that it is given. */
  fetchInProcess(url: string, init: RequestInit): Promise<Pick<PlainResponse, 'status' | 'headers' | 'body'> | Response>
}

/** Opens a trainer. Closing it ends what waits; the engine is the opener's to close. */
export async function createTrainer(options: TrainerOptions): Promise<Trainer> {
  const { keys = [], quota, archiveFiles = plainFiles } = options
  const state = await TrainerState.open(options)
  const nobody = new Access(state, { role: 'user', tenant: 'nobody' })
  const api = createApi(state)
  const gate = createGate(state, readKeys(keys, quota))
  const app = new Hono<Env>({ router: new FixedRouter() })
  const answer = async (request: Request): Promise<Response | PlainResponse> => {
    const path = getPath(request)
    try {
      // Health is for monitoring; an archive's address is signed.
      const isOpen = !/^(\/api|\/v1)(\/|$)/.test(path) || /^\/api\/v1\/(healthz$|archives\/)/.test(path)
      const access = isOpen ? nobody : gate(request, path, { bearer: path.startsWith('/v1') })
      return await app.fetch(request, access)
    } catch (error) {
      return errorResponse(error)
    } finally {
      state.bodies.release(request)
    }
  }
  for (const add of [addSessionRoutes, addModelRoutes, addFutureRoutes]) add(api)
  addRunRoutes(api, archiveFiles)
  app.route('/api/v1', api.routes)
  app.route('/v1', openAiRoutes(api))
  app.notFound((c) => errorResponse(new HttpError(404, `there is no ${c.req.method} ${c.req.path}`)))
  app.onError((error, c) => {
    if (c.req.raw.signal.aborted) return errorResponse(new HttpError(499, 'the client is gone'))
    state.onFault(error)
    return errorResponse(error)
  })
  return {
    async fetch(request) {
      const response = await answer(request)
      return response instanceof PlainResponse ? response.toResponse() : response
    },
    fetchInProcess: (url, init) => answer(plainRequest(url, init)),
    [Symbol.asyncDispose]: () => state.close(),
  }
}

// A mock run opens a trainer and sends it few requests: adding routes must be cheap, and so must be finding the first of them. Nearly
// all are fixed paths.
class FixedRouter<T> extends LinearRouter<T> {
  readonly #fixed = new Map<string, Result<T>>()

  override add(method: string, path: string, handler: T): void {
    super.add(method, path, handler)
    if (!/[:*?]/.test(path)) this.#fixed.set(`${method} ${path}`, [[[handler, Object.create(null)]]])
  }

  override match(method: string, path: string): Result<T> {
    return this.#fixed.get(`${method} ${path}`) ?? super.match(method, path)
  }
}
