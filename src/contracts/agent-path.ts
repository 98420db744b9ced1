// `agent_import_path` names the harness of rollouts: a kind, a file with an export (`./agent.ts#Name`), or a Python class.

const dotted = /^([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)[.:](_*[A-Z]\w*)$/

/** A Python class as `package.module:Class`; undefined where the text names something else. */
export function pythonClass(text: string): string | undefined {
  const [, module, name] = dotted.exec(text) ?? []
  return module === undefined || name === undefined ? undefined : `${module}:${name}`
}
