// `agent_import_path` names the harness of rollouts: a file with an export, an agent's kind, or a Python class.
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { pythonClass, type Row, type RowFormat } from '../contracts/index.ts'
import type { Catalog } from '../kernel/index.ts'
import type { FileContext } from './check-files.ts'
import { isKnown } from './check-plugins.ts'
import { itemsOf, type LocatedNode, nodeAt, textOf } from './located.ts'
import type { Report } from './report.ts'

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
    return report.problem(node.origin, { code: 'PLUGIN_LOAD', message, fix })
  }
  if (!isAbsolute(text)) return void isKnown({ type: 'agent', kind: text, at: node.origin }, catalog, report)
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
  const answers = nodeAt(agent, ['params', 'path'])
  const path = textOf(answers)
  if (answers !== undefined && path !== undefined && isAbsolute(path)) {
    await checkExportFile(answers, path, './answers.csv', context)
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
  const tried = await Promise.allSettled(folders.map((folder) => access(join(folder, 'python3'), constants.X_OK)))
  return tried.some(({ status }) => status === 'fulfilled')
}

// Whether the rows that come out of a data block are of the kind that the algorithm takes, as far as that is known before
// anything runs: by the keys of the first row, and by built-in transforms whose outcome is known.
/** What built-in transforms make of rows: a shape that they add, or `kept`. Others may do anything. */
const outcomes: Readonly<Record<string, RowFormat | 'kept'>> = {
  identity: 'kept',
  dedupe: 'kept',
  filter: 'kept',
  sample: 'kept',
  shuffle: 'kept',
  mix: 'kept',
  split: 'kept',
  drop_reasoning: 'kept',
  keep_reasoning: 'kept',
  system_prompt: 'kept',
  jsonl_to_chat: 'chat_messages',
  to_harbor_task: 'harbor_task',
  to_prompt_example: 'prompt_dataset',
}

export function checkRowFormat(
  { algorithm, data, row }: { algorithm: LocatedNode; data: LocatedNode; row: Row | undefined },
  catalog: Catalog,
  report: Report,
): undefined {
  const kind = textOf(nodeAt(algorithm, ['kind'])) ?? ''
  const wanted = catalog.card('algorithm', kind)?.facts.rowFormat
  if (wanted === undefined || row === undefined) return // an unread source may bring the wanted shape itself
  const formats = new Set<string>(
    shapes.filter(([, keys]) => keys.every((key) => key in row)).map(([format]) => format),
  )
  for (const item of itemsOf(nodeAt(data, ['transforms']))) {
    const name = textOf(nodeAt(item, ['kind'])) ?? ''
    const outcome = catalog.card('transform', name)?.origin === 'built-in' ? outcomes[name] : undefined
    if (outcome === undefined) return
    if (outcome !== 'kept') formats.add(outcome)
  }
  if (formats.has(wanted)) return
  if (formats.size === 0) {
    const text = `The rows have no known shape, and ${kind} takes ${wanted} rows: a transform can make them.`
    return report.notice(text, data.origin)
  }
  const message = `${kind} takes ${wanted} rows, and these are ${[...formats].join(', ')}`
  report.problem(data.origin, { code: 'DATA_INVALID', message, fix: fixFor(wanted) })
}

/** The keys that rows of a format have. */
const shapes: readonly (readonly [RowFormat, readonly string[]])[] = [
  ['harbor_task', ['task_id', 'verifier']],
  ['prompt_dataset', ['inputs', 'expected']],
  ['chat_messages', ['messages']],
  ['preference_pair', ['chosen', 'rejected']],
]

function fixFor(wanted: string): string {
  const [transform] = Object.entries(outcomes).find(([, outcome]) => outcome === wanted) ?? []
  return transform === undefined
    ? 'add a transform that makes such rows.'
    : `add the transform ${transform}, or another that makes such rows.`
}
