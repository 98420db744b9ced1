// What the controller and the process that holds plugins send each other. The controller believes it no further than its schema goes.
import * as z from 'zod'
import { ErrorRecord, Location, PluginCard, PluginType } from '../../contracts/index.ts'

/** What the child may take in all. */
export const memoryMb = 1536

const Excerpt = z.object({ text: z.string(), line: z.int(), col: z.int(), length: z.int() })

const WireProblem = ErrorRecord.extend({ excerpt: Excerpt.optional() })

const WireFile = z.object({
  file: z.string(),
  label: z.string(),
  rank: z.enum(['project', 'package']),
  root: z.string(),
  where: Location.optional(),
})

const Start = z.object({
  files: z.array(WireFile),
  projectDir: z.string().optional(),
  timeoutMs: z.number(),
})
export type Start = z.infer<typeof Start>

const Checks = z.array(z.object({ index: z.int(), type: PluginType, kind: z.string(), params: z.unknown().optional() }))
export type Checks = z.infer<typeof Checks>

const ValueIssue = z.object({
  path: z.array(z.union([z.string(), z.number()])),
  code: z.enum(['unknown_key', 'invalid']),
  message: z.string(),
  keys: z.array(z.string()).optional(),
  known: z.array(z.string()).optional(),
})

const ParamsResult = z.union([
  z.object({ ok: z.literal(true), value: z.unknown().default(undefined), minSamples: z.int().optional() }),
  z.object({ ok: z.literal(false), issues: z.array(ValueIssue) }),
])

const Loaded = z.object({
  index: z.int(),
  plugins: z.array(z.object({ card: PluginCard, where: Location })),
  problems: z.array(WireProblem),
})
export type Loaded = z.infer<typeof Loaded>

export const pluginProtocol = {
  child: {
    load: { params: Start, result: z.null() },
    check: { params: Checks, result: z.null() },
  },
  // All of it is progress: a plugin may end the process at any moment, and what came before holds.
  parent: {
    /** The hash of every file, before the first of them runs. */
    hashes: { params: z.array(z.string()) },
    /** It begins to read a file, or to run it. */
    loading: { params: z.int() },
    loaded: { params: Loaded },
    checking: { params: z.int() },
    checked: { params: z.object({ index: z.int(), result: ParamsResult }) },
    /** The end is near: a plugin ended the process, or threw where nothing catches it. */
    failing: { params: z.array(WireProblem) },
  },
} as const
