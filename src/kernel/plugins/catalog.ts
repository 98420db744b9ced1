// Every plugin of an experiment, known without running any of the project's code in this process: built-ins are here, the
// project's own live in a child process and are known by their cards. It answers what there is and whether params fit.
import type { AnyPlugin, Location, Notice, PluginCard, PluginType } from '../../contracts/index.ts'
import { EvsysError, type Problem } from '../evsys-error.ts'
import { checkParams, type ParamsCheck, type ParamsResult, pluginCard } from './equip-plugin.ts'
import { builtInHash } from './host-modules.ts'
import { type InspectOptions, inspectPlugins } from './plugin-host.ts'
import { createRegistry, type Found, type Origin, unknownKind } from './registry.ts'

export type CatalogOptions = InspectOptions & { builtins: readonly AnyPlugin[] | Promise<readonly AnyPlugin[]> }

export interface Catalog extends AsyncDisposable {
  /** Kinds of a type in order; a family stands as `pass@{k}`. */
  kinds(type: PluginType): string[]
  /** Cards by type and kind, in order. */
  cards(type?: PluginType): PluginCard[]
  /** The card that a kind leads to: `pass@3` leads to `pass@{k}`. */
  card(type: PluginType, kind: string): PluginCard | undefined
  /** The card of a kind, or `PLUGIN_UNKNOWN` with what was probably meant. */
  require(type: PluginType, kind: string, where?: Location): PluginCard
  /** Whether params fit, in the order asked. An unknown kind is an issue as well. */
  check(requests: readonly ParamsCheck[]): Promise<ParamsResult[]>
  readonly notices: readonly Notice[]
  /** Files that could not be loaded and plugins that could not be used, all of them; the rest of the catalog works. */
  readonly problems: readonly Problem[]
}

/** Opens the catalog of a project. Close it: it may hold a process. */
export async function openCatalog({ builtins, ...options }: CatalogOptions): Promise<Catalog> {
  const [inspected, known] = await Promise.all([inspectPlugins(options), builtins])
  const registry = createRegistry<PluginCard>()
  const own = new Map<PluginCard, AnyPlugin>()
  const problems: Problem[] = [...inspected.problems]

  for (const plugin of known) {
    const card = pluginCard(plugin, { origin: 'built-in', hash: builtInHash(plugin) })
    own.set(card, plugin)
    registry.add(card, { rank: 'built-in', label: 'built-in' })
  }
  const add = (card: PluginCard, origin: Origin) => {
    try {
      registry.add(card, origin)
    } catch (error) {
      if (!EvsysError.is(error)) throw error
      problems.push(...error.problems)
    }
  }
  for (const { card, origin } of inspected.plugins) add(card, origin)

  const checkOwn = ({ plugin: card, params: fixed }: Found<PluginCard>, params: unknown): ParamsResult | undefined => {
    const plugin = own.get(card)
    return plugin === undefined ? undefined : checkParams(plugin, params, fixed)
  }

  return {
    notices: registry.notices,
    problems,
    kinds: (type) => registry.kinds(type),
    cards: (type) => registry.list(type).map(({ plugin }) => plugin),
    card: (type, kind) => registry.find(type, kind)?.plugin,
    require: (type, kind, where) => registry.get(type, kind, where).plugin,

    async check(requests) {
      const here = requests.map(({ type, kind, params }): ParamsResult | undefined => {
        const found = registry.find(type, kind)
        return found === undefined ? unknown(type, kind, registry.kinds(type)) : checkOwn(found, params)
      })
      const elsewhere = await inspected.check(requests.filter((_request, index) => here[index] === undefined))
      const answers = elsewhere.values()
      return here.map((result) => result ?? answers.next().value ?? { ok: false, issues: [] })
    },

    [Symbol.asyncDispose]: () => inspected[Symbol.asyncDispose](),
  }
}

function unknown(type: PluginType, kind: string, known: readonly string[]): ParamsResult {
  const { message } = unknownKind(type, kind, known)
  return { ok: false, issues: [{ path: [], code: 'invalid', message, known: [...known] }] }
}
