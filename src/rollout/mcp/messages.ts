// The messages of the Model Context Protocol that a caller of tools needs: JSON-RPC 2.0 as its public specification has it.
import * as z from 'zod'

/** Versions of the protocol that are understood, newest first. The first is asked for. */
export const protocolVersions = ['2025-06-18', '2025-03-26', '2024-11-05'] as const

const Id = z.union([z.string(), z.number(), z.null()])

/** What a server sends: an answer, a question, or a notice. */
export const Incoming = z.union([
  z.looseObject({
    id: Id,
    error: z.looseObject({ code: z.number(), message: z.string() }),
    method: z.undefined().optional(),
  }),
  z.looseObject({ id: Id, result: z.record(z.string(), z.unknown()), method: z.undefined().optional() }),
  z.looseObject({ id: Id.optional(), method: z.string() }),
])
export type Incoming = z.infer<typeof Incoming>

export interface Outgoing {
  readonly jsonrpc: '2.0'
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
}

export const Initialized = z.looseObject({ protocolVersion: z.string() })

export const ToolList = z.looseObject({
  tools: z.array(
    z.looseObject({
      name: z.string().min(1),
      description: z.string().optional(),
      inputSchema: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
  nextCursor: z.string().optional(),
})

export const ToolAnswer = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
})
export type ToolAnswer = z.infer<typeof ToolAnswer>
