import * as z from 'zod'
import { checked } from '../http/read-body.ts'

const Page = z.object({
  limit: z.coerce.number().int().min(0).max(10_000).default(20),
  offset: z.coerce.number().int().min(0).default(0),
})

/** Which part of a list a query asks for. */
export function page(query: Record<string, string>): z.output<typeof Page> {
  return checked(Page, query, 'query')
}
