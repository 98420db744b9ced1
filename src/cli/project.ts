// The project that a command works in: the one of --project, else the nearest above a folder.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findProject } from '../config/index.ts'
import { EvsysError, fileError, systemCode } from '../kernel/index.ts'
import type { CommandContext } from './command-context.ts'

/** Folder of the project, or undefined outside of one. */
export async function projectOf({ project, cwd }: CommandContext): Promise<string | undefined> {
  if (project === undefined) {
    const nearest = await findProject(cwd)
    const signs = await Promise.all(
      ['.evsys', 'experiments', 'src/plugins'].map((name) => isFolder(join(nearest, name))),
    )
    return signs.includes(true) ? nearest : undefined
  }
  if (await isFolder(project)) return project
  throw new EvsysError('PROJECT_MISSING', `--project: there is no folder ${project}`, {
    fix: 'check the spelling, or make a project there with `evsys init`.',
  })
}

/** Folder of the project, or an error that says how to make one. */
export async function requireProject(context: CommandContext): Promise<string> {
  const project = await projectOf(context)
  if (project !== undefined) return project
  throw new EvsysError('PROJECT_MISSING', `${context.cwd} is not in a project`, {
    fix: 'make one with `evsys init`, go to one, or name one with --project.',
  })
}

/** Folder of the project; outside of one it is made where we are, and said: bundled tasks need nothing of a project but its record. */
export async function projectOrHere(context: CommandContext): Promise<string> {
  const project = await projectOf(context)
  if (project !== undefined) return project
  context.output.notice(`the record of this session is kept in ${join(context.cwd, '.evsys')}`)
  return context.cwd
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw fileError('open', path, cause)
  }
}
