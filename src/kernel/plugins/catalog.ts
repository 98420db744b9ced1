// What is known about every plugin of an experiment, without running any of the project's code in this process.
import type { Location, Notice, PluginCard, PluginType } from '../../contracts/index.ts'
import type { Problem } from '../evsys-error.ts'
import type { ParamsResult } from './check-params.ts'

/** Params to check, and for which plugin. */
export type ParamsCheck = { type: PluginType; kind: string; params?: unknown }

/** A plugin file or package that somebody named: `./lib/dedupe.ts`, `acme-plugins`. */
export type PluginReference = {
  spec: string
  /** Folder that the spec is relative to. */
  from: string
  /** Where it is named, for errors. */
  where?: Location
}

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
  /** What was shadowed. */
  readonly notices: readonly Notice[]
  /** Files that could not be loaded and plugins that could not be used, all of them; the rest of the catalog works. */
  readonly problems: readonly Problem[]
}
