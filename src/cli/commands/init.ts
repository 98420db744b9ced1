// `evsys init [DIR]`: a project that validates at once. Nothing that exists is changed.
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { experimentJsonSchema } from '../../config/index.ts'
import { EvsysError, fileError, shellWord, systemCode } from '../../kernel/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { requireProject } from '../context/project.ts'
import { shortPath } from '../output/text.ts'
import {
  claimFolder,
  existingPaths,
  experimentFiles,
  projectFiles,
  quickstartPath,
  type ScaffoldFile,
  writeScaffold,
} from '../scaffold/write-scaffold.ts'

export type InitOptions = { readonly force?: true | undefined }

export async function init(context: CommandContext, dir: string, { force }: InitOptions): Promise<ExitCode> {
  const root = resolve(context.project ?? context.cwd, dir)
  await refuseFile(root)
  const files = await projectFiles(experimentJsonSchema())
  const existing = await existingPaths(root, files)
  if (force !== true) refuseExisting(root, files, existing)
  const missing = files.filter(({ path }) => !existing.includes(path))
  const { created, kept: found } = await writeScaffold(root, missing)
  const kept = [...existing, ...found]
  context.output.result({ project: root, created, kept }, () => resultText(root, { created, kept }, context))
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

function resultText(
  root: string,
  { created, kept }: { created: readonly string[]; kept: readonly string[] },
  { cwd, output }: CommandContext,
): string {
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

// `evsys new-experiment SLUG`: a folder with an experiment to edit.
export type NewExperimentOptions = { readonly date?: string | undefined }

export async function newExperiment(
  context: CommandContext,
  slug: string,
  { date = today() }: NewExperimentOptions,
): Promise<ExitCode> {
  checkSlug(slug)
  const project = await requireProject(context)
  const folder = join('experiments', `${date}-${slug}`)
  const files = (await experimentFiles(slug)).map((file) => ({ ...file, path: join(folder, file.path) }))
  await claimFolder(join(project, folder), 'choose another slug, or another --date.')
  const { created } = await writeScaffold(project, files)
  const config = join(project, folder, 'config.yaml')
  context.output.result({ project, created }, () => newExperimentText(config, context))
  return exitCodes.done
}

/** Longer names make paths that some systems refuse. */
const longest = 80

function checkSlug(slug: string): void {
  if (/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/.test(slug) && slug.length <= longest) return
  const near = slug
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .slice(0, longest)
    .replace(/^[-_]+|[-_]+$/g, '')
    .replace(/[-_]{2,}/g, '-')
  throw new EvsysError('CLI_USAGE', `"${slug}" cannot name an experiment`, {
    fix: `use lower case letters, digits, - and _, at most ${longest} of them${near === '' ? '' : `: ${near}`}.`,
  })
}

// The day on the user's own calendar.
function today(): string {
  const now = new Date()
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0')).join('')
}

function newExperimentText(config: string, { cwd, output }: CommandContext): string {
  const { colors, quiet } = output
  const place = shortPath(config, cwd)
  const made = `${colors.green('made')} ${place}`
  if (quiet) return made
  return `${made}\n\n${colors.bold('Next:')} write the hypothesis and the recipe into it, then\n  evsys validate ${shellWord(place)} --deep\n  evsys run ${shellWord(place)}`
}
