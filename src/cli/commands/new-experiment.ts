// `evsys new-experiment SLUG`: a folder with an experiment to edit.
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { EvsysError, fileError, shellWord, systemCode } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { shortPath } from '../output/short-path.ts'
import { requireProject } from '../project.ts'
import { experimentFiles } from '../scaffold/experiment-files.ts'
import { stands, writeScaffold } from '../scaffold/write-scaffold.ts'

export type NewExperimentOptions = { readonly date?: string }

export async function newExperiment(
  context: CommandContext,
  slug: string,
  { date = today() }: NewExperimentOptions,
): Promise<ExitCode> {
  checkSlug(slug)
  const project = await requireProject(context)
  const folder = join('experiments', `${date}-${slug}`)
  const files = experimentFiles(slug).map((file) => ({ ...file, path: join(folder, file.path) }))
  await claimFolder(join(project, folder))
  const { created } = await writeScaffold(project, files)
  const config = join(project, folder, 'config.yaml')
  context.output.result({ project, created }, () => resultText(config, context))
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

// Whoever makes the folder owns it: of two at the same time one is told that it exists.
async function claimFolder(folder: string): Promise<void> {
  try {
    await mkdir(dirname(folder), { recursive: true })
    await mkdir(folder)
  } catch (cause) {
    if (systemCode(cause) !== 'EEXIST' || !(await stands(folder))) throw fileError('make', folder, cause)
    throw new EvsysError('PROJECT_EXISTS', `${folder} exists already`, {
      fix: 'choose another slug, or another --date.',
    })
  }
}

// The day on the user's own calendar.
function today(): string {
  const now = new Date()
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0')).join('')
}

function resultText(config: string, { cwd, output }: CommandContext): string {
  const { colors, quiet } = output
  const place = shortPath(config, cwd)
  const made = `${colors.green('made')} ${place}`
  if (quiet) return made
  return `${made}\n\n${colors.bold('Next:')} write the hypothesis and the recipe into it, then\n  evsys validate ${shellWord(place)} --deep\n  evsys run ${shellWord(place)}`
}
