// The sandbox of this machine, and an account without rights to run it from.
import { execFileSync } from 'node:child_process'
import { chownSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { probeSandboxes } from '../../src/sandbox/index.ts'
import { needs } from '../needs.ts'

const levels = await probeSandboxes()

export const sandbox = needs('a sandbox', () => {
  execFileSync('bash', ['-c', 'true'])
  return levels.some(({ level, reason }) => reason === undefined && (level === 'bubblewrap' || level === 'chroot'))
    ? true
    : 'no level of the sandbox works here'
})

const id = 65534
const component = needs('root and setpriv', () => {
  if (process.getuid?.() !== 0) return 'the tests run without root, which is the same test'
  execFileSync('setpriv', ['--reuid', String(id), '--regid', String(id), '--clear-groups', 'true'])
  return true
})

export const ordinaryUser = {
  ...component,
  wrap: ['setpriv', '--reuid', String(id), '--regid', String(id), '--clear-groups', '--inh-caps=-all'],
  /** Makes a folder, and what is in it, the account's own. */
  give(dir: string): void {
    chownSync(dir, id, id)
    for (const path of readdirSync(dir, { recursive: true, encoding: 'utf8' })) chownSync(join(dir, path), id, id)
  },
}
