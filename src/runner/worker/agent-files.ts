// The files of the project that the agent of a run brings: itself, its tools, a user that is a function. They are no plugins of the
// registry, and are part of the code that a run is made by all the same.
import { isAbsolute, relative, sep } from 'node:path'
import type { PluginSpec } from '../../contracts/index.ts'
import { readPluginGraph } from '../../kernel/index.ts'

/** Hashes by name, over each file and everything that it imports. One that cannot be read is told when it is loaded. */
export function agentFileHashes(agent: PluginSpec | undefined, projectDir: string): Record<string, string> {
  if (agent === undefined) return {}
  const { tools, user } = agent.params
  const named = [agent.kind, ...(Array.isArray(tools) ? tools : []), user]
  const files = named.flatMap((each: unknown) => (typeof each === 'string' ? (each.split('#')[0] ?? []) : []))
  const hashes: Record<string, string> = {}
  for (const file of new Set(files)) {
    if (!isAbsolute(file)) continue
    try {
      const name = relative(projectDir, file).split(sep).join('/')
      hashes[`file ${name}`] = readPluginGraph(file, { root: projectDir }).hash
    } catch {
      // it is missing or no code
    }
  }
  return hashes
}
