// `evsys dataset add NAME PATH` and `evsys dataset list [NAME]`: datasets that the project keeps, by name and version.
import { relative, resolve } from 'node:path'
import { openNamedDatasets, type StoredDataset } from '../../data/index.ts'
import { EvsysError, suggest } from '../../kernel/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { requireProject } from '../context/project.ts'
import { table } from '../output/table.ts'
import { bytesText, countText } from '../output/text.ts'

const datasetActions = ['add', 'list'] as const

export async function dataset(
  context: CommandContext,
  action: string,
  name: string | undefined,
  path: string | undefined,
): Promise<ExitCode> {
  if (action === 'list') return await listDatasets(context, name)
  if (action !== 'add') {
    throw new EvsysError('CLI_USAGE', `there is no "dataset ${action}"`, { fix: suggest(action, datasetActions) })
  }
  if (name === undefined || path === undefined) {
    throw new EvsysError('CLI_USAGE', 'dataset add needs a name and a path', {
      fix: 'write `evsys dataset add NAME PATH`.',
    })
  }
  return await addDataset(context, name, path)
}

async function addDataset(context: CommandContext, name: string, path: string): Promise<ExitCode> {
  const { output, cwd, signal } = context
  const project = await requireProject(context)
  const file = resolve(cwd, path)
  const shown = relative(cwd, file) || path
  const { dataset: added, isNew } = await openNamedDatasets(project).add(name, file, { from: shown, signal })
  output.result({ ...added, added: isNew }, () => {
    const { version, rows, id, files } = added
    const holds = `${countText(rows, 'row')} in ${countText(files.length, 'file')}`
    const use = `use it with   data: { dataset_name: ${name}@${version} }`
    return isNew
      ? `added ${output.colors.bold(`${name}@${version}`)} (${id}): ${holds}\n${use}`
      : `this content is stored already, as ${output.colors.bold(`${name}@${version}`)} (${id}): ${holds}\n${use}`
  })
  return exitCodes.done
}

async function listDatasets(context: CommandContext, name: string | undefined): Promise<ExitCode> {
  const { output } = context
  const project = await requireProject(context)
  const datasets = await openNamedDatasets(project).list(name)
  output.result({ datasets }, () => {
    if (datasets.length === 0) return 'no dataset is stored; `evsys dataset add NAME PATH` stores one'
    const head = ['DATASET', 'ROWS', 'SIZE', 'SPLITS', 'ADDED', 'ID']
    return table(datasets.map(rowOf), { head, width: output.width, paintHead: output.colors.bold })
  })
  return exitCodes.done
}

function rowOf({ name, version, rows, bytes, files, added_at, id }: StoredDataset): string[] {
  const splits = [...new Set(files.map(({ split }) => split))].join(', ')
  return [`${name}@${version}`, String(rows), bytesText(bytes), splits, added_at.slice(0, 10), id]
}
