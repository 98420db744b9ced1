import type { GenerateRequest, PluginSpec } from '../../contracts/index.ts'
import { hashOf } from '../../kernel/index.ts'

// What changes how an answer is fetched, and not the answer. Keys and headers may be secrets: they are never part of a cassette.
const incidental = ['api_key', 'timeout_s', 'max_attempts', 'retry_wait_s', 'extra_headers', 'price'] as const

/** A client as a cassette knows it: its kind, and the params that decide its answers. */
export function cassetteClient({ kind, params }: PluginSpec): PluginSpec {
  const deciding = Object.entries(params).filter(([name]) => !incidental.some((each) => each === name))
  return { kind, params: Object.fromEntries(deciding) }
}

/** The hash under which an answer is kept: of client and request as canonical JSON, the seed included. */
export function cassetteKey(client: PluginSpec, request: GenerateRequest): string {
  return hashOf({ client, request })
}
