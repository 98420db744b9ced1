// `agent_import_path` names the harness of rollouts: a file with an export, or an agent's kind. The first generation took a
// Python class there, which cannot run here.
import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { Catalog } from '../kernel/index.ts'
import type { FileContext } from './check-files.ts'
import { isKnown } from './check-plugins.ts'
import { type LocatedMap, type LocatedNode, nodeAt, textOf } from './located.ts'
import { itemsOf } from './plugin-uses.ts'
import type { Report } from './report.ts'

const example = './src/plugins/agent.ts#ToolUse'

/** Refuses a Python class, which can be told without knowing any plugin: `package.module.Class` or `module:Class`. */
export function refusePythonAgent(run: LocatedMap, report: Report): void {
  const node = nodeAt(run, ['algorithm', 'params', 'agent_import_path'])
  const text = textOf(node)
  if (node === undefined || text === undefined || !/^[A-Za-z_]\w*(?:\.\w+)*[.:]_*[A-Z]\w*$/.test(text)) return
  const message = `${text} is a Python class, and agents are TypeScript here`
  report.problem(node.origin, { code: 'PLUGIN_UNKNOWN', message, fix: `write ${example}, or the kind of an agent.` })
}

/** Checks that the file is there, or the kind is known. */
export async function checkAgentPath(
  node: LocatedNode | undefined,
  catalog: Catalog,
  { report, shown }: FileContext,
): Promise<void> {
  const text = textOf(node)
  if (node === undefined || text === undefined) return
  if (!isAbsolute(text)) {
    isKnown({ type: 'agent', kind: text, at: node.origin }, catalog, report)
    return
  }
  const [, name] = text.split('#')
  if (name === undefined || name === '') {
    const message = 'the path does not say which export of the file is the agent'
    report.problem(node.origin, { code: 'CONFIG_PATH', message, fix: `add the name of the export: ${example}.` })
  }
  await checkExportFile(node, text, example, { report, shown })
}

/** Checks that the files which an agent brings are there: its tools, a simulated user. */
export async function checkAgentFiles(agent: LocatedNode | undefined, context: FileContext): Promise<void> {
  const files = [nodeAt(agent, ['params', 'user']), ...itemsOf(nodeAt(agent, ['params', 'tools']))]
  for (const node of files) {
    const text = textOf(node)
    if (node === undefined || text === undefined || !isAbsolute(text)) continue
    await checkExportFile(node, text, './tools.ts#search', context)
  }
}

async function checkExportFile(
  node: LocatedNode,
  reference: string,
  such: string,
  { report, shown }: Pick<FileContext, 'report' | 'shown'>,
): Promise<void> {
  const [path = ''] = reference.split('#')
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() === true) return
  const message = `there is no file ${shown(path)}`
  report.problem(node.origin, { code: 'CONFIG_PATH', message, fix: `correct the path, such as ${such}.` })
}
