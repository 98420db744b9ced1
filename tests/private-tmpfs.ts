// A small disk of memory that only one child process sees: for tests of full and read-only disks.
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { needs } from './needs.ts'

/** The command that runs another (appended to it) with a disk of `size` mounted on `dir`. Nothing has to be unmounted. */
export function onPrivateTmpfs(dir: string, size: string): string[] {
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  return ['unshare', ...asRoot, '--mount', 'sh', '-c', `mount -t tmpfs -o size=${size} tmpfs "$0" && exec "$@"`, dir]
}

export const privateTmpfs = needs('a private tmpfs (unshare, mount)', () => {
  const [command = '', ...args] = [...onPrivateTmpfs(tmpdir(), '64k'), 'true']
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 ? true : (error?.message ?? stderr.trim())
})
