// What built-in plugins are handed outside of runs: the controller trusts them, and they see the secrets that they name.

import { builtins } from '../../builtins/index.ts'
import {
  createRegistry,
  EvsysError,
  keyedRandom,
  longWaits,
  type PluginServices,
  type SecretSource,
  sayWarnings,
} from '../../kernel/index.ts'

/** Draws are keyed by the seed. */
export async function builtinServices(options: {
  readonly seed: number
  /** Absent: no secret is set. */
  readonly secretSource?: Pick<SecretSource, 'get'> | undefined
}): Promise<Omit<PluginServices, 'signal'>> {
  const registry = createRegistry()
  for (const plugin of await builtins()) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  return {
    registry,
    random: (...path) => keyedRandom(options.seed, ...path),
    log: sayWarnings((text) => longWaits.publish(text)),
    address: (name) => options.secretSource?.get(name),
    secret(name) {
      const value = options.secretSource?.get(name)
      if (value !== undefined && value.trim() !== '') return value
      throw new EvsysError('SECRET_MISSING', `the secret ${name} is not set`, {
        fix: `set ${name} in the environment or in the project’s .env.`,
      })
    },
  }
}
