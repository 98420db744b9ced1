// Plugin types as people type them: singular or plural, with - or _.
import { PluginType } from '../contracts/index.ts'
import { EvsysError, suggest, typePlural } from '../kernel/index.ts'

/** Every plugin type in the plural. */
export function pluralTypes(): string[] {
  return PluginType.options.map(typePlural)
}

/** The type that a word names, or an error with the one that was probably meant. */
export function readPluginType(
  word: string,
  { what = 'plugin type', others = [] }: { what?: string; others?: readonly string[] } = {},
): PluginType {
  const wanted = word.toLowerCase().replaceAll('-', '_')
  const found = PluginType.options.find((type) => type === wanted || typePlural(type) === wanted)
  if (found !== undefined) return found
  throw new EvsysError('CLI_USAGE', `there is no ${what} "${word}"`, {
    fix: suggest(word, [...others, ...pluralTypes()], { more: '`evsys list` shows all plugins.' }),
  })
}
