// `evsys init [DIR]`: a project that validates at once. Nothing that exists is changed.
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { experimentJsonSchema } from '../../config/index.ts'
import { EvsysError, fileError, shellWord, systemCode } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { shortPath } from '../output/short-path.ts'
import { projectFiles, quickstartPath, type ScaffoldFile } from '../scaffold/project-files.ts'
import { existingPaths, type Written, writeScaffold } from '../scaffold/write-scaffold.ts'

export type InitOptions = { readonly force?: true }

export async function init(context: CommandContext, dir: string, { force }: InitOptions): Promise<ExitCode> {
  const root = resolve(context.project ?? context.cwd, dir)
  await refuseFile(root)
  const files = projectFiles(experimentJsonSchema())
  const existing = await existingPaths(root, files)
  if (force !== true) refuseExisting(root, files, existing)
  const written = await writeScaffold(
    root,
    files.filter(({ path }) => !existing.includes(path)),
  )
  const kept = [...existing, ...written.kept]
  context.output.result({ project: root, created: written.created, kept }, () =>
    resultText(root, { created: written.created, kept }, context),
  )
  return exitCodes.done
}

async function refuseFile(root: string): Promise<void> {
  try {
    if ((await stat(root)).isDirectory()) return
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return
    throw fileError('use', root, cause)
  }
  throw new EvsysError('CLI_USAGE', `${root} is a file, and a project is a folder`, { fix: 'name another folder.' })
}

function refuseExisting(root: string, files: readonly ScaffoldFile[], existing: readonly string[]): void {
  const optional = files.filter((file) => file.optional).map(({ path }) => path)
  const clashes = existing.filter((path) => !optional.includes(path))
  if (clashes.length === 0) return
  throw new EvsysError('PROJECT_EXISTS', `${root} has files of a project already: ${clashes.join(', ')}`, {
    fix: '`evsys init --force` adds what is missing and leaves these as they are; or name another folder.',
  })
}

function resultText(root: string, { created, kept }: Written, { cwd, output }: CommandContext): string {
  const { colors, quiet } = output
  const place = shortPath(root, cwd)
  if (created.length === 0) return `nothing is missing in ${place}`
  const made = `${colors.green('made')} a project in ${place}: ${created.length} files`
  if (quiet) return made
  const enter = root === cwd ? [] : [`  cd ${shellWord(place)}`]
  return [
    kept.length === 0 ? made : `${made}; ${kept.length} were there and are as before`,
    '',
    ...created.map((path) => `  ${path}`),
    '',
    colors.bold('Next:'),
    ...enter,
    `  evsys validate ${quickstartPath} --deep`,
    `  evsys run ${quickstartPath}`,
  ].join('\n')
}
