// What must not stand in any file of a trial: values of variables whose name says that they are secret, and those their templates name.
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createRedactor, type Redact, writeFileAtomic } from '../../kernel/index.ts'

const secretName = /KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL|AUTH/i
const template = /^\$\{([A-Za-z_]\w*)(?::-([\s\S]*))?\}$/
/** Below this a value cannot be told from ordinary text. */
const SHORTEST = 4
/** A larger file is not searched, so it is not kept where there is something to hide. */
const LARGEST_BYTES = 64 * 1024 * 1024

type Table = Readonly<Record<string, string>>

/** Secrets by name out of tables of variables. */
export function trialSecrets(
  tables: readonly Table[],
  hostEnv: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const found: Record<string, string> = {}
  for (const table of tables) {
    for (const [name, written] of Object.entries(table)) {
      const [, variable, fallback] = template.exec(written) ?? []
      if (!secretName.test(name) && !secretName.test(variable ?? '')) continue
      const value = variable === undefined ? written : (hostEnv[variable] ?? fallback ?? '')
      if (value.trim().length >= SHORTEST) found[name] = value
    }
  }
  return found
}

/** A redactor for these secrets. */
export function secretRedactor(secrets: Readonly<Record<string, string>>): Redact {
  return createRedactor(secrets)
}

/** Takes secrets out of every text file below a folder. Names of files that had to go are returned. */
export async function redactFolder(
  dir: string,
  redact: Redact,
  { isHiding }: { isHiding: boolean },
): Promise<string[]> {
  const removed: string[] = []
  const entries = await readdir(dir, { withFileTypes: true, recursive: false })
  for (const entry of entries) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) removed.push(...(await redactFolder(path, redact, { isHiding })))
    else if (entry.isFile() && !(await redactFile(path, redact, isHiding))) removed.push(path)
  }
  return removed
}

async function redactFile(path: string, redact: Redact, isHiding: boolean): Promise<boolean> {
  const { size } = await stat(path)
  if (size > LARGEST_BYTES) {
    if (!isHiding) return true
    await rm(path)
    return false
  }
  const bytes = await readFile(path)
  const clean = redact(new Uint8Array(bytes))
  if (Buffer.compare(bytes, clean) !== 0) await writeFileAtomic(path, clean, { sync: false })
  return true
}
