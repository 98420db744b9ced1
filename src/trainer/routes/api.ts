// What every route is handed.
import { Hono } from 'hono'
import * as z from 'zod'
import { checked, type RawBody, readBody, readJson } from '../http/read-request.ts'
import type { TrainerState } from '../state/trainer-state.ts'

export type Api = {
  readonly state: TrainerState
  /** The body of a request, read but not parsed. */
  body(request: Request): Promise<RawBody>
  /** The JSON value of a body, checked. */
  parse<S extends z.ZodType>(raw: RawBody, schema: S): z.output<S>
  /** The JSON body of a request and its hash. */
  json<S extends z.ZodType>(request: Request, schema: S): Promise<{ value: z.output<S>; hash: string }>
}

export function createApi(state: TrainerState): Api {
  const body = (request: Request) => readBody(request, state.limits.bodyBytes)
  const parse: Api['parse'] = (raw, schema) => {
    const value = readJson(raw)
    try {
      return checked(schema, value, 'body')
    } catch (error) {
      useUpNumber(state, value)
      throw error
    }
  }
  return {
    state,
    body,
    parse,
    async json(request, schema) {
      const raw = await body(request)
      return { value: parse(raw, schema), hash: raw.hash }
    },
  }
}

const Numbered = z.object({ model_id: z.string(), seq_id: z.int().min(1) })

// The client of a refused request goes on counting: its number will not come again.
function useUpNumber(state: TrainerState, value: unknown): void {
  const numbered = Numbered.safeParse(value)
  if (numbered.success) state.models.get(numbered.data.model_id)?.gate.skip(numbered.data.seq_id)
}

export type Routes = Hono

export function newRoutes(): Routes {
  return new Hono()
}

const Page = z.object({
  limit: z.coerce.number().int().min(0).max(10_000).default(20),
  offset: z.coerce.number().int().min(0).default(0),
})

/** Which part of a list a query asks for. */
export function page(query: Record<string, string>): z.output<typeof Page> {
  return checked(Page, query, 'query')
}
