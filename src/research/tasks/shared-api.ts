// The parts of the API that come with evsys: `evsys-task` lies beside every candidate, the others where a task asks for them as
// `evsys:NAME`.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { CandidateFiles, TaskRuntime } from '../../contracts/index.ts'
import { bundledTasks } from './find-tasks.ts'
import { readTaskText } from './read-candidate.ts'

/** Begins the name of a module that comes with evsys. */
export const sharedPrefix = 'evsys:'

const folder = join(bundledTasks, 'shared')
const forms: Readonly<Record<TaskRuntime, readonly RegExp[]>> = {
  node: [/^evsys-(.+)\.mjs$/],
  python: [/^evsys_(.+)\.py$/],
  command: [/^evsys-(.+)\.mjs$/, /^evsys_(.+)\.py$/],
  table: [],
}

/** Names that `api` may hold for a runtime. */
export function sharedApis(runtime: TaskRuntime): string[] {
  const names = filesFor(runtime).map(([name]) => `${sharedPrefix}${name}`)
  return [...new Set(names)].filter((name) => name !== `${sharedPrefix}task`).sort()
}

/** Files of `evsys-task` and of what is asked for, by the name they have beside a candidate. */
export async function sharedFiles(runtime: TaskRuntime, api: readonly string[]): Promise<CandidateFiles> {
  const wanted = filesFor(runtime).filter(([name]) => name === 'task' || api.includes(`${sharedPrefix}${name}`))
  return Object.fromEntries(await Promise.all(wanted.map(async ([, file]) => [file, await readTaskText(folder, file)])))
}

function filesFor(runtime: TaskRuntime): [name: string, file: string][] {
  return readdirSync(folder).flatMap((file) => {
    const name = forms[runtime].map((form) => form.exec(file)?.[1]).find((found) => found !== undefined)
    return name === undefined ? [] : [[name, file] as [string, string]]
  })
}
