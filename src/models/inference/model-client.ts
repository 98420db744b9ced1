// Models by name alone, as `benchmark.models` and judges write them.
import type { PluginSpec } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

const explicit = /^(anthropic|openai|gemini|tinker|local|mock):(.+)$/s
const families: readonly (readonly [RegExp, string])[] = [
  [/^claude-/, 'anthropic'],
  [/^(gpt-|chatgpt-|o\d)/, 'openai'],
  [/^gemini-/, 'gemini'],
  [/^evsys\//, 'local'],
]

/**
 * The client for a model that is known by its name: `claude-sonnet-4-6`, `gpt-5`, `gemini-2.5-pro`, `evsys/tiny`, or with its
 * client in front, `openai:my-model`. Any other model needs a client that is written out.
 */
export function modelClient(name: string): PluginSpec {
  const [, kind = families.find(([pattern]) => pattern.test(name))?.[1], model = name] = explicit.exec(name) ?? []
  if (kind !== undefined) return { kind, params: { model } }
  throw new EvsysError('CONFIG_INVALID', `nothing tells by which client "${name}" is reached`, {
    fix: 'put the client in front, as in openai:NAME or anthropic:NAME; a server of your own is written out as { kind: openai_compatible, params: { model, base_url } }.',
  })
}
