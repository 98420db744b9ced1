// Plugins by type and kind. Built-ins are simply the first ones in it. The project's own shadow the rest, with a notice; two
// of equal rank are an error. It holds whatever has a type and a kind: plugins in a worker, their cards in the controller.
import type { AnyPlugin, Location, Notice, PluginType } from '../../contracts/index.ts'
import { EvsysError } from '../evsys-error.ts'
import { suggest } from '../suggest.ts'
import { typeLabel, typePlural } from './check-plugin.ts'

/** Where a plugin came from. Of two with the same kind, the higher rank wins. */
export type Origin = {
  rank: 'built-in' | 'package' | 'project'
  /** `built-in`, a file as people write it, or a package. */
  label: string
  /** The place of its definition, where errors point to. */
  where?: Location | undefined
}

type Entry = { readonly type: PluginType; readonly kind: string }

/** A plugin that a kind leads to. */
export type Found<E> = {
  plugin: E
  origin: Origin
  /** What the kind itself says, of a family: `pass@3` is `{ k: 3 }`. */
  params: Readonly<Record<string, number>>
}

export interface Registry<E extends Entry = AnyPlugin> {
  /** Adds a plugin, or throws: a package's kind without prefix, or a kind that is taken by an equal rank. */
  add(plugin: E, origin: Origin): void
  /** The plugin of a kind. An exact kind wins over a family. */
  find<T extends PluginType>(type: T, kind: string): Found<E & { readonly type: T }> | undefined
  /** The plugin of a kind, or `PLUGIN_UNKNOWN` with what was probably meant. */
  get<T extends PluginType>(type: T, kind: string, where?: Location): Found<E & { readonly type: T }>
  /** Kinds in order, as they were defined: a family stands as `pass@{k}`. */
  kinds(type: PluginType): string[]
  /** Plugins by type and kind, in order. */
  list(type?: PluginType): { plugin: E; origin: Origin }[]
  readonly notices: readonly Notice[]
}

/** A new registry; there is no global one. */
export function createRegistry<E extends Entry = AnyPlugin>(): Registry<E> {
  const tables = new Map<PluginType, Map<string, { plugin: E; origin: Origin }>>()
  const notices: Notice[] = []

  const tableOf = (type: PluginType) => {
    const table = tables.get(type) ?? new Map<string, { plugin: E; origin: Origin }>()
    tables.set(type, table)
    return table
  }

  const registry: Registry<E> = {
    notices,

    add(plugin, origin) {
      if (origin.rank === 'package' && !plugin.kind.includes('/')) throw unprefixed(plugin, origin)
      const table = tableOf(plugin.type)
      const key = familyKey(plugin.kind)
      const old = table.get(key)
      if (old?.plugin === plugin) return // one plugin, exported by two files
      if (old?.origin.rank === origin.rank) throw conflict(plugin, old.origin, origin)
      const isStronger = old === undefined || rankOf(origin) > rankOf(old.origin)
      if (isStronger) table.set(key, { plugin, origin })
      if (old !== undefined)
        notices.push(isStronger ? shadowing(plugin, origin, old.origin) : shadowing(plugin, old.origin, origin))
    },

    find(type, kind) {
      const table = tables.get(type)
      // A table holds plugins of its type alone: tableOf(plugin.type) above.
      const typed = (plugin: E) => plugin as E & { readonly type: typeof type }
      const exact = table?.get(familyKey(kind))
      if (exact?.plugin.kind === kind) return { plugin: typed(exact.plugin), origin: exact.origin, params: {} }
      const matches = [...(table?.values() ?? [])].flatMap(({ plugin, origin }) => {
        const params = matchFamily(plugin.kind, kind)
        return params === undefined ? [] : [{ plugin: typed(plugin), origin, params }]
      })
      // `top1{k}` says more about `top15` than `top{k}` does.
      return matches.sort((a, b) => b.plugin.kind.length - a.plugin.kind.length)[0]
    },

    get(type, kind, where) {
      const found = registry.find(type, kind)
      if (found === undefined) throw unknownKind(type, kind, registry.kinds(type), where)
      return found
    },

    kinds: (type) => registry.list(type).map(({ plugin }) => plugin.kind),

    list: (type) =>
      [...tables.entries()]
        .filter(([each]) => type === undefined || each === type)
        .flatMap(([, table]) => [...table.values()])
        .sort((a, b) => compare(a.plugin.type, b.plugin.type) || compare(a.plugin.kind, b.plugin.kind)),
  }
  return registry
}

export function unknownKind(type: PluginType, kind: string, known: readonly string[], where?: Location): EvsysError {
  const more = `\`evsys list ${typePlural(type)}\` describes them.`
  return new EvsysError('PLUGIN_UNKNOWN', `no ${typeLabel(type)} is called "${kind}"`, {
    where,
    fix: suggest(kind, known, known.length === 0 ? {} : { more }),
  })
}

function rankOf({ rank }: Origin): number {
  return ['built-in', 'package', 'project'].indexOf(rank)
}

function shadowing({ type, kind }: Entry, winner: Origin, loser: Origin): Notice {
  const whose = loser.rank === 'built-in' ? 'the built-in' : `the one of ${loser.label}`
  return {
    text: `${typeLabel(type)} "${kind}" of ${winner.label} shadows ${whose}`,
    where: winner.where,
  }
}

function conflict({ type, kind }: Entry, first: Origin, second: Origin): EvsysError {
  const files = first.label === second.label ? `twice by ${first.label}` : `by ${first.label} and by ${second.label}`
  return new EvsysError('PLUGIN_CONFLICT', `${typeLabel(type)} "${kind}" is defined ${files}`, {
    where: second.where,
    fix: 'rename or remove one of them.',
  })
}

function unprefixed({ type, kind }: Entry, { label, where }: Origin): EvsysError {
  const prefix = label.replace(/^@/, '').split('/')[0] ?? label
  return new EvsysError('PLUGIN_INVALID', `${typeLabel(type)} "${kind}" of the package ${label} has no prefix`, {
    where,
    fix: `a package prefixes its kinds, so that two packages do not collide: "${prefix}/${kind}".`,
  })
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

// Kinds that leave a number open: `pass@{k}` stands for pass@1, pass@2, ... and the number arrives in the params as `k`.
const open = /\{(\w+)\}/

/** What a kind says about its family: the params in `pass@3` for `pass@{k}`, undefined where it does not belong to it. */
function matchFamily(family: string, kind: string): Record<string, number> | undefined {
  const [before = '', name, after = ''] = family.split(open)
  if (name === undefined || !kind.startsWith(before) || !kind.endsWith(after)) return undefined
  const digits = kind.slice(before.length, kind.length - after.length)
  // No leading zero: a number has one spelling, and a metric one name.
  return /^[1-9]\d*$/.test(digits) && Number.isSafeInteger(Number(digits)) ? { [name]: Number(digits) } : undefined
}

/** Equal for kinds that stand for the same names: `pass@{k}` and `pass@{n}`. */
function familyKey(kind: string): string {
  return kind.replace(open, '{}')
}
