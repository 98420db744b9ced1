// `agent_import_path` names the harness of rollouts: a file with an export, an agent's kind, or a Python class.
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { pythonClass } from '../contracts/index.ts'
import type { Catalog } from '../kernel/index.ts'
import type { FileContext } from './check-files.ts'
import { isKnown } from './check-plugins.ts'
import { type LocatedNode, nodeAt, textOf } from './located.ts'
import { itemsOf } from './plugin-uses.ts'

const example = './src/plugins/agent.ts#ToolUse'

/** Checks that the file is there, the kind is known, or Python is at hand. Whether a class can be imported shows when it is run. */
export async function checkAgentPath(
  node: LocatedNode | undefined,
  catalog: Catalog,
  { report, shown }: FileContext,
): Promise<void> {
  const text = textOf(node)
  if (node === undefined || text === undefined) return
  const named = pythonClass(text)
  if (named !== undefined) {
    if (await hasPython()) return
    const message = `${named} is a Python class, and there is no python3 on the PATH`
    const fix = `install Python 3.10 or newer, or write ${example} or the kind of an agent.`
    report.problem(node.origin, { code: 'PLUGIN_LOAD', message, fix })
    return
  }
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

async function hasPython(): Promise<boolean> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const found = await Promise.all(
    folders.map((folder) =>
      access(join(folder, 'python3'), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}
