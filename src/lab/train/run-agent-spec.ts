// The agent of a run: what `agent` names, or `agent_import_path` of its recipe, which may lead to an export of a file or to a
// class in Python.
import { isAbsolute } from 'node:path'
import { type PluginSpec, pythonClass, type RunConfig } from '../../contracts/index.ts'
import { EvsysError, loadExport, type Registry } from '../../kernel/index.ts'

/** Absent: the run names none. A file stands in place of a kind. */
export function agentOf({ agent, algorithm }: Pick<RunConfig, 'agent' | 'algorithm'>): PluginSpec | undefined {
  const path = algorithm.params.agent_import_path
  if (agent !== undefined || typeof path !== 'string') return agent
  const importPath = pythonClass(path)
  return importPath === undefined ? { kind: path, params: {} } : { kind: 'python', params: { import_path: importPath } }
}

/** The registry, in which the file that the run names is an agent of that name. */
export async function withAgentFile(registry: Registry, config: RunConfig, projectDir: string): Promise<Registry> {
  const reference = agentOf(config)?.kind
  if (reference === undefined || !isAbsolute(reference)) return registry
  const plugin = await loadExport(reference, { from: projectDir })
  if (plugin.type !== 'agent') {
    throw new EvsysError('PLUGIN_INVALID', `${reference} is a ${plugin.type}, and no agent`, {
      fix: "export what defineAgent of 'evsys/plugin' returns.",
    })
  }
  const found = { plugin, origin: { rank: 'project' as const, label: reference }, params: {} }
  const isIt = (type: string, kind: string) => type === 'agent' && kind === reference
  return {
    ...registry,
    // Where it is asked for, `type` is that of the plugin.
    find: (type, kind) => (isIt(type, kind) ? (found as never) : registry.find(type, kind)),
    get: (type, kind, where) => (isIt(type, kind) ? (found as never) : registry.get(type, kind, where)),
  }
}
