// The project of the current folder: whether there is one, whether evsys can write to it, how much room its disk has.
import { access, constants, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, systemCode } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import { projectOf } from '../project.ts'
import type { Check } from './check.ts'
import { gigabytes } from './gigabytes.ts'

/** Checkpoints of a small model fill less than this; a disk with less is about to be full. */
const littleBytes = 1e9

export async function projectChecks(context: CommandContext): Promise<Check[]> {
  const project = await projectOf(context)
  const folder = project ?? context.cwd
  return [
    project === undefined ? noProject(context.cwd) : { name: 'project', status: 'ok', required: false, found: project },
    ...(project === undefined ? [] : [await writableCheck(project)]),
    await diskCheck(folder),
  ]
}

function noProject(cwd: string): Check {
  return {
    name: 'project',
    status: 'missing',
    required: false,
    found: `${cwd} is not in one`,
    gives: 'your own plugins, and a place for runs and results',
    get: '`evsys init my-lab`',
  }
}

async function writableCheck(project: string): Promise<Check> {
  const state = join(project, '.evsys')
  const base = { name: 'project files', required: true } as const
  const get = `give this user the right to write to ${state}`
  try {
    await access(state, constants.W_OK | constants.X_OK)
    return { ...base, status: 'ok', found: 'writable' }
  } catch (cause) {
    if (systemCode(cause) !== 'ENOENT') return { ...base, status: 'broken', found: `cannot write to ${state}`, get }
  }
  try {
    await access(project, constants.W_OK | constants.X_OK) // a fresh clone: .evsys is ignored by git and made at need
    return { ...base, status: 'ok', found: 'writable' }
  } catch {
    return { ...base, status: 'broken', found: `cannot write to ${project}`, get }
  }
}

async function diskCheck(folder: string): Promise<Check> {
  const base = { name: 'disk', required: true } as const
  try {
    const { bavail, bsize, blocks } = await statfs(folder)
    const free = bavail * bsize
    const found = `${gigabytes(free)} free of ${gigabytes(blocks * bsize)}`
    return free >= littleBytes
      ? { ...base, status: 'ok', found }
      : { ...base, status: 'broken', found, get: 'free some space: runs and checkpoints are written here' }
  } catch (cause) {
    return { ...base, status: 'broken', found: `cannot be asked: ${messageOf(cause)}` }
  }
}
