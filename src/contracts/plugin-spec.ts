// How a YAML file names a plugin: a kind and its params. The params are checked by the plugin's own schema.
import * as z from 'zod'

/** Name under which a plugin is registered: `sft`, `pass@3`, `acme/dedupe`. */
export const Kind = z
  .string()
  .regex(/^[A-Za-z][\w@^+./-]*$/, 'a kind starts with a letter and holds letters, digits and _ @ ^ + . / -')
  .describe('Registered name; `evsys list` shows them.')
export type Kind = z.infer<typeof Kind>

export const Params = z.record(z.string(), z.unknown()).describe('Checked by the schema of the named plugin.')
export type Params = z.infer<typeof Params>

export const PluginSpec = z.strictObject({ kind: Kind, params: Params.default({}) })
export type PluginSpec = z.infer<typeof PluginSpec>

/** The kinds of things that can be plugged in. One registry table each. */
export const PluginType = z.enum([
  'algorithm',
  'backend',
  'transform',
  'data_source',
  'data_store',
  'log_store',
  'metric',
  'verifier',
  'inference_client',
  'callback',
  'deployer',
  'agent',
  'environment',
  'renderer',
  'proposer',
  'strategy',
  'keep_rule',
  'provider',
  'trace_source',
])
export type PluginType = z.infer<typeof PluginType>
