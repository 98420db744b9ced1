// What the controller and the process that holds plugins tell each other.
import * as z from 'zod'
import { ErrorRecord, Location, PluginCard, PluginType } from '../../contracts/index.ts'

const Excerpt = z.object({ text: z.string(), line: z.int(), col: z.int(), length: z.int() })

export const WireProblem = ErrorRecord.extend({ excerpt: Excerpt.exactOptional() })

export const PluginFileSchema = z.object({
  file: z.string(),
  label: z.string(),
  rank: z.enum(['project', 'package']),
  root: z.string(),
  where: Location.exactOptional(),
})

/** The first message to the child. */
export const StartMessage = z.object({
  files: z.array(PluginFileSchema),
  projectDir: z.string().exactOptional(),
  timeoutMs: z.number(),
})
export type StartMessage = z.infer<typeof StartMessage>

/** Every further one: params to check. */
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
])
export type ChildMessage = z.infer<typeof ChildMessage>
