import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { sweepTemporaryFolders, temporaryFolder } from './temporary-folder.ts'

const folder = temporaryFolders()

/** A temporary directory of this test alone. */
function ownTmp(): string {
  const tmp = folder()
  vi.stubEnv('TMPDIR', tmp)
  onTestFinished(() => void vi.unstubAllEnvs())
  return tmp
}

/** Makes a folder in another process, which then ends as told, and returns the name. */
function madeElsewhere(tmp: string, end: string): string {
  const module = JSON.stringify(new URL('./temporary-folder.ts', import.meta.url).href)
  const script = join(tmp, 'make.mts')
  writeFileSync(
    script,
    `import { temporaryFolder } from ${module}
import { writeSync } from 'node:fs'
writeSync(1, temporaryFolder('bytes'))
${end}
`,
  )
  const jiti = join(process.cwd(), 'node_modules/jiti/lib/jiti-register.mjs')
  const args = ['--import', pathToFileURL(jiti).href, script]
  return basename(spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, TMPDIR: tmp } }).stdout)
}

describe('a temporary folder', () => {
  it('is gone with its process, and one of a killed process with the next sweep (USE-85)', () => {
    const tmp = ownTmp()
    const left = madeElsewhere(tmp, "process.kill(process.pid, 'SIGKILL')")
    expect(left).toMatch(/^evsys-bytes-\d+-/)
    expect(existsSync(join(tmp, left))).toBe(true)
    const alive = temporaryFolder('bytes')
    mkdirSync(join(tmp, 'evsys-bytes-of-someone-else'))
    sweepTemporaryFolders()
    expect(existsSync(join(tmp, left))).toBe(false)
    expect(existsSync(alive)).toBe(true)
    expect(existsSync(join(tmp, 'evsys-bytes-of-someone-else'))).toBe(true)
    const orderly = madeElsewhere(tmp, 'process.exit(0)')
    expect(orderly).toMatch(/^evsys-bytes-/)
    expect(existsSync(join(tmp, orderly))).toBe(false)
  }, 60_000)
})
