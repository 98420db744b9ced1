// Variables for a container. They go through a file: neither the list of processes nor the docker program itself, which takes
// orders from its own variables, gets to see what a task sets.
import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Arguments that set `env`; the file that they name is removed in the end. */
export async function envArguments(
  env: Readonly<Record<string, string>>,
  stateDir: string,
): Promise<{ args: string[] } & AsyncDisposable> {
  const entries = Object.entries(env)
  // The file has one line for each, and no way to write another.
  const inFile = entries.filter(([key, value]) => /^[A-Za-z_][\w.-]*$/.test(key) && !/[\r\n]/.test(value))
  const others = entries.filter((entry) => !inFile.includes(entry))
  const args = others.flatMap(([key, value]) => ['--env', `${key}=${value}`])
  if (inFile.length === 0) return { args, [Symbol.asyncDispose]: async () => undefined }
  await mkdir(stateDir, { recursive: true })
  const file = join(stateDir, `env-${randomBytes(8).toString('hex')}`)
  await writeFile(file, inFile.map(([key, value]) => `${key}=${value}\n`).join(''), { mode: 0o600 })
  return { args: ['--env-file', file, ...args], [Symbol.asyncDispose]: () => rm(file, { force: true }) }
}
