// What tests of the executor share: one executor for many candidates of the line task, and what counts as an honest score.
import { execFileSync } from 'node:child_process'
import { needs } from '../needs.ts'

export const linux = needs('a Linux sandbox (bwrap or unshare) and python3', () => {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'true'], { env })
  execFileSync('python3', ['-c', 'pass'], { env })
  return true
})

/** Nobody without the labels comes below this: half the variance of their noise. */
export const floor = 0.5 * (0.1 * 2) ** 2 * (3 / 12)
