// What a run keeps of a trial of a benchmark: its result, and what the agent said, did and left in its logs. What the tests printed is
// left out: recipe code can read the files of its run, and that would tell it the tests.
import { copyFile, lstat, mkdir, readdir, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { EvsysError } from '../../kernel/index.ts'

/** Files of the agent that are longer are left out, and so are all once this much is kept of a trial. */
const FILE_BYTES = 8 * 1024 * 1024
const TRIAL_BYTES = 32 * 1024 * 1024

/** `root`: a folder that exists; `place`: of the trial, below it. An attempt before the last goes to attempts/<failed>. */
export async function keepTrial(record: string, root: string, place: string, failed?: number): Promise<void> {
  const target = join(root, place, ...(failed === undefined ? [] : ['attempts', String(failed)]))
  await mkdir(target, { recursive: true })
  // Recipe code owns the folder of its run: a link that it left there leads nowhere.
  const real = relative(await realpath(root), await realpath(target))
  if (real !== relative(root, target)) {
    throw new EvsysError('FILE_FAILED', `${target} is a link that leads elsewhere: nothing is written there`)
  }
  let bytes = 0
  const visit = async (path: string): Promise<void> => {
    for (const entry of await readdir(join(record, path), { withFileTypes: true })) {
      const name = join(path, entry.name)
      if (entry.isDirectory() && isKept(`${name}${sep}`)) await visit(name)
      if (!entry.isFile() || !isKept(name)) continue
      const { size } = await lstat(join(record, name))
      if (size > FILE_BYTES || bytes + size > TRIAL_BYTES) continue
      bytes += size
      await mkdir(join(target, path), { recursive: true })
      await copyFile(join(record, name), join(target, name))
    }
  }
  await visit('')
}

function isKept(name: string): boolean {
  const [first, , third] = name.split(sep)
  if (first === 'result.json' || first === 'agent') return true
  return first === 'steps' && (third === undefined || third === '' || third === 'agent')
}
