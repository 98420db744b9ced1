// What the controller and the process that holds plugins tell each other: one JSON document per line, over pipes of their own.
// Every line of the child begins with a token that only our side of the child knows, so nothing that a plugin writes, wherever
// it writes it, is taken for a message; and the controller believes a message no further than its schema goes.
import * as z from 'zod'
import { ErrorRecord, Location, PluginCard, PluginType } from '../../contracts/index.ts'

/** The child writes here. */
export const outputFd = 3
/** The child reads here; its end is the end of the child. */
export const inputFd = 4

const Excerpt = z.object({ text: z.string(), line: z.int(), col: z.int(), length: z.int() })

export const WireProblem = ErrorRecord.extend({ excerpt: Excerpt.exactOptional() })

export const PluginFileSchema = z.object({
  file: z.string(),
  label: z.string(),
  rank: z.enum(['project', 'package']),
  root: z.string(),
  where: Location.exactOptional(),
})

/** The first line that the child reads. */
export const StartMessage = z.object({
  token: z.string(),
  files: z.array(PluginFileSchema),
  projectDir: z.string().exactOptional(),
  timeoutMs: z.number(),
})
export type StartMessage = z.infer<typeof StartMessage>

/** Every further line: params to check. */
export const CheckMessage = z.object({
  requests: z.array(z.object({ index: z.int(), type: PluginType, kind: z.string(), params: z.unknown() })),
})
export type CheckMessage = z.infer<typeof CheckMessage>

const ValueIssue = z.object({
  path: z.array(z.union([z.string(), z.number()])),
  code: z.enum(['unknown_key', 'invalid']),
  message: z.string(),
  keys: z.array(z.string()).exactOptional(),
  known: z.array(z.string()).exactOptional(),
})

const ParamsResult = z.union([
  z.object({ ok: z.literal(true), value: z.unknown(), minSamples: z.int().exactOptional() }),
  z.object({ ok: z.literal(false), issues: z.array(ValueIssue) }),
])

/** What the child says. */
export const ChildMessage = z.discriminatedUnion('say', [
  /** The hash of every file, before the first of them runs. */
  z.object({ say: z.literal('hashes'), hashes: z.array(z.string()) }),
  z.object({ say: z.literal('loading'), index: z.int() }),
  z.object({
    say: z.literal('loaded'),
    index: z.int(),
    plugins: z.array(z.object({ card: PluginCard, where: Location })),
    problems: z.array(WireProblem),
  }),
  z.object({ say: z.literal('ready') }),
  z.object({ say: z.literal('checking'), index: z.int() }),
  z.object({ say: z.literal('checked'), index: z.int(), result: ParamsResult }),
  /** The end is near: a plugin ended the process, or threw where nobody catches. */
  z.object({ say: z.literal('failing'), problems: z.array(WireProblem) }),
  /** The end is near: a plugin does not return. From the watchdog, with the line where it was found. */
  z.object({ say: z.literal('stuck'), file: z.string().exactOptional(), line: z.int().exactOptional() }),
])
export type ChildMessage = z.infer<typeof ChildMessage>

/** JSON that also carries NaN and the infinities, which YAML has. */
export function toWire(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'number' && !Number.isFinite(each) ? { [numberKey]: String(each) } : each,
  )
}

export function fromWire(text: string): unknown {
  return JSON.parse(text, (_key, each: unknown) => {
    const number: unknown = typeof each === 'object' && each !== null ? Reflect.get(each, numberKey) : undefined
    return typeof number === 'string' ? Number(number) : each
  })
}

const numberKey = '\u0000number'
