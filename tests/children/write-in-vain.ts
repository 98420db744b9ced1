// Tries to replace `DIR/file` where it cannot succeed: `write-in-vain DIR CASE`. Prints the error and what is left, as JSON.
import { execFileSync } from 'node:child_process'
import { chmod, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '../../src/kernel/atomic-file.ts'
import { EvsysError } from '../../src/kernel/evsys-error.ts'
import { systemCode } from '../../src/kernel/file-error.ts'

const [dir = '', disaster = ''] = process.argv.slice(2)
const path = join(dir, 'file')
await writeFileAtomic(path, 'old')

if (disaster === 'read-only disk') execFileSync('mount', ['-o', 'remount,ro', dir])
if (disaster === 'forbidden folder') {
  await chmod(dir, 0o555)
  if (process.geteuid?.() === 0) process.seteuid?.(65534) // nobody: root may write everywhere
}

const data = 'new'.repeat(disaster === 'full disk' ? 1_000_000 : 1)
const error = await writeFileAtomic(path, data).catch((thrown: unknown) => thrown)
process.stdout.write(
  `${JSON.stringify({
    record: EvsysError.is(error) ? error.toRecord() : String(error),
    system: systemCode(error),
    content: await readFile(path, 'utf8'),
    names: await readdir(dir),
  })}\n`,
)
