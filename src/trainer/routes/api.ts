// What every route is handed.
import { Hono } from 'hono'
import type * as z from 'zod'
import { parseJson, type RawBody, readBody } from '../http/read-body.ts'
import type { TrainerState } from '../state/trainer-state.ts'

export type Api = {
  readonly state: TrainerState
  /** The body of a request, read but not parsed. */
  body(request: Request): Promise<RawBody>
  /** The JSON body of a request and its hash. */
  json<S extends z.ZodType>(request: Request, schema: S): Promise<{ value: z.output<S>; hash: string }>
}

export function createApi(state: TrainerState): Api {
  const body = (request: Request) => readBody(request, state.limits.bodyBytes)
  return {
    state,
    body,
    async json(request, schema) {
      const raw = await body(request)
      return { value: parseJson(schema, raw), hash: raw.hash }
    },
  }
}

export type Routes = Hono

export function newRoutes(): Routes {
  return new Hono()
}
