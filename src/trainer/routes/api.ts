// What every route is handed. Who calls is in the environment of a request: what a route looks up, it looks up through that.
import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { jsonResponse } from '../http/in-process.ts'
import { checked, type RawBody, readBody, readJson } from '../http/read-request.ts'
import type { Access } from '../state/access.ts'
import type { TrainerState } from '../state/trainer-state.ts'

export type Api = ReturnType<typeof createApi>

export type Env = { Bindings: Access }

export function createApi(state: TrainerState) {
  const routes = new Hono<Env>()
  /** The body of a request, read but not parsed. */
  const body = ({ req: { raw }, env: { tenant } }: Context<Env>) =>
    readBody(raw, state.limits.bodyBytes, (bytes) => state.bodies.take(raw, tenant, bytes))
  /** The JSON value of a body, checked. */
  const parse = <S extends z.ZodType>(access: Access, raw: RawBody, schema: S): z.output<S> => {
    const value = readJson(raw, state.limits.jsonBytes)
    try {
      return checked(schema, value, 'body')
    } catch (error) {
      useUpNumber(access, value)
      throw error
    }
  }
  /** The JSON body of a request and its hash, which is computed when asked for. */
  const json = async <S extends z.ZodType>(c: Context<Env>, schema: S) => {
    const raw = await body(c)
    return { value: parse(c.env, raw, schema), hash: raw.hash }
  }
  /** Adds a route from a JSON body to a JSON value. */
  const post = <S extends z.ZodType>(
    path: string,
    schema: S,
    answer: (value: z.output<S>, access: Access, hash: () => string) => unknown,
  ) =>
    routes.post(path, async (c) => {
      const { value, hash } = await json(c, schema)
      return jsonResponse(await answer(value, c.env, hash))
    })
  return { state, routes, body, parse, json, post }
}

const Numbered = z.object({ model_id: z.string(), seq_id: z.int().min(1) })

// The client of a refused request continues to count: its number will not come again.
function useUpNumber(access: Access, value: unknown): void {
  const numbered = Numbered.safeParse(value)
  if (numbered.success) access.findModel(numbered.data.model_id)?.gate.skip(numbered.data.seq_id)
}

const Page = z.object({
  limit: z.coerce.number().int().min(0).max(10_000).default(20),
  offset: z.coerce.number().int().min(0).default(0),
})

/** Which part of a list a query asks for. */
export function page(query: Record<string, string>): z.output<typeof Page> {
  return checked(Page, query, 'query')
}
