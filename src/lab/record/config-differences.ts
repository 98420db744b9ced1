// Where the configurations of runs differ, path by path.
import type { RunConfig } from '../../contracts/index.ts'
import { canonicalJson } from '../../kernel/index.ts'

export interface ConfigDifference {
  readonly path: string
  /** In the order of the configurations; undefined where one has no such value. */
  readonly values: readonly unknown[]
}

/** Paths at which not all have the same value. Names, tags and seeds are not compared: those of runs always differ. */
export function configDifferences(configs: readonly (RunConfig | undefined)[]): ConfigDifference[] {
  const flat = configs.map((config) => (config === undefined ? new Map() : leavesOf(config)))
  const paths = [...new Set(flat.flatMap((leaves) => [...leaves.keys()]))].sort()
  return paths.flatMap((path) => {
    const values = flat.map((leaves) => leaves.get(path))
    const texts = new Set(values.map((value) => (value === undefined ? '' : canonicalJson(value))))
    return texts.size > 1 ? [{ path, values }] : []
  })
}

function leavesOf({ name: _name, tags: _tags, seed: _seed, ...config }: RunConfig): Map<string, unknown> {
  const leaves = new Map<string, unknown>()
  const walk = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      leaves.set(path, value)
      return
    }
    for (const [key, child] of Object.entries(value)) {
      if (child !== undefined) walk(child, path === '' ? key : `${path}.${key}`)
    }
  }
  walk(config, '')
  return leaves
}
